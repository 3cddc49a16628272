"""Where the implied acceleration is right: its error by distance and speed."""

from matplotlib.figure import Figure

from symreg.experiments.figures.base import RunFigure, Shown, panels
from worldmodel.predictors import CONTROLS

WIDEST = 12.0
"""Inches: a wider picture is shrunk on the page."""


def draw(shown: Shown) -> Figure | None:
    """A panel for the model, and for lookups and other controls."""
    from worldmodel.plot import plot_validity

    if not shown.far:
        return None
    # a lookup is what a model has to be told from
    lookups = [name for name in shown.far if name and CONTROLS[name].remembers]
    names = [name for name in ("", *lookups) if name in shown.far]
    figure, axes = panels(len(names), 10.0 if len(names) < 3 else WIDEST, 4.0)
    for panel, name in zip(axes, names, strict=True):
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
