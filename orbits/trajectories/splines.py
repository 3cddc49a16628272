"""Quintic splines through measured positions: interpolating without noise, else smoothing."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline, make_lsq_spline

DEGREE = 5
"""Velocities and accelerations of a quintic spline are continuous."""


@dataclass(frozen=True)
class Smoothed:
    """A spline through samples, with the residual noise.

    Attributes:
        spline: over time; values (..., column).
        noise: (column,) standard error of a sample; 0 for an interpolating spline.
    """

    spline: BSpline
    noise: np.ndarray


def smoothed(times: np.ndarray, values: np.ndarray) -> Smoothed:
    """The quintic spline of least generalised cross-validation, n·RSS/(n − p)².

    With p coefficients for n samples. Where the best spline leaves nothing but rounding, the
    interpolating one is taken.

    Source: Craven & Wahba, Numer. Math. 31 (1979) 377.
    """
    count = len(times)
    degree = min(DEGREE, count - 1)
    exact = Smoothed(make_interp_spline(times, values, k=degree), np.zeros(values.shape[1]))
    best, least = exact, np.inf
    # samples for each knot: a factor of three halves, or nearly, from one to the next
    for spacing in (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64):
        inner = times[spacing:-spacing:spacing]
        free = len(inner) + DEGREE + 1
        if free >= count - 3 or not len(inner):
            continue
        knots = np.concatenate(
            [np.repeat(times[0], DEGREE + 1), inner, np.repeat(times[-1], DEGREE + 1)]
        )
        spline = make_lsq_spline(times, values, knots, k=DEGREE)
        square = np.sum((values - spline(times)) ** 2, axis=0)
        score = count * float(square.sum()) / (count - free) ** 2
        if score < least:
            least, best = score, Smoothed(spline, np.sqrt(square / (count - free)))
    # the rounding of positions that were written with ten digits is no noise
    rounding = 1e-10 * np.sqrt(np.mean((values - values.mean(axis=0)) ** 2))
    return best if np.sqrt(np.mean(best.noise**2)) > rounding else exact


def derivative(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(time, ...) velocities from positions, by the interpolating quintic spline.

    Long series are taken in pieces with a margin on each side.
    """
    # a sample's influence on the spline falls by a factor 2.3 with each knot, to 1e-14 there
    at_once, margin = 100_000, 40
    degree, count = min(DEGREE, len(times) - 1), len(times)
    velocity = np.empty(values.shape)
    for first in range(0, count, at_once):
        last = min(first + at_once, count)
        low, high = max(0, first - margin), min(count, last + margin)
        spline = make_interp_spline(times[low:high], values[low:high], k=degree)
        velocity[first:last] = spline.derivative()(times[first:last])
    return velocity
