"""Where the implied acceleration is right: its error by distance and speed."""

from matplotlib.figure import Figure

from symreg.experiments.figures.base import RunFigure, Shown, panels
from worldmodel.controls import CONTROLS


def draw(shown: Shown) -> Figure | None:
    """A panel for the model, and for lookups and other controls."""
    from worldmodel.plot import plot_validity

    if not shown.far:
        return None
    figure, axes = panels(len(shown.far), 10.0, 4.0)  # the model, and the lookup it has to beat
    for panel, name in zip(axes, shown.far, strict=True):
        title = CONTROLS[name or "none"].label
        plot_validity(panel, shown.far[name], shown.trained, title=title)
    return figure


FIGURE = RunFigure(
    "validity",
    (
        "Where the implied acceleration is right: its median relative error on far states, by "
        "distance and by speed (in circular speeds). Light: within 10 %. Crosses: states that are "
        "off by more. Blue: the distances and speeds of orbits like the training orbits."
    ),
    draw,
    wide=True,
)
