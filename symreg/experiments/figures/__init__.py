"""Figures of a run behind one contract (`base`), one file each.

Every `plot_...` function draws on the given Axes and returns it.
"""

from orbits.registry import Registry
from symreg.experiments.figures.base import FigureData, RunFigure

__all__ = ["FIGURES", "FigureData", "RunFigure"]

FIGURES: Registry[RunFigure] = Registry(
    "symreg.experiments.figures",
    RunFigure,
    order=("reach", "law", "validity", "training", "kicks", "pareto"),
)
"""Figures of the report, in order."""
