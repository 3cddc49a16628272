"""Intervals: a block bootstrap over orbits (statistical) and the smooth error (systematic).

The error of a field read off a model is smooth in r: all orbits share it, so resampling them does
not show it, and part of it hides in the fitted constants. Random smooth errors
(`symreg.fit.noise.WAVES`) are therefore propagated to the constants, each as large as the samples'
own smooth error (or the error floor) and the residuals allow: what a fit would leave of it is at
most about their smooth part. A smooth error has no useful distribution, so the systematic part is
the largest shift; it is added to the statistical part in quadrature.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy
from scipy.special import stdtrit

from orbits.estimates import ENDS, STANDARD_ERRORS, Estimate
from orbits.powers import normal_equations, of_groups, scaled_columns
from orbits.statistics import TINY
from symreg.fit.monomial import fit_monomial, usable
from symreg.fit.noise import WAVES, smooth_mean_square, smooth_mean_squares
from symreg.fit.refine import Law, refitted
from symreg.fit.samples import LEAST_GROUPS, Samples
from symreg.formulas.expressions import on_rows
from symreg.search.polish import least_squares

DRAWS = 1000
"""Resamplings: 25 beyond either end of an interval."""
MANY = 20_000
"""Groups above which they are not drawn singly."""
ALLOWANCE = 1.5
"""A smooth error may leave this many times what residuals show: draws are few and sparse, and no
true error is a sine."""

DENOMINATORS = (1, 2, 3, 4, 5, 10, 100)
"""Of exponents as one writes them: fractions, and decimals of one digit and of two."""
BY_CHANCE = 0.05
"""Half-width of an interval, in steps of a denominator, so that one in ten holds such a number."""
ROUNDED_EXPONENT = 1e-6
"""Half-width of an exponent's interval at least: rows without noise tell it to rounding."""


def constant_intervals(
    law: Law, samples: Samples, floor: float, rng: np.random.Generator, draws: int = DRAWS
) -> list[Estimate]:
    """Intervals of a law's constants, for a relative systematic error up to the floor.

    The bootstrap refits by one Gauss-Newton step, which is exact for a law linear in its constants
    and nearly so for intervals of a few per cent.
    """
    constants = np.array(law.constants)
    if not len(constants):
        return []
    jacobian, residuals = slopes(law.form, law.constants, samples)
    return _intervals(constants, jacobian, residuals, samples, floor, rng, draws)


def slopes(
    form: sympy.Expr, constants: Sequence[float] | np.ndarray, samples: Samples
) -> tuple[np.ndarray, np.ndarray]:
    """(row, constant) derivatives of the residuals by the constants, and (row,) residuals.

    Constants of each row are (constant, row).
    """
    value, by_constant = on_rows(form, samples.names, samples.X).at(constants)
    residuals, gain = samples.with_gain(np.broadcast_to(value, len(samples.y)))
    jacobian = np.zeros((len(residuals), len(constants)))
    for place, slope in by_constant.items():
        jacobian[:, place] = gain * slope
    return jacobian, residuals


def covariance(law: Law, samples: Samples, intervals: Sequence[Estimate]) -> np.ndarray:
    """(constant, constant) for a law's constants, from correlations and interval widths."""
    if not intervals:
        return np.zeros((0, 0))
    scaled, _ = scaled_columns(slopes(law.form, law.constants, samples)[0])
    shape = np.linalg.pinv(scaled.T @ scaled, hermitian=True)
    shape = shape / np.sqrt(np.maximum(np.outer(np.diag(shape), np.diag(shape)), TINY))
    width = np.array([each.half_width or 0.0 for each in intervals]) / STANDARD_ERRORS
    return np.asarray(shape * np.outer(width, width))


def exponent_intervals(
    samples: Samples, floor: float, rng: np.random.Generator, draws: int = DRAWS
) -> dict[str, Estimate]:
    """Free exponents of every feature in one product of powers, with intervals.

    Raises:
        ValueError: if a target or a feature is not positive.
    """
    fitted, residuals, jacobian = _free_power(samples)
    intervals = _intervals(fitted, jacobian, residuals, samples, floor, rng, draws)
    return dict(zip(samples.names, intervals[1:], strict=True))


def mean_exponents(law: Law, samples: Samples) -> dict[str, float]:
    """The exponents of every feature in a product of powers that is fitted to a law's own values;
    empty if one of them is not positive."""
    values = law.values(samples)
    if not np.all(values > 0):
        return {}
    fitted, *_ = _free_power(replace(samples, y=values))
    return dict(zip(samples.names, fitted[1:].tolist(), strict=True))


