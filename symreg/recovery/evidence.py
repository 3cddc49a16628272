"""What is measured on a formula before it is called a law, named or not.

It explains rows outside the fit, a part of the range outside the fit, leaves no misfit smooth in a
feature, and nothing that an expansion would explain; without noise it leaves rounding alone.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from symreg.fit.errors import ROUNDED, rounding_of
from symreg.fit.expansions import (
    Break,
    Expansion,
    break_of,
    expansion_of,
    points_told,
    smooth_probability,
)
from symreg.fit.noise import hump_probability, misfit_probability, smooth_mean_square
from symreg.fit.predictable import MOST_COLUMNS, predictable
from symreg.fit.refine import Law, refit_law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import slopes
from symreg.formulas.numbers import is_simple
from symreg.formulas.precision import FITTED, NOISELESS, SOLVED, error_left, is_single, rounding
from symreg.recovery.thresholds import THRESHOLDS

FEW_VALUES = 2
"""Of a target that says yes or no: what it depends on is a border, no law of a quantity."""


@dataclass(frozen=True)
class Evidence:
    """Measurements on a formula; None if the rows are too few, NaN if not measured: neither passes.

    Attributes:
        held_out_ratio: rms error on held-out groups over that of the fit.
        range_ratio: the same at the ends of the range, the largest over the features.
        misfit_p: chance of a misfit this smooth in unstructured errors.
        misfit: rms of the smooth misfit.
        one_hump_p: chance of so few errors near zero; one where rows share errors.
        error: rms error, relative to the target's size.
        worst: the largest error of a row, likewise.
        rounding: what rounding of the printed numbers leaves, likewise.
        numbers: of the formula: constants that are not simple.
        expansion: the best polynomial beside the formula; None if it leaves rounding alone with
            few numbers, or cannot be said.
        gap: where the table breaks in two, if the formula fails and a break explains why.
        values: different values of the target.
        spare: points of the features that the rows tell apart, beyond the formula's constants.
    """

    held_out_ratio: float | None = math.nan
    range_ratio: float | None = math.nan
    misfit_p: float | None = math.nan
    misfit: float = math.nan
    one_hump_p: float = 1.0
    error: float = math.nan
    worst: float = math.nan
    rounding: float = SOLVED
    numbers: int = 0
    expansion: Expansion | None = None
    gap: Break | None = None
    values: int = FEW_VALUES + 1
    spare: float = math.nan

    @property
    def noiseless(self) -> bool:
        """Whether what is left is too little for noise, and too much for rounding."""
        return self.rounding < self.error < NOISELESS

    @property
    def beyond_expansion(self) -> float | None:
        """The formula's error over that of the best polynomial; None if none was fitted."""
        if self.expansion is None:
            return None
        least = self.rounding
        return max(self.expansion.formula, least) / max(self.expansion.error, least)


def evidence_of(
    law: Law,
    training: Samples,
    held_out: Samples,
    whole: Samples,
    every: Samples | None = None,
    expanded: bool = True,
    floor: float = 0.0,
) -> Evidence:
    """Measure a formula, fitted to the training rows, on rows and ranges outside its fit.

    Args:
        law: fitted to the training rows.
        training: rows of the search.
        held_out: rows kept aside.
        whole: all of them but outliers.
        every: with the outliers, if there are any.
        expanded: whether to compare with expansions, which a field's own smooth error forbids.
        floor: relative error that no law need explain.
    """
    inner = _rms(law, training)
    outer = _rms(law, held_out)
    residuals = law.residuals(whole)
    refit = refit_law(law, whole)
    size = float(np.sqrt(np.mean(whole.y**2)))
    errors = np.abs(refit.values(whole) - whole.y) / size
    errors = np.where(np.isfinite(errors), errors, np.inf)
    numbers = sum(not is_simple(value, FITTED) for value in refit.constants)
    error = float(np.sqrt(np.mean(errors**2)))
    least = max(error_left(numbers, SOLVED), printed(whole.y), floor)
    if any(is_single(column) for column in whole.measured.T):
        least = max(least, ROUNDED * float(np.sqrt(np.mean(rounding_of(refit, whole) ** 2))) / size)
    exact = np.sqrt(np.mean(residuals**2)) < rounding(whole.y)
    chance, one_hump = misfit_probability(residuals, whole), 1.0
    chances = [1.0] if exact else [chance] if chance is not None else []
    single = whole.without_copies()
    alone = single.n_effective == len(single.y) > len(refit.constants) + THRESHOLDS.spare_points
    if alone and not exact and (expanded or not chances):
        chances.append(smooth_probability(refit, single))
    if alone and not exact and expanded:
        # what only the formula misses is no outlier
        rows = single if every is None else every.without_copies()
        own = [i for i, name in enumerate(rows.features) if name in _names(refit)]
        X = rows.measured if len(rows.features) <= MOST_COLUMNS else rows.X[:, own]
        chances.append(predictable(refit.residuals(rows), X)[0])
        one_hump = hump_probability(refit.residuals(single))
    chance = min(1.0, len(chances) * min(chances)) if chances else None
    expansion = gap = None
    if expanded and (error > least or numbers > 2):  # with two no expansion follows a curve
        expansion = expansion_of(refit, whole, least)
    evidence = Evidence(
        outer / max(inner, rounding(whole.y)),
        # near zero a target's rounding is no small share of it
        1.0 if np.max(errors) <= SOLVED else _carried(law, whole),
        chance,
        float(np.sqrt(max(smooth_mean_square(residuals, whole), 0.0))), one_hump,
        error, float(np.max(errors)), least, numbers, expansion,
    )  # fmt: skip
    values = len(np.unique(whole.y))
    # a break is looked for where the formula fails: among many places chance makes one, too
    ratio = evidence.beyond_expansion
    fails = values <= FEW_VALUES or (ratio is not None and ratio > THRESHOLDS.expansion_ratio)
    fails = fails or (chance is not None and chance < THRESHOLDS.misfit_p)
    if expanded and fails:
        gap = break_of(refit, whole, least)
    spare = points_told(refit, whole) - len(refit.constants)
    return replace(evidence, gap=gap, values=values, spare=spare)


