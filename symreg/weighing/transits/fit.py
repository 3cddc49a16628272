"""Masses and orbits of planets fitted to the times of their transits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from symreg.fit.noise import robust_spread
from symreg.formulas.watch import Watch
from symreg.weighing.transits.model import COARSE, FINE, NUMBERS, Transits, late

UNITS = np.array([1e-5, 1e-3, 1e-4, 1e-2, 1e-2])
"""Scale of each number of a planet."""
STARTS = (1e-5, 3e-5)
"""Masses over the star's from which fits begin, each with nearly round orbits."""
NEARLY_ROUND = 1e-3
FAR = 1e6
"""Residual where no such planets can move."""
LINES, ROUGH, LAST = 6, 30, 40
"""Iterations of the straight lines, of a start, and of the last fit."""
WILD = 4.5
"""Standard errors from which a time is left out."""


@dataclass(frozen=True)
class Fit:
    """Planets fitted to their transits.

    Attributes:
        numbers: (planet, number), as in `NUMBERS`.
        covariance: (planet * number, planet * number), with errors as large as the scatter.
        residuals: (row,) predicted minus observed times over their errors.
        kept: (row,) whether the row counts.
        scatter: factor by which the times scatter more than their errors, at least 1.
        freedom: degrees of freedom of the chi square, of the rows that count.
    """

    numbers: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray
    kept: np.ndarray
    scatter: float
    chi_square: float
    freedom: int


def fit_planets(seen: Transits, watch: Watch) -> Fit:
    """Fit all planets together.

    First the straight lines, then all numbers, from light and heavy planets; the better of both is
    fitted again with finer steps, without the times that no fit comes near.
    """
    units = np.tile(UNITS, len(seen.planets))
    starts = []
    for place, mass in enumerate(STARTS):
        said = f"transits: start {place + 1} of {len(STARTS)}"
        vector = np.column_stack(
            [np.full(len(seen.planets), mass), seen.lines(),
             np.full((len(seen.planets), 2), NEARLY_ROUND)]
        ).ravel() / units  # fmt: skip
        vector = _fitted(vector, seen, COARSE, LINES, watch, said, ("transit", "period")).x
        starts.append(_fitted(vector, seen, COARSE, ROUGH, watch, said))
    best = min(starts, key=lambda found: found.cost)
    best = _fitted(best.x, seen, FINE, LAST, watch, "transits: the better start")
    left = _residuals(best.x, seen, FINE)
    kept = np.abs(left) < WILD * max(1.0, robust_spread(left))
    if kept.sum() <= len(best.x):
        kept[:] = True  # else nothing would be left to tell the scatter
    if not kept.all():
        best = _fitted(best.x, seen.rows(kept), FINE, LAST, watch, "transits: without wild times")
        left = _residuals(best.x, seen, FINE)
    chi_square, freedom = float(np.sum(left[kept] ** 2)), int(kept.sum()) - len(best.x)
    scatter = max(1.0, float(np.sqrt(chi_square / freedom)))
    covariance = np.linalg.pinv(best.jac.T @ best.jac) * scatter**2
    return Fit(
        numbers=(best.x * units).reshape(len(seen.planets), -1),
        covariance=covariance * np.outer(units, units),
        residuals=left,
        kept=kept,
        scatter=scatter,
        chi_square=chi_square,
        freedom=freedom,
    )


def _residuals(scaled: np.ndarray, seen: Transits, steps: int) -> np.ndarray:
    """(row,) of numbers in `UNITS`."""
    found = late(scaled * np.tile(UNITS, len(seen.planets)), seen, steps) / seen.sigma
    return np.nan_to_num(found, nan=FAR, posinf=FAR, neginf=-FAR)


def _fitted(
    start: np.ndarray, seen: Transits, steps: int, most: int, watch: Watch, said: str,
    names: Sequence[str] = NUMBERS,
) -> OptimizeResult:  # fmt: skip
    """The numbers so named fitted from a start; the result has all of them as `x`."""
    free = np.flatnonzero(np.isin(np.tile(NUMBERS, len(seen.planets)), names))

    def whole(part: np.ndarray) -> np.ndarray:
        vector = start.copy()
        vector[free] = part
        return vector

    def residuals(part: np.ndarray) -> np.ndarray:
        found = _residuals(whole(part), seen, steps)
        watch.say(lambda: f"{said}, {np.sqrt(np.mean(found**2)):.4g} standard errors left")
        return found

    # one-sided differences stall in the valley where eccentricities trade against masses
    found = least_squares(
        residuals, start[free], jac="3-point", x_scale="jac", max_nfev=most, ftol=1e-7, xtol=1e-9
    )
    found.x = whole(found.x)
    return found
