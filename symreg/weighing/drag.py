"""A drag beside the law, kept apart from a law of distance."""

from dataclasses import replace

import numpy as np

from orbits.estimates import Estimate
from symreg.weighing.errors import Errors, errors_of, of_subsets, rough_covariance
from symreg.weighing.fit import ROUNDS, LawFit, fitted, solved
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
    step, error = _drag(columns, equations, fit)
    value = float(step[0])
    if abs(value) <= SURE * error:
        return Estimate.of(value, error), None
    # The step is linear in the law's parameters, which had bent to imitate the drag. So the law is
    # fitted beside it and the step taken again from there (Gauss-Newton), until it is a hundredth
    # of the drag's error.
    total = step
    for _ in range(ROUNDS):
        accelerations = extra + columns @ total
        beside = fitted(equations, fit.shape, fit.parameters, accelerations)
        step, error = _drag(columns, equations, beside)
        if abs(step[0]) <= 0.01 * error:
            break
        total = total + step
    errors_beside = errors_of(equations, beside, noise)
    # largest share of the unexplained part that a drag may leave; five standard errors
    # are needed too
    explained = np.max(errors_beside.misfit) <= 0.3 * np.max(errors.misfit)
    drag = Estimate.of(float(total[0]), error)
    return drag, (beside, errors_beside, accelerations) if explained else None


def _drag(columns: np.ndarray, equations: Equations, fit: LawFit) -> tuple[np.ndarray, float]:
    """(column,) coefficients of the drag's columns beside the law, and the drag's error."""
    own = fit.jacobian.shape[1]
    design = np.concatenate([fit.jacobian, columns], axis=1)
    step = solved(design, fit.residuals, fit.weights)
    beside = replace(fit, jacobian=design, residuals=fit.residuals - design @ step)
    # a drag is the same at all times and widths; what a body that is not seen leaves is not
    apart = of_subsets(equations, replace(fit, jacobian=design), np.zeros(design.shape[1]))
    error = float(np.sqrt(rough_covariance(equations, beside)[own, own] + apart[own]))
    return step[own:], error
