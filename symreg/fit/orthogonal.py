"""Constants and intervals by orthogonal distances, for features with errors.

A row's distance from a law is that to the nearest point on the law, each direction in units of its
own error. Least squares in the target alone would find a slope too flat by var(error) / var(x),
even if the features' variance were merely added to the target's: the weights have to follow the
constants. If the target's errors are unknown their size is fitted too, so that the distances
scatter as they must.

Source: Boggs & Rogers, Contemporary Mathematics 112, 183 (1990) for orthogonal distance regression;
Fuller, Measurement Error Models (1987), section 3.2 for intervals from the estimating equations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from scipy.optimize import brentq
from scipy.special import stdtrit

from orbits.estimates import ENDS, STANDARD_ERRORS, Estimate
from orbits.statistics import TINY
from symreg.fit.monomial import fit_monomial
from symreg.fit.refine import Law
from symreg.fit.samples import LARGE, Samples
from symreg.formulas.expressions import constant_symbol, evaluate, feature_symbols, on_rows
from symreg.search.polish import least_squares

STEPS = 12
"""Of Newton's method for the nearest points, row by row."""
FARTHEST = 6.0
"""Largest distance of a nearest point, in errors."""
ROUNDS = 20
"""Of fitting the constants and the size of the errors in turn, at most."""
SETTLED = 1e-5
"""Relative change of the target's error at which the fit ends."""
LEAST, MOST = 1e-9, 1e3
"""Size of the target's errors over that in the search."""
STEP = 0.05
"""Of a derivative, in standard errors."""


