"""Accelerations and velocities of one body from its positions, with their errors: two methods."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import minimum_filter1d, uniform_filter1d
from scipy.signal import oaconvolve

from orbits.derivatives.bumps import LEAST_HALF_WIDTH, point_kernel, slope_kernel

STENCIL = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
"""Second difference of order eight. Source: Fornberg, Math. Comp. 51 (1988) 699, table 1."""

LOWER = np.array([0.0, 1 / 90, -3 / 20, 3 / 2, -49 / 18, 3 / 2, -3 / 20, 1 / 90, 0.0])
"""That of order six, from the same table."""


@dataclass(frozen=True)
class MeasuredPath:
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


def measured(position: np.ndarray, dt: float, noise: float) -> MeasuredPath:
    """Accelerations by the method that suits the noise.

    Differences of order eight where their noise is below a thousandth of the acceleration, or too
    few states leave no choice; else integrals against bumps. Positions are (time, axis), au, every
    `dt` yr; the noise is a coordinate's standard error, au.

    Raises:
        ValueError: if there are too few states (says how many are needed).
    """
    count = len(position)
    if count < len(STENCIL):
        raise ValueError(
            f"accelerations need at least {len(STENCIL)} states in each orbit; there are {count}."
        )
    differences = by_differences(position, dt, noise)
    size = np.sqrt(np.nanmean(differences.acceleration**2) * position.shape[1])
    error = noise * np.linalg.norm(STENCIL) / dt**2
    if count < 2 * LEAST_HALF_WIDTH + 1 or error < 1e-3 * size:
        return differences
    return by_bumps(position, dt, noise)


def by_differences(position: np.ndarray, dt: float, noise: float) -> MeasuredPath:
    """Second differences of order eight.

    Their error adds, in quadrature, the noise and their distance from those of order six, which
    exceeds their own truncation.
    """
    acceleration = _filtered(position, STENCIL) / dt**2
    truncation = np.abs(acceleration - _filtered(position, LOWER) / dt**2)
    error = np.hypot(noise * np.linalg.norm(STENCIL) / dt**2, truncation)
    # the first difference of order eight, from the same table
    slope = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    return MeasuredPath(acceleration, error, _filtered(position, slope) / dt, "differences")


def truncation(position: np.ndarray, dt: float, noise: float) -> np.ndarray:
    """(time, axis) error of accelerations by the sampling alone, au/yr^2.

    It is what differences of orders eight and six are apart, where noise does not explain that.

    Where the motion is sampled coarsely, integrals against narrow bumps are off by as much.
    """
    kernel = STENCIL - LOWER
    square = (_filtered(position, kernel) / dt**2) ** 2
    square = np.where(np.isnan(square), 0.0, square)  # at the ends
    around = uniform_filter1d(square, len(STENCIL), axis=0, mode="nearest")
    # of nine noisy squares the mean is up to three times what is expected
    chance = 3 * (noise * np.linalg.norm(kernel) / dt**2) ** 2
    return np.asarray(np.sqrt(np.where(around > chance, np.maximum(around, square), 0.0)))


def by_bumps(position: np.ndarray, dt: float, noise: float) -> MeasuredPath:
    """Integrals against bumps, each as wide as the local motion allows.

    Bumps grow by a factor √2 until one disagrees with a narrower one by more than three of its
    standard errors; then the one two sizes below is used. Bias grows as h⁶ and noise falls as
    h^-5/2, so that their ratio is 2^(8.5) = 19² smaller there. (Lepski's method, undersmoothed so
    that the errors are those of the noise alone.)

    Source: Lepski, Theory Probab. Appl. 35 (1990) 454.
    """
    count = len(position)
    widths = [LEAST_HALF_WIDTH]
    while (wider := round(widths[-1] * 2**0.5)) <= (count - 1) // 2:
        widths.append(wider)
    accelerations = np.stack([_filtered(position, point_kernel(h)) / dt**2 for h in widths])
    errors = np.array([noise * np.linalg.norm(point_kernel(h)) / dt**2 for h in widths])
    size = _widest_that_agrees(accelerations, errors, widths)
    at = np.arange(count)
    apart = np.abs(
        accelerations[np.minimum(size + 1, len(widths) - 1), at] - accelerations[size, at]
    )
    # what is left of the bias: the next width's is eight times as large, so that it is a seventh
    # of the distance to it; a quarter leaves room for the neglected orders
    bias = 0.25 * np.nan_to_num(apart)
    slopes = np.stack([_filtered(position, slope_kernel(h)) / dt for h in widths])
    error = np.hypot(errors[size][:, None], bias)
    return MeasuredPath(accelerations[size, at], error, slopes[size, at], "weak")


def _widest_that_agrees(
    accelerations: np.ndarray, errors: np.ndarray, widths: list[int]
) -> np.ndarray:
    """(time,) index of the width to use: the widest that agrees, less two, as far as it fits.

    Accidents of one noisy sample are smoothed away: the least among neighbours within the narrower
    bump counts.
    """
    count = accelerations.shape[1]
    agreed = np.zeros(count, dtype=int)
    still = np.ones(count, dtype=bool)
    for k in range(1, len(widths)):
        for j in range(k):
            apart = np.max(np.abs(accelerations[k] - accelerations[j]), axis=-1)
            close = apart <= 3 * np.hypot(errors[k], errors[j])
            still &= close | np.isnan(apart)
        around = 2 * (widths[k] // 2) + 1
        still = minimum_filter1d(still, around, mode="constant", cval=1)
        agreed[still] = k
    size = np.maximum(agreed - 2, 0)
    edge = np.minimum(np.arange(count), np.arange(count)[::-1])
    fits = np.searchsorted(widths, edge, side="right") - 1
    return np.minimum(size, np.maximum(fits, 0))


def _filtered(position: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """(time, axis) sums of the kernel over the neighbours; NaN where they are not all there."""
    half = len(kernel) // 2
    sums = np.full(position.shape, np.nan)
    if len(position) > 2 * half:
        # the mean would only add its rounding
        centred = position - position.mean(axis=0)
        if len(kernel) <= 64:
            inner = sum(
                weight * centred[k : len(centred) - 2 * half + k] for k, weight in enumerate(kernel)
            )
        else:
            inner = oaconvolve(centred, kernel[::-1, None], mode="valid", axes=0)
        sums[half : len(position) - half] = inner
    return sums
