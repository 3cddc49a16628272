"""Figures of a run behind one contract (`base`), one file each.

Every `plot_...` function draws on the given Axes and returns it.
"""

from orbits.registry import Registry
from symreg.experiments.figures.arrows import plot_arrows
from symreg.experiments.figures.base import RunFigure, Shown, curve, reference_curve
from symreg.experiments.figures.kicks import kick_r2, plot_kicks
from symreg.experiments.figures.law import plot_field
from symreg.experiments.figures.residuals import plot_residuals
from symreg.experiments.figures.training import plot_training
from symreg.recovery.plot import plot_pareto_front

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
    "symreg.experiments.figures",
    RunFigure,
    order=("validity", "law", "residuals", "kicks", "arrows", "pareto", "training"),
)
"""Figures of the report, in order."""
