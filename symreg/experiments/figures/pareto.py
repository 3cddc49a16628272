"""Loss against complexity for every formula kept by the searches."""

from matplotlib.figure import Figure

from symreg.experiments.figures.base import FigureData, RunFigure, panels
from symreg.recovery.plot import plot_pareto_front


def draw(shown: FigureData) -> Figure | None:
    """Of kicked states, or the first that there are."""
    if not shown.sources:
        return None
    name = "kicked" if "kicked" in shown.sources else next(iter(shown.sources))
    figure, axes = panels(1, 8.0, 4.6)
    plot_pareto_front(axes[0], {name: shown.sources[name]})
    return figure


FIGURE = RunFigure(
    "pareto",
    (
        "Every formula that the search kept: how long, and how far off. Ringed: the one chosen, "
        "beyond which length buys little."
    ),
    draw,
)
