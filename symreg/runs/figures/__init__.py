"""Figures of a run behind one contract (`base`), one file each.

Every `plot_...` function draws on the Axes that it is given and returns it.
"""

from orbits.command.registry import Registry
from symreg.recovery.plot import plot_pareto_front
from symreg.runs.figures.arrows import plot_arrows
from symreg.runs.figures.base import RunFigure, Shown, curve, reference_curve
from symreg.runs.figures.kicks import kick_r2, plot_kicks
from symreg.runs.figures.law import plot_field
from symreg.runs.figures.residuals import plot_residuals
from symreg.runs.figures.training import plot_training

__all__ = [
    "FIGURES",
    "RunFigure",
    "Shown",
    "curve",
    "kick_r2",
    "plot_arrows",
    "plot_field",
    "plot_kicks",
    "plot_pareto_front",
    "plot_residuals",
    "plot_training",
    "reference_curve",
]

FIGURES: Registry[RunFigure] = Registry(
    "symreg.runs.figures",
    RunFigure,
    order=("law", "residuals", "kicks", "arrows", "pareto", "training"),
)
"""Figures of the report, in order."""
