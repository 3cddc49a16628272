"""Masses and the parameters of a shape together: weighted Gauss-Newton on the weak equations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from orbits.powers import scaled_columns
from orbits.statistics import TINY
from symreg.weighing.shapes import ForceShape, Parameters, Power
from symreg.weighing.weak import Equations

ROUNDS = 12
"""Of new weights, each after a few Gauss-Newton steps."""
STEPS = 25
"""Of Gauss and Newton, at most."""
SETTLED = 1e-6
"""Relative change of the weighted residuals that ends the fit."""
NULL = 1e-9
"""Singular value, over the largest, of a combination of masses left undetermined."""


@dataclass(frozen=True)
class LawFit:
    """A shape with parameters, and (body,) masses in its scale, solar masses.

    Residuals are left minus right, (row,) au/yr^2; weights (row,) one over their rms for each width
    and body; the jacobian is (row, mass or parameter), of the right side.
    """

    shape: ForceShape
    parameters: Parameters
    masses: np.ndarray
    residuals: np.ndarray
    weights: np.ndarray
    jacobian: np.ndarray

    @property
    def loss(self) -> float:
        """Mean square of the weighted residuals."""
        return float(np.mean((self.weights * self.residuals) ** 2))

    def strength(self, r: np.ndarray) -> np.ndarray:
        """g(r), au/yr^2."""
        return self.shape.value(r, self.parameters)


def first_exponent(equations: Equations, extra: np.ndarray) -> float:
    """The best-fitting exponent on a grid: where every search starts."""
    weights = group_weights(equations, equations.left)
    least, best = np.inf, 2.0
    # exponents of powers, the best of which is the start
    for exponent in np.arange(-2.0, 4.01, 0.5):
        shape = Power(fixed=float(exponent))
        design = equations.by_body(partial(shape.value, parameters=()))
        masses = solved(design, equations.left - extra, weights)
        residuals = equations.left - extra - design @ masses
        loss = np.mean((weights * residuals) ** 2)
        # masses that are not positive make no world, however well they fit
        if np.sum(masses) > 0 and loss < least:
            least, best = float(loss), float(exponent)
    return best


def group_weights(equations: Equations, residuals: np.ndarray) -> np.ndarray:
    """(row,) one over the rms of the residuals of each width and body."""
    # residuals over accelerations that are rounding
    least = 1e-14**2 * np.max(equations.mean_square(equations.left))
    square = equations.mean_square(residuals)
    return (1 / np.sqrt(np.maximum(square, least)))[equations.group]


def solved(design: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weighted least squares; minimal in undetermined combinations.

    NaN if the design is undefined: a formula without a value at some distance.
    """
    weighted = design * weights[:, None]
    if not np.all(np.isfinite(weighted)):
        return np.full(design.shape[1], np.nan)
    scaled, scale = scaled_columns(weighted)
    solution = np.linalg.lstsq(scaled, target * weights, rcond=NULL)[0]
    return np.asarray(solution / scale)


def fitted(
    equations: Equations,
    shape: ForceShape,
    start: Parameters,
    extra: np.ndarray,
    weights: np.ndarray | None = None,
    steps: int = STEPS,
) -> LawFit:
    """The best parameters near a start, and masses, beside (row,) known accelerations `extra`.

    (row,) weights follow the residuals unless they are given; steps are Gauss-Newton's, at most.
    """
    fixed = weights is not None
    weights = group_weights(equations, equations.left) if weights is None else weights
    masses = solved(_of_masses(equations, shape, start), equations.left - extra, weights)
    fit = _at(equations, shape, start, masses, extra, weights)
    for _ in range(1 if fixed else ROUNDS):
        equations.watch.say(lambda: f"{shape.name}: masses and parameters")
        before = fit.weights
        fit = _descended(equations, fit, extra, steps)
        if fixed:
            break
        fit = replace(fit, weights=group_weights(equations, fit.residuals))
        # relative change below which the weights have settled
        if np.max(np.abs(np.log(fit.weights / before))) < 0.03:
            break
    return fit


def best_of(
    equations: Equations,
    shape: ForceShape,
    starts: Sequence[Parameters],
    extra: np.ndarray,
    weights: np.ndarray | None,
) -> LawFit:
    """The best fit of several starts, with the same weights."""
    fits = [fitted(equations, shape, start, extra, weights) for start in starts]
    return min(fits, key=lambda fit: fit.loss)


def _of_masses(equations: Equations, shape: ForceShape, parameters: Parameters) -> np.ndarray:
    return equations.by_body(lambda r: shape.value(r, parameters))


def _at(
    equations: Equations,
    shape: ForceShape,
    parameters: Parameters,
    masses: np.ndarray,
    extra: np.ndarray,
    weights: np.ndarray,
    design: np.ndarray | None = None,
) -> LawFit:
    if design is None:
        design = _of_masses(equations, shape, parameters)
    jacobian = design
    if parameters:
        by_shape = equations.by_shape(shape.derivatives(parameters), masses)
        jacobian = np.concatenate([design, by_shape], axis=1)
    residuals = equations.left - extra - design @ masses
    return LawFit(shape, parameters, masses, residuals, weights, jacobian)


def _descended(equations: Equations, fit: LawFit, extra: np.ndarray, steps: int = STEPS) -> LawFit:
    """Gauss-Newton steps, halved until they gain, at fixed weights."""
    if not fit.parameters:
        step = solved(fit.jacobian, fit.residuals, fit.weights)
        masses = fit.masses + step
        return _at(equations, fit.shape, (), masses, extra, fit.weights, fit.jacobian)
    count = len(fit.masses)
    for _ in range(steps):
        # Variable projection: for any parameters the best masses solve a linear problem, so only
        # the parameters are searched, along Gauss-Newton's direction for both together.
        step = solved(fit.jacobian, fit.residuals, fit.weights)
        # no parameter moves further: exponents, logarithms and coefficients are of order one
        share = min(1.0, 1.0 / max(float(np.max(np.abs(step[count:]))), TINY))
        gained = None
        # rounding of a parameter
        if np.max(np.abs(step[count:])) < 1e-13:
            return fit
        shortest = 0.05 * share
        while share > shortest:
            parameters = tuple((np.array(fit.parameters) + share * step[count:]).tolist())
            if fit.shape.allowed(parameters):
                # the masses that suit the new shape are those of a linear problem
                design = _of_masses(equations, fit.shape, parameters)
                masses = solved(design, equations.left - extra, fit.weights)
                residuals = equations.left - extra - design @ masses
                if np.mean((fit.weights * residuals) ** 2) < fit.loss:
                    gained = _at(
                        equations, fit.shape, parameters, masses, extra, fit.weights, design
                    )
                    break
            share /= 2
        if gained is None:
            return fit
        settled = fit.loss - gained.loss < SETTLED * fit.loss
        fit = gained
        if settled:
            return fit
    return fit
