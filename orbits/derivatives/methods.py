"""Accelerations and velocities of one body from its positions, with their errors: three methods."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline, make_lsq_spline
from scipy.linalg import solveh_banded
from scipy.ndimage import minimum_filter1d, uniform_filter1d
from scipy.signal import oaconvolve

from orbits.derivatives.bumps import LEAST_HALF_WIDTH, point_kernel, slope_kernel
from orbits.importing.splines import DEGREE, knots, smoothed

STENCIL = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
"""Second difference of order eight. Source: Fornberg, Math. Comp. 51 (1988) 699, table 1."""
SLOPE = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
"""First difference of order eight, from the same table."""
LOWER = np.array([0.0, 1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90, 0.0])
"""That of order six."""
LADDER = 2**0.5
"""Ratio of successive half-widths of bumps."""
AGREES = 3.0
"""Standard errors within which a wider bump must match every narrower one."""
BIAS_SHARE = 0.25
"""Share of the distance from the next wider bump added to the error, in quadrature: the bias is a
seventh of that distance, and a quarter leaves room for the neglected orders."""
SMALL_NOISE = 1e-3
"""Share of the acceleration below which the noise of differences is negligible."""
UNDERSMOOTHED = 2 / 3
"""Knots are closer than cross-validation suggests, so that the bias is small beside the noise:
at 2/3 of the spacing it is a ninth (fourth order), the noise 2.8 times as large."""
KNOTS_AROUND = 2
"""Knots on each side over which a spline's bias is averaged."""
OF_A_WAVE = 0.72
"""Standard error equivalent to a wave of rms one: 95 % of the wave lies within 1.41, which is
1.96 times this."""
AT_ONCE = 1024
"""Rows of the spline's design that are solved for at once."""


@dataclass(frozen=True)
class Measured:
    """Accelerations along one body's path.

    Attributes:
        acceleration: (time, axis) au/yr^2; NaN near the ends, where undetermined.
        error: (time, axis) standard error, au/yr^2.
        velocity: (time, axis) au/yr, by the same fit.
        method: the one used.
    """

    acceleration: np.ndarray
    error: np.ndarray
    velocity: np.ndarray
    method: str


def measured(position: np.ndarray, dt: float, noise: float, method: str) -> Measured:
    """Accelerations by a method, or (`auto`) the one that suits the noise.

    Positions are (time, axis), au, every `dt` yr; the noise is a coordinate's standard error, au.

    Raises:
        ValueError: if there are too few states (says how many are needed).
    """
    if method == "auto":
        method = _suited(position, dt, noise)
    needed = {"differences": len(STENCIL), "weak": 2 * LEAST_HALF_WIDTH + 1, "spline": 16}[method]
    if len(position) < needed:
        raise ValueError(
            f"the method {method} needs at least {needed} states in each orbit; there are "
            f"{len(position)}."
        )
    return {"differences": by_differences, "weak": by_bumps, "spline": by_spline}[method](
        position, dt, noise
    )


def _suited(position: np.ndarray, dt: float, noise: float) -> str:
    if len(position) < 2 * LEAST_HALF_WIDTH + 1:
        return "differences"
    found = by_differences(position, dt, noise).acceleration
    size = np.sqrt(np.nanmean(found**2) * position.shape[1])
    error = noise * np.linalg.norm(STENCIL) / dt**2
    return "differences" if error < SMALL_NOISE * size else "weak"


def by_differences(position: np.ndarray, dt: float, noise: float) -> Measured:
    """Second differences of order eight.

    Their error adds, in quadrature, the noise and their distance from those of order six, which
    exceeds their own truncation.
    """
    found = _filtered(position, STENCIL) / dt**2
    truncation = np.abs(found - _filtered(position, LOWER) / dt**2)
    error = np.hypot(noise * np.linalg.norm(STENCIL) / dt**2, truncation)
    return Measured(found, error, _filtered(position, SLOPE) / dt, "differences")