def _free_power(samples: Samples) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithm of the factor and exponents of a product of powers, (row,) residuals, and their
    (row, number) slopes."""
    monomial = fit_monomial(samples)
    start = np.array([[monomial.log_constant, *monomial.exponents]])
    design = np.column_stack([np.ones(len(samples.y)), np.log(samples.X)])

    def errors_at(numbers: np.ndarray, _: object = None) -> tuple[np.ndarray, np.ndarray]:
        predicted = np.exp(numbers @ design.T)
        errors, gain = samples.with_gain(predicted)
        return errors, np.nan_to_num(gain * predicted)[:, :, None] * design

    # logarithms of what is low by chance count for too much
    fitted = least_squares(errors_at, start)
    (errors,), (slopes,) = errors_at(fitted)
    return fitted[0], errors, slopes


def with_told_exponents(laws: Sequence[Law], samples: Samples, floor: float) -> list[Law]:
    """Products of powers with the exponents that exact rows tell, other laws as they are.

    A floor forgives an exponent that is off by 0.03, as -5/3 beside -1.7. One that is out of its
    own interval becomes the simplest number within, or the fitted one.
    """
    if not usable(samples):
        return [*laws]
    own = exponent_intervals(samples, floor, np.random.default_rng(0))

    def told(law: Law) -> Law:
        number, product = law.expression.as_coeff_Mul()
        powers = product.as_powers_dict()
        if not all(base.is_Symbol and power.is_number for base, power in powers.items()):
            return law
        right = {base: _exponent_within(power, own[base.name]) for base, power in powers.items()}
        if right == powers:
            return law
        formula = sympy.Float(number) * sympy.Mul(*(b**power for b, power in right.items()))
        return refitted(formula, samples, law.source, law.seed) or law

    return [told(law) for law in laws]


def _exponent_within(power: sympy.Expr, own: Estimate) -> sympy.Expr:
    """An exponent, if it is set and within the interval; else the simplest number there, if so
    narrow an interval holds none by chance, or the fitted one."""
    if own.value is None or own.half_width is None:
        return power
    half = max(own.half_width, ROUNDED_EXPONENT)
    near = (sympy.Rational(round(q * own.value), q) for q in DENOMINATORS if q * half < BY_CHANCE)
    proposed = (power, *near) if power.is_Rational else near
    within = (each for each in proposed if abs(float(each) - own.value) <= half)
    return next(within, sympy.Float(own.value))


def _intervals(
    fitted: np.ndarray,
    jacobian: np.ndarray,
    residuals: np.ndarray,
    samples: Samples,
    floor: float,
    rng: np.random.Generator,
    draws: int,
) -> list[Estimate]:
    """Statistical and systematic, in quadrature, of every constant."""
    shifts = _resampled(jacobian, residuals, samples, rng, draws, as_left_out=floor == 0)
    systematic = _largest_shifts(jacobian, residuals, samples, floor, rng, draws)
    below, above = np.quantile(shifts, ENDS, axis=0)
    below, above = np.maximum(-below, 0.0), np.maximum(above, 0.0)
    return [
        Estimate(
            float(value),
            float(value - np.hypot(below[i], systematic[i])),
            float(value + np.hypot(above[i], systematic[i])),
            statistical=float((below[i] + above[i]) / 2),
            systematic=float(systematic[i]),
        )
        for i, value in enumerate(fitted)
    ]


def _resampled(
    jacobian: np.ndarray,
    residuals: np.ndarray,
    samples: Samples,
    rng: np.random.Generator,
    draws: int,
    as_left_out: bool,
) -> np.ndarray:
    """(draw, constant) shifts of the constants when groups are resampled.

    `as_left_out` corrects for what the fit took from the residuals, and for how few groups show
    their size. Beside a systematic error that matters little.

    Source: Cameron & Miller, J. Human Resources 50, 317 (2015), section VI: CR3 and Student's t.
    """
    groups, index = np.unique(samples.groups, return_inverse=True)
    if len(groups) < LEAST_GROUPS:
        index = np.arange(len(residuals))
    if index.max() >= MANY:
        # of so many groups the bootstrap is normal
        slopes, size = scaled_columns(jacobian)
        inverse = np.linalg.pinv(slopes.T @ slopes, hermitian=True) / size[:, None]
        scores = np.column_stack([np.bincount(index, column * residuals) for column in slopes.T])
        shape = inverse @ (scores.T @ scores) @ inverse.T
        return rng.multivariate_normal(np.zeros(len(shape)), shape, draws, method="eigh")
    widened = 1.0
    if as_left_out:
        residuals = left_out_residuals(jacobian, residuals, index)
        free = max(int(index.max()) + 1 - jacobian.shape[1], 1)
        widened = stdtrit(free, ENDS[1]) / STANDARD_ERRORS
    _, (matrices, sides) = normal_equations(jacobian, residuals, index, rng, draws)
    inverse = np.linalg.pinv(matrices, hermitian=True)
    return -widened * np.einsum("dij,dj->di", inverse, sides)


def left_out_residuals(
    jacobian: np.ndarray, residuals: np.ndarray, group: np.ndarray
) -> np.ndarray:
    """(row,) residuals of every group by the fit to all others, to first order."""
    slopes, _ = scaled_columns(jacobian)
    own, side = of_groups(slopes, residuals, group)
    others = np.linalg.pinv(own.sum(axis=0) - own, rcond=1e-9, hermitian=True)
    return residuals + np.einsum("ni,nij,nj->n", slopes, others[group], side[group])


def _largest_shifts(
    jacobian: np.ndarray,
    residuals: np.ndarray,
    samples: Samples,
    floor: float,
    rng: np.random.Generator,
    draws: int,
) -> np.ndarray:
    """(constant,) largest shift by a smooth error that samples or floor and residuals allow.

    Without a floor there is none: a visible smooth error is a misfit, and a gate says so.
    """
    left_over = np.sqrt(smooth_mean_square(residuals, samples, upper=True))
    if floor == 0 or left_over == 0:
        return np.zeros(jacobian.shape[1])
    absorb = np.linalg.pinv(jacobian)
    size = np.full(len(residuals), floor) if samples.smooth is None else samples.smooth
    weights = samples.log_weights
    size = size if weights is None else size * weights
    if np.sqrt(np.mean(size**2)) < left_over:  # more is seen than was told: that, or the floor
        size = np.full(len(residuals), max(floor, left_over))
    waves = size * np.stack([_smooth(samples.measured, rng) for _ in range(draws)])
    shifts = waves @ absorb.T
    remains = np.sqrt(smooth_mean_squares(waves - shifts @ jacobian.T, samples))
    scale = np.minimum(ALLOWANCE * left_over / np.maximum(remains, TINY), 1.0)
    return np.max(scale[:, None] * np.abs(shifts), axis=0)


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
