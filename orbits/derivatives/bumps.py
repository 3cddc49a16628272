"""Smooth bumps of compact support: positions are integrated against them, not differenced.

For phi(s) = (1 - s^2)^6 on |s| < 1, integration by parts gives, for twice differentiable x,
the identity int phi'' x dt = int phi x'' dt: accelerations come from positions without
differencing, and noise is averaged over the bump.

Source: Messenger & Bortz, Multiscale Model. Simul. 19 (2021) 1474 (weak-form regression).
"""

import math
from functools import lru_cache

import numpy as np

POWER = 6
"""Of the bump: its first five derivatives vanish at both ends, so that sums are integrals up to
terms of order (dt/half-width)^6 and beyond."""
MOMENTS = 4
"""Even moments that are exact for a point kernel: 0, 2, 4 and 6; for a bump the eighth too."""
LEAST_HALF_WIDTH = 5
"""Least samples on each side of the middle: fewer leave no freedom to set the moments."""


def bump(half_width: int) -> tuple[np.ndarray, np.ndarray]:
    """(2 half_width - 1,) phi and phi'' by the number of samples, inside a bump.

    Their sums satisfy the identity int phi'' x dt = int phi x'' dt exactly for x of degree eight.
    """
    s = np.arange(-half_width + 1, half_width) / half_width
    inside = 1 - s**2
    phi = inside**POWER
    second = -2 * POWER * inside ** (POWER - 1)  # by s
    second += 4 * POWER * (POWER - 1) * s**2 * inside ** (POWER - 2)
    even = [s ** (2 * k) for k in range(MOMENTS + 1)]
    # the second derivative of s^(2k) is 2k(2k-1) s^(2k-2)
    moments = [2 * k * (2 * k - 1) * np.sum(phi * even[k - 1]) for k in range(MOMENTS + 1)]
    missing = [w - np.sum(second * e) for w, e in zip(moments, even, strict=True)]
    system = np.array([[np.sum(phi * e * other) for other in even] for e in even])
    second = second + phi * (np.linalg.solve(system, missing) @ np.array(even))
    return phi, second / half_width**2


@lru_cache
def point_kernel(half_width: int) -> np.ndarray:
    """(2 half_width + 1,) weights of samples for the second derivative in the middle.

    The second derivative of a bump times an even polynomial, whose coefficients make the zeroth,
    fourth and sixth moments vanish: the error is of order half_width^6 times the eighth derivative
    of the positions, and as small as a bump's under noise. At least `LEAST_HALF_WIDTH` samples.
    """
    steps = np.arange(-half_width, half_width + 1)
    s = steps / (half_width + 1)
    basis = np.stack([_second(s, k) for k in range(MOMENTS)])
    scaled = [s ** (2 * k) for k in range(MOMENTS)]
    moments = np.zeros(MOMENTS)
    moments[1] = 2 / (half_width + 1) ** 2
    system = np.array([[np.sum(row * moment) for row in basis] for moment in scaled])
    kernel = np.linalg.solve(system, moments) @ basis
    return 0.5 * (kernel + kernel[::-1])


@lru_cache
def slope_kernel(half_width: int) -> np.ndarray:
    """(2 half_width + 1,) weights of samples for the first derivative in the middle.

    A bump times an odd polynomial, whose coefficients make the first moment that of a derivative
    and the third, fifth and seventh vanish: as `point_kernel`, one order lower.
    """
    s = np.arange(-half_width, half_width + 1) / (half_width + 1)
    odd = [s ** (2 * k + 1) for k in range(MOMENTS)]
    basis = np.stack([power * (1 - s**2) ** POWER for power in odd])
    first = np.zeros(MOMENTS)
    first[0] = 1 / (half_width + 1)
    system = np.array([[np.sum(row * moment) for row in basis] for moment in odd])
    return np.linalg.solve(system, first) @ basis


def _second(s: np.ndarray, k: int) -> np.ndarray:
    """Second s-derivative of s^(2k) (1 - s^2)^6."""
    total = np.zeros_like(s)
    for j in range(POWER + 1):
        power = 2 * k + 2 * j
        if power >= 2:
            factor = (-1) ** j * math.comb(POWER, j) * power * (power - 1)
            total += factor * s ** (power - 2)
    return total
