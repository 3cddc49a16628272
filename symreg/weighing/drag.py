"""A drag beside the law, kept apart from a law of distance."""

from dataclasses import replace

import numpy as np

from orbits.estimates import Estimate
from symreg.weighing.errors import Errors, errors_of, of_subsets, rough_covariance
from symreg.weighing.fit import LawFit, fitted, solved
from symreg.weighing.weak import Equations

SURE = 5.0


def beside_drag(
    equations: Equations, fit: LawFit, errors: Errors, extra: np.ndarray, noise: float
) -> tuple[Estimate, tuple[LawFit, Errors, np.ndarray] | None]:
    """The coefficient of a drag and, if it explains what the law does not, the law beside it.

    `extra` are (row,) known accelerations; the law comes with its errors and with (row,) all
    accelerations then known. A noise of 0 is to be found.
    """
    columns = equations.drag()
    if columns is None:
        return Estimate(), None
    drag, is_any, pulled = _drag(columns, equations, fit)
    if not is_any:
        return drag, None
    accelerations = extra + pulled
    beside = fitted(equations, fit.shape, fit.parameters, accelerations)
    errors_beside = errors_of(equations, beside, noise)
    # largest share of the unexplained part that a drag may leave; five standard errors
    # are needed too
    explained = np.max(errors_beside.misfit) <= 0.3 * np.max(errors.misfit)
    return drag, (beside, errors_beside, accelerations) if explained else None


def _drag(
    columns: np.ndarray, equations: Equations, fit: LawFit
) -> tuple[Estimate, bool, np.ndarray]:
    """A drag beside the law: its coefficient, whether it is real, and its effect on every row."""
    own = fit.jacobian.shape[1]
    design = np.concatenate([fit.jacobian, columns], axis=1)
    step = solved(design, fit.residuals, fit.weights)
    residuals = fit.residuals - design @ step
    beside = replace(fit, jacobian=design, residuals=residuals)
    # a drag is the same at all times and widths; what a body that is not seen leaves is not
    apart = of_subsets(equations, replace(fit, jacobian=design), np.zeros(design.shape[1]))
    error = float(np.sqrt(rough_covariance(equations, beside)[own, own] + apart[own]))
    value = float(step[own])
    return Estimate.of(value, error), bool(abs(value) > SURE * error), columns @ step[own:]
