"""Intervals: a block bootstrap over orbits, widened by the smooth error that residuals show.

A field read off a model is wrong in a way that is smooth in r: all orbits share the error, so
resampling them does not show it, and part of it hides in the fitted constants. Random smooth
errors are therefore carried over to the constants, each scaled so that the part of it that a fit
would leave over is as large as the smooth part of the residuals (`symreg.smooth`).
"""

from dataclasses import dataclass

import numpy as np

from symreg.engines.monomial import fit_monomial
from symreg.expressions import evaluate
from symreg.refine import Fitted
from symreg.samples import Samples
from symreg.smooth import smooth_mean_square

DRAWS = 1000
CONFIDENCE = 0.95
WAVES = (0.25, 1.5)
"""Periods of a smooth error across the range of a feature: from a tilt to one and a half waves."""


@dataclass(frozen=True)
class Interval:
    """A value with the limits of its central interval (95 %)."""

    value: float
    low: float
    high: float


def constant_intervals(
    law: Fitted, samples: Samples, floor: float, rng: np.random.Generator, draws: int = DRAWS
) -> list[Interval]:
    """Intervals of a law's constants.

    The bootstrap refits by one Gauss-Newton step from the fit, which is exact for a law that is
    linear in its constants and close to exact for intervals of a few per cent.

    Args:
        law: fitted to the samples.
        samples: the rows it was fitted to.
        floor: relative systematic error that is taken for possible.
        rng: of the draws.
        draws: bootstrap replicates.
    """
    constants = np.array(law.constants)
    if not len(constants):
        return []
    steps = 1e-6 * np.maximum(np.abs(constants), 1e-9)

    def residuals(values: np.ndarray) -> np.ndarray:
        return samples.residuals(evaluate(law.form, samples.names, samples.X, values))

    jacobian = np.column_stack(
        [
            (residuals(constants + step) - residuals(constants - step)) / (2 * step.max())
            for step in np.diag(steps)
        ]
    )
    shifts = _shifts(jacobian, residuals(constants), samples, floor, rng, draws)
    return [_interval(c, c + s) for c, s in zip(constants, shifts.T, strict=True)]


def exponent_intervals(
    samples: Samples, floor: float, rng: np.random.Generator, draws: int = DRAWS
) -> dict[str, Interval]:
    """Free exponents of every feature in one product of powers, with intervals.

    Raises:
        ValueError: if a target or a feature is not positive.
    """
    found = fit_monomial(samples)
    design = np.column_stack([np.ones(len(samples.y)), np.log(samples.X)])
    residuals = design @ np.concatenate([[found.log_constant], found.exponents]) - np.log(samples.y)
    if samples.weights is not None:
        design, residuals = design * samples.weights[:, None], residuals * samples.weights
    shifts = _shifts(design, residuals, samples, floor, rng, draws)
    return {
        name: _interval(float(value), value + shift)
        for name, value, shift in zip(samples.names, found.exponents, shifts.T[1:], strict=True)
    }


def _shifts(
    jacobian: np.ndarray,
    residuals: np.ndarray,
    samples: Samples,
    floor: float,
    rng: np.random.Generator,
    draws: int,
) -> np.ndarray:
    """(draw, constant) shifts of the constants: groups resampled, smooth errors added."""
    groups, index = np.unique(samples.groups, return_inverse=True)
    if len(groups) < 4:
        index = np.arange(len(residuals))
    n = int(index.max()) + 1
    k = jacobian.shape[1]
    curvature = np.zeros((n, k, k))
    slope = np.zeros((n, k))
    np.add.at(curvature, index, jacobian[:, :, None] * jacobian[:, None, :])
    np.add.at(slope, index, jacobian * residuals[:, None])
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    matrices = np.einsum("dn,nij->dij", weights, curvature)
    slopes = weights @ slope
    left_over = np.sqrt(smooth_mean_square(residuals, samples.X))
    if left_over > 0:
        most = max(floor, left_over)
        absorb = np.linalg.pinv(jacobian)
        waves = np.stack([_smooth(samples.X, rng) for _ in range(draws)])
        remains = np.sqrt(np.mean((waves - waves @ absorb.T @ jacobian.T) ** 2, axis=1))
        scale = np.minimum(left_over / np.maximum(remains, 1e-9), most)
        slopes = slopes + (scale[:, None] * waves) @ jacobian
    inverse = np.linalg.pinv(matrices, hermitian=True)
    return -np.einsum("dij,dj->di", inverse, slopes)


def _smooth(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(row,) a random smooth function of the features with unit mean square."""
    value = np.zeros(len(X))
    for column in X.T:
        position = np.log(column) if np.all(column > 0) else column
        spread = np.ptp(position)
        unit = (position - position.min()) / spread if spread > 0 else np.zeros(len(X))
        waves = rng.uniform(*WAVES)
        value += np.sqrt(2) * np.sin(2 * np.pi * (waves * unit + rng.uniform()))
    return value / np.sqrt(X.shape[1])


def _interval(value: float, draws: np.ndarray) -> Interval:
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(float(value), float(min(low, value)), float(max(high, value)))
