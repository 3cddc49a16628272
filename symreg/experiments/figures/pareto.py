"""Loss against complexity for every formula kept by the searches."""

from matplotlib.figure import Figure

from symreg.experiments.figures.base import RunFigure, Shown, panels
from symreg.recovery.plot import plot_pareto_front


def draw(shown: Shown) -> Figure | None:
    """One panel, a colour for each set of states."""
    if not shown.sources:
        return None
    figure, axes = panels(1, 6.0)
    plot_pareto_front(axes[0], shown.sources)
    return figure


FIGURE = RunFigure(
    "pareto", "Every formula that the search kept: how complex, and how far off.", draw
)
