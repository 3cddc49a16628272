"""Splines through measured positions: interpolating without noise, else smoothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_lsq_spline

DEGREE = 5
SPACINGS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Samples per knot to try."""
AT_ONCE = 100_000
"""Samples interpolated at a time."""
MARGIN = 40
"""Samples on each side that count: influence falls by a factor 2.3 with each, to 1e-14 here."""
EXACT = 1e-10
"""Residuals below this part of the positions' size are the spline's, not noise."""


@dataclass(frozen=True)
class Smoothed:
    """A spline through samples, with the residual noise.

    Attributes:
        spline: over time; values (..., column).
        noise: (column,) standard error of a sample; 0 for an interpolating spline.
        spacing: samples per knot; 1 for an interpolating spline.
    """

    spline: BSpline
    noise: np.ndarray
    spacing: int


def knots(times: np.ndarray, spacing: int) -> np.ndarray:
    """Knots of a quintic spline, one per so many samples, those at the ends six-fold."""
    inner = times[spacing:-spacing:spacing] if spacing > 1 else times[3:-3]
    return np.concatenate([np.repeat(times[0], DEGREE + 1), inner,
                           np.repeat(times[-1], DEGREE + 1)])  # fmt: skip


def smoothed(times: np.ndarray, values: np.ndarray) -> Smoothed:
    """The quintic spline of least generalised cross-validation, n·RSS/(n − p)².

    Source: Craven & Wahba, Numer. Math. 31 (1979) 377.
    """
    count = len(times)
    degree = min(DEGREE, count - 1)
    exact = make_interp_spline(times, values, k=degree)
    size = np.sqrt(np.mean((values - values.mean(axis=0)) ** 2))
    best: Smoothed | None = None
    least = np.inf
    for spacing in SPACINGS:
        where = knots(times, spacing)
        free = len(where) - DEGREE - 1
        if degree < DEGREE or free >= count - 3 or free <= DEGREE + 1:
            continue
        spline = make_lsq_spline(times, values, where, k=DEGREE)
        square = np.sum((values - spline(times)) ** 2, axis=0)
        score = count * float(square.sum()) / (count - free) ** 2
        if score < least:
            least, best = score, Smoothed(spline, np.sqrt(square / (count - free)), spacing)
    if best is None or np.sqrt(np.mean(best.noise**2)) <= EXACT * size:
        return Smoothed(exact, np.zeros(values.shape[1]), 1)
    return best


def resampled(
    times: Sequence[np.ndarray], positions: Sequence[np.ndarray], grid: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions and velocities (grid, body, axis) of bodies by their splines; the (body,) noise."""
    fits = [smoothed(*pair) for pair in zip(times, positions, strict=True)]
    return (
        np.stack([fit.spline(grid) for fit in fits], axis=1),
        np.stack([fit.spline.derivative()(grid) for fit in fits], axis=1),
        np.array([float(np.sqrt(np.mean(fit.noise**2))) for fit in fits]),
    )


def derivative(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(time, ...) velocities from positions, by the interpolating quintic spline."""
    degree, count = min(DEGREE, len(times) - 1), len(times)
    found = np.empty(values.shape)
    for first in range(0, count, AT_ONCE):
        last = min(first + AT_ONCE, count)
        low, high = max(0, first - MARGIN), min(count, last + MARGIN)
        spline = make_interp_spline(times[low:high], values[low:high], k=degree)
        found[first:last] = spline.derivative()(times[first:last])
    return found