def by_bumps(position: np.ndarray, dt: float, noise: float) -> Measured:
    """Integrals against bumps, each as wide as the local motion allows.

    Bumps grow by a factor 1.4 until one disagrees with a narrower one by more than three of its
    standard errors; then the one two sizes below is used, whose bias over noise is 1/19^2 of that.
    (Lepski's method, undersmoothed so that the errors are those of the noise alone.)

    Source: Lepski, Theory Probab. Appl. 35 (1990) 454.
    """
    count = len(position)
    widths = [LEAST_HALF_WIDTH]
    while (wider := round(widths[-1] * LADDER)) <= (count - 1) // 2:
        widths.append(wider)
    found = np.stack([_filtered(position, point_kernel(h)) / dt**2 for h in widths])
    errors = np.array([noise * np.linalg.norm(point_kernel(h)) / dt**2 for h in widths])
    size = _widest_that_agrees(found, errors, widths)
    at = np.arange(count)
    # what is left of the bias: the next width's is eight times as large
    apart = np.abs(found[np.minimum(size + 1, len(widths) - 1), at] - found[size, at])
    bias = BIAS_SHARE * np.nan_to_num(apart)
    slopes = np.stack([_filtered(position, slope_kernel(h)) / dt for h in widths])
    error = np.hypot(errors[size][:, None], bias)
    return Measured(found[size, at], error, slopes[size, at], "weak")


def _widest_that_agrees(found: np.ndarray, errors: np.ndarray, widths: list[int]) -> np.ndarray:
    """(time,) index of the width to use: the widest that agrees, less two, as far as it fits.

    Accidents of one noisy sample are smoothed away: the least among neighbours within the narrower
    bump counts.
    """
    count = found.shape[1]
    agreed = np.zeros(count, dtype=int)
    still = np.ones(count, dtype=bool)
    for k in range(1, len(widths)):
        for j in range(k):
            apart = np.max(np.abs(found[k] - found[j]), axis=-1)
            close = apart <= AGREES * np.hypot(errors[k], errors[j])
            still &= close | np.isnan(apart)
        around = 2 * (widths[k] // 2) + 1
        still = minimum_filter1d(still, around, mode="constant", cval=1)
        agreed[still] = k
    size = np.maximum(agreed - 2, 0)
    edge = np.minimum(np.arange(count), np.arange(count)[::-1])
    fits = np.searchsorted(widths, edge, side="right") - 1
    return np.minimum(size, np.maximum(fits, 0))


def by_spline(position: np.ndarray, dt: float, noise: float) -> Measured:
    """A least-squares quintic spline, with knots closer than cross-validation suggests.

    Errors follow from those of its coefficients: normal equations and noise.
    """
    count = len(position)
    times = np.arange(count) * dt
    chosen = smoothed(times, position).spacing
    spacing = max(2, int(chosen * UNDERSMOOTHED))
    where = knots(times, spacing)
    design = BSpline.design_matrix(times, where, DEGREE).tocsr()
    normal = (design.T @ design).tocsr()
    free = normal.shape[0]
    banded = np.zeros((DEGREE + 1, free))
    for k in range(DEGREE + 1):
        banded[DEGREE - k, k:] = normal.diagonal(k)
    coefficients = solveh_banded(banded, design.T @ position)
    second = BSpline(where, np.eye(free), DEGREE).derivative(2)(times)
    variance = np.empty(count)
    for first in range(0, count, AT_ONCE):
        part = second[first : first + AT_ONCE]
        variance[first : first + AT_ONCE] = np.sum(part.T * solveh_banded(banded, part.T), axis=0)
    found = second @ coefficients
    coarse = max(chosen, spacing + 1)
    rough = make_lsq_spline(times, position, knots(times, coarse), k=DEGREE).derivative(2)(times)
    # of fourth order, as second derivatives of quintic splines are
    bias = (found - rough) / ((coarse / spacing) ** 4 - 1)
    # it changes its sign within a few knots, and is not small where it does
    spread = OF_A_WAVE * np.sqrt(uniform_filter1d(bias**2, 2 * KNOTS_AROUND * coarse + 1, axis=0))
    error = np.hypot(noise * np.sqrt(variance)[:, None], spread)
    for end in (slice(0, 3 * spacing), slice(count - 3 * spacing, count)):
        found[end] = np.nan  # the last pieces hang on one side only
    velocity = BSpline(where, coefficients, DEGREE).derivative()(times)
    return Measured(found, error, velocity, "spline")


def _filtered(position: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(time, axis) sums of the kernel over the neighbours; NaN where they are not all there."""
    half = len(kernel) // 2
    found = np.full(position.shape, np.nan)
    if len(position) > 2 * half:
        # the mean would only add its rounding
        centred = position - position.mean(axis=0)
        if len(kernel) <= 64:
            inner = sum(
                weight * centred[k : len(centred) - 2 * half + k] for k, weight in enumerate(kernel)
            )
        else:
            inner = oaconvolve(centred, kernel[::-1, None], mode="valid", axes=0)
        found[half : len(position) - half] = inner
    return found