def _names(law: Law) -> set[str]:
    return {symbol.name for symbol in law.form.free_symbols}


def printed(y: np.ndarray) -> float:
    """Half a unit of the last digit to which all numbers are rounded, relative to their size."""
    size = float(np.sqrt(np.mean(y**2)))
    if np.array_equal(y, y.astype(np.float32)) or is_single(y):
        return float(np.finfo(np.float32).eps)
    for decimals in range(-12, 16):
        if np.array_equal(np.round(y, decimals), y):
            unit = 0.5 * 10.0**-decimals / size
            return unit if unit < 1e-3 else 0.0  # coarse integers may well be exact
    for digits in range(3, 13):
        if all(value == float(f"{value:.{digits}g}") for value in y[:1000]):
            return 0.5 * 10.0 ** (1 - digits)
    return 0.0


def misfit_of(law: Law, samples: Samples) -> float:
    """Chance of a misfit as smooth as a formula's; one if negligible."""
    chance = misfit_probability(law.residuals(samples), samples)
    return 1.0 if chance is None else chance


def _rms(law: Law, samples: Samples) -> float:
    """Of the errors on samples, without the worst hundredth."""
    return float(np.sqrt(_without_the_worst(law.residuals(samples) ** 2)))


END = 0.15
"""Part of the rows at either end of a feature's range."""


def _carried(law: Law, samples: Samples) -> float | None:
    """Fit without either end of a feature's range, and extrapolate there; the worst feature."""
    rows, worst, least = len(samples.y), -1.0, rounding(samples.y)
    fewest = 2 if rows >= 12 else 1  # of a dozen rows 15 % are two
    features = _names(law)
    for name, column in zip(samples.features, samples.X.T, strict=False):
        if name not in features:
            continue
        low, high = np.quantile(column, [END, 1 - END])
        # where more rows than that share the last value it is the end
        above = column > high if high < column.max() else column == high
        for outside in (above, column < low if low > column.min() else column == low):
            most = min(rows / 2, rows - len(law.constants) - 1)
            if not fewest <= outside.sum() <= most:
                continue
            inside, away = samples.rows(~outside), samples.rows(outside)
            carried = refit_law(law, inside)
            free = max(1, len(inside.y) - len(law.constants))
            spread = max(_rms(carried, inside) * np.sqrt(len(inside.y) / free), least)
            # what the constants may be off by, carried to the ends, is no fault of the formula
            allowed = np.hypot(spread, spread * _leverage(carried, inside, away))
            squares = (carried.residuals(away) / allowed) ** 2
            worst = max(worst, float(np.sqrt(_without_the_worst(squares))))
    return worst if worst >= 0 else None


def _leverage(law: Law, inside: Samples, away: Samples) -> np.ndarray:
    """(row,) standard error of a prediction away from the fitted rows, for unit errors there."""
    if not law.constants:
        return np.zeros(len(away.y))
    basis = np.linalg.pinv(slopes(law.form, law.constants, inside)[0])
    return np.asarray(np.linalg.norm(slopes(law.form, law.constants, away)[0] @ basis, axis=1))


def _without_the_worst(squares: np.ndarray) -> float:
    """Mean of squares without the worst hundredth."""
    # one wild row is no failure
    return float(np.mean(np.sort(squares)[: max(1, int(np.ceil(0.99 * len(squares))))]))