@dataclass(frozen=True)
class Distances:
    """Signed distances of rows from a form, a skeleton with free constants."""

    form: sympy.Expr
    samples: Samples

    def __call__(
        self, constants: Sequence[float] | np.ndarray, scatter: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """(row,) signed distances in standard errors, and their (row, constant) slopes; `scatter`
        multiplies the target's errors."""
        samples = self.samples
        assert samples.errors is not None  # for the type checker: the caller has made them
        assert samples.feature_errors is not None
        given, own = samples.X, scatter * samples.errors
        shares = np.zeros(given.shape[1], dtype=bool) if samples.shares is None else samples.shares
        # an error that is a share of the value is one of its logarithm
        sigma = samples.feature_errors / np.where(shares & (given != 0), np.abs(given), 1.0)
        X, distances = given.copy(), np.full(len(own), LARGE)
        for _ in range(STEPS):
            value = evaluate(self.form, samples.names, X, constants)
            slopes = slopes_of(self.form, samples, X, constants) * np.where(shares, X, 1.0)
            variance = own**2 + np.sum((slopes * sigma) ** 2, axis=1)
            back = np.where(shares & (given != 0), np.log(given / X), given - X)
            rest = samples.y - value - np.sum(slopes * back, axis=1)
            distance = rest / np.sqrt(variance)
            away = sigma * np.clip(sigma * slopes * (rest / variance)[:, None], -FARTHEST, FARTHEST)
            good = np.isfinite(distance) & np.all(np.isfinite(away), axis=1)
            distances[good] = distance[good]
            nearest = np.where(shares, given * np.exp(away), given + away)
            # what was positive stays so: a distance of r = 0.1 ± 0.05 is no negative one
            nearest = np.where(given > 0, np.maximum(nearest, given / 4), nearest)
            nearest = np.where(good[:, None], nearest, X)
            moved, X = np.abs(nearest - X), nearest
            if np.all(moved <= 1e-9 * samples.feature_errors + TINY):
                break
        # The nearest point is a minimum, so that to first order only the law moves: by a constant
        # the distance changes as (y - f)/s at that point does, s² being the variance there.
        _, by_constant = on_rows(self.form, samples.names, X).at(constants)
        jacobian = np.zeros((len(own), len(constants)))
        for place, slope in by_constant.items():
            jacobian[:, place] = -slope / np.sqrt(variance)
        jacobian[~np.isfinite(jacobian) | (np.abs(distances) >= LARGE)[:, None]] = 0.0
        return np.clip(distances, -LARGE, LARGE), jacobian


def slopes_of(
    form: sympy.Expr, samples: Samples, X: np.ndarray, constants: Sequence[float] | np.ndarray
) -> np.ndarray:
    """(row, feature) derivatives of a form by the features with errors, zero for others."""
    assert samples.feature_errors is not None  # for the type checker: asked for such samples only
    symbols = {s.name: s for s in form.free_symbols}
    slopes = np.zeros(X.shape)
    for place, name in enumerate(samples.names):
        if name in symbols and np.any(samples.feature_errors[:, place]):
            slope = sympy.diff(form, symbols[name])
            slopes[:, place] = evaluate(slope, samples.names, X, constants)
    return slopes


def scatter_beyond(squares: np.ndarray, own: np.ndarray, spread: np.ndarray, free: int) -> float:
    """Factor on the `own` errors for which (row,) squares over variances sum to the degrees of
    freedom; `spread` are further, known errors.
    """

    def excess(logarithm: float) -> float:
        variance = (np.exp(logarithm) * own) ** 2 + spread**2
        return float(np.sum(squares / variance)) - free

    return _balanced(excess)


def _balanced(excess: Callable[[float], float], **tolerance: float) -> float:
    """The factor, from `LEAST` to `MOST`, at whose logarithm a falling excess is zero."""
    low, high = np.log(LEAST), np.log(MOST)
    if excess(low) <= 0:
        return LEAST
    return MOST if excess(high) >= 0 else float(np.exp(brentq(excess, low, high, **tolerance)))


@dataclass(frozen=True)
class Orthogonal:
    """A law fitted by orthogonal distances, 95 % intervals and covariance of its constants."""

    law: Law
    intervals: list[Estimate]
    covariance: np.ndarray


def orthogonal(law: Law, samples: Samples, known: bool) -> Orthogonal:
    """Fit a law's constants by orthogonal distances, from its own.

    Unless the target's errors are known, their common factor is fitted.
    """
    distances = Distances(law.form, samples)
    constants, scatter = np.array(law.constants, dtype=float), 1.0
    if not len(constants):
        return Orthogonal(law, [], np.zeros((0, 0)))
    free = len(samples.y) - len(constants)
    for _ in range(ROUNDS):
        constants = _fitted(distances, constants, scatter)
        before = scatter
        if not known:
            scatter = _scatter(distances, constants, free)
        if abs(scatter / before - 1) < SETTLED:
            break
    # where the features' errors explain everything there is no scatter to fit
    influence = _influence(distances, constants, scatter, known or scatter <= LEAST)
    _, index = np.unique(samples.groups, return_inverse=True)
    groups = int(index.max()) + 1
    summed = np.zeros((groups, len(constants)))
    np.add.at(summed, index, influence[:, : len(constants)])
    left = max(groups - influence.shape[1], 1)
    covariance = summed.T @ summed * groups / left
    quantile = float(stdtrit(left, ENDS[1]))
    half = quantile * np.sqrt(np.diag(covariance))
    intervals = [
        Estimate(float(c), float(c - h), float(c + h), statistical=float(h))
        for c, h in zip(constants, half, strict=True)
    ]
    fitted = replace(law, constants=tuple(map(float, constants)))
    return Orthogonal(fitted, intervals, covariance * (quantile / STANDARD_ERRORS) ** 2)


def orthogonal_exponents(samples: Samples, known: bool) -> dict[str, Estimate]:
    """Free exponents of every feature in one product of powers, by orthogonal distances."""
    start = fit_monomial(samples)
    symbols = feature_symbols(samples.names, samples.X)
    form = constant_symbol(0) * sympy.Mul(
        *(s ** constant_symbol(i + 1) for i, s in enumerate(symbols))
    )
    constants = (float(np.exp(start.log_constant)), *map(float, start.exponents))
    law = Law(form, constants, 0.0, 0.0, 0, "monomial")
    intervals = orthogonal(law, samples, known).intervals[1:]
    return dict(zip(samples.names, intervals, strict=True))


def _fitted(distances: Distances, start: np.ndarray, scatter: float) -> np.ndarray:
    """(constant,) of least sum of squared distances."""

    def evaluated(numbers: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rest, slopes = distances(numbers[0], scatter)
        return rest[None], slopes[None]

    return least_squares(evaluated, start[None])[0]


def _scatter(distances: Distances, constants: np.ndarray, free: int) -> float:
    """Factor on the target's errors at which the distances scatter as they must."""

    def excess(logarithm: float) -> float:
        return float(np.sum(distances(constants, np.exp(logarithm))[0] ** 2)) - free

    return _balanced(excess, xtol=1e-6)  # far below its own error


def _influence(
    distances: Distances, constants: np.ndarray, scatter: float, known: bool
) -> np.ndarray:
    """(row, number) shift of the constants, and of log scatter, by every row.

    The estimating equations are solved at the fit; a row's share in them, through the inverse of
    their derivative, is the effect of its weight.
    """
    count, rows = len(constants), len(distances.samples.y)
    _, jacobian = distances(constants, scatter)
    errors = np.sqrt(np.diag(np.linalg.pinv(jacobian.T @ jacobian, hermitian=True)))
    errors = np.where(errors > 0, errors, 1e-6)  # a number that nothing depends on
    fine = STEP * errors

    def equations(place: np.ndarray) -> np.ndarray:
        """(row, number) terms of the equations."""
        values, size = place[:count], scatter if known else float(np.exp(place[count]))
        rest, slopes = distances(values, size)
        terms = rest[:, None] * slopes
        return terms if known else np.column_stack([terms, rest**2 - (1 - count / rows)])

    place = constants if known else np.append(constants, np.log(scatter))
    steps = fine if known else np.append(fine, 0.01)  # of the scatter, a hundredth of itself
    slopes = np.column_stack(
        [
            np.sum(equations(place + step) - equations(place - step), axis=0) / (2 * step.max())
            for step in np.diag(steps)
        ]
    )
    return np.asarray(-equations(place) @ np.linalg.pinv(slopes).T)
