"""Was a law found? Requirements for a formula without a name.

It explains rows outside the fit, a part of the range outside the fit, leaves no misfit smooth in a
feature, and is clearly better than a constant.
"""

from dataclasses import dataclass

import numpy as np

from symreg.fit.noise import DOUBLE, LARGEST, misfit_probability, rounding, smooth_mean_square
from symreg.fit.refine import Fitted, refit_law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import slopes

OUTER = 0.15
"""Share of the rows at either end of a feature for extrapolation."""
LEAST_ROWS = 24


@dataclass(frozen=True)
class Evidence:
    """Measurements on a formula; None if the rows are too few.

    Attributes:
        held_out_ratio: rms error on held-out groups over that of the fit.
        range_ratio: the same at the ends of the range, the largest over the features.
        misfit_p: chance of a misfit this smooth in unstructured errors.
        misfit: rms of the smooth misfit.
    """

    held_out_ratio: float | None
    range_ratio: float | None
    misfit_p: float | None
    misfit: float


def evidence_of(law: Fitted, training: Samples, held_out: Samples, whole: Samples) -> Evidence:
    """Measure a formula, fitted to the training rows, on rows and ranges outside its fit."""
    inner = _rms(law, training)
    outer = _rms(law, held_out)
    residuals = law.residuals(whole)
    return Evidence(
        outer / max(inner, rounding(whole.y)),
        _carried(law, whole),
        misfit_probability(residuals, whole),
        float(np.sqrt(max(smooth_mean_square(residuals, whole.X), 0.0))),
    )


def misfit_of(law: Fitted, samples: Samples) -> float:
    """Chance of a misfit as smooth as a formula's; one if negligible."""
    chance = misfit_probability(law.residuals(samples), samples)
    return 1.0 if chance is None else chance


def _rms(law: Fitted, samples: Samples) -> float:
    """Of the errors on samples, without the worst hundredth."""
    return float(np.sqrt(_without_the_worst(law.residuals(samples) ** 2)))


def _carried(law: Fitted, samples: Samples) -> float | None:
    """Fit without the ends of a feature's range, extrapolate there; the worst feature."""
    rows = len(samples.y)
    if rows < LEAST_ROWS:
        return None
    worst, least = 0.0, rounding(samples.y)
    features = {s.name for s in law.form.free_symbols}
    for name, column in zip(samples.features, samples.X.T, strict=False):
        if name not in features:
            continue
        low, high = np.quantile(column, [OUTER, 1 - OUTER])
        for outside in (column > high, column < low):
            if not LEAST_ROWS / 8 <= outside.sum() <= rows / 2:
                continue
            inside, away = samples.rows(~outside), samples.rows(outside)
            carried = refit_law(law, inside)
            spread = max(_rms(carried, inside), least)
            # what the constants may be off by, carried to the ends, is no fault of the formula
            allowed = np.hypot(spread, spread * _leverage(carried, inside, away))
            squares = (carried.residuals(away) / allowed) ** 2
            worst = max(worst, float(np.sqrt(_without_the_worst(squares))))
    return worst


def _leverage(law: Fitted, inside: Samples, away: Samples) -> np.ndarray:
    """(row,) standard error of a prediction away from the fitted rows, for unit errors there."""
    if not law.constants:
        return np.zeros(len(away.y))
    basis = np.linalg.pinv(slopes(law, inside)[0])
    return np.asarray(np.linalg.norm(slopes(law, away)[0] @ basis, axis=1))


def _without_the_worst(squares: np.ndarray) -> float:
    """Mean of squares without the worst hundredth: one wild row is no failure."""
    return float(np.mean(np.sort(squares)[: max(1, int(np.ceil(0.99 * len(squares))))]))


def misfit_allowed(floor: float) -> float:
    """Rms smooth misfit that a floor explains."""
    return max(LARGEST * floor, DOUBLE)
