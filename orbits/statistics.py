"""How well values agree, how far they scatter, and whether they vary at all."""

from typing import Any

import numpy as np

TINY = 1e-300
"""What stands below where nothing may: smaller than anything measured, and what is divided by it
is finite still."""
NORMAL_MEDIAN = 1.4826
"""Standard deviation over median absolute value, of normal errors."""


def robust_spread(errors: np.ndarray) -> float:
    """Standard deviation of normal errors, by the median: outliers do not count."""
    return NORMAL_MEDIAN * float(np.median(np.abs(errors - np.median(errors))))


def varies(values: np.ndarray) -> bool:
    """Whether masses or GM differ by more than the planets' own masses change GM."""
    return bool(np.ptp(values) > 1e-3 * np.mean(values))  # Jupiter's is 9.5e-4 of the Sun's


def is_wide(values: Any) -> bool:
    """Whether numbers, of an array or a series, are positive and span more than a decade."""
    return bool(values.min() > 0 and values.max() > 10 * values.min())


def r_squared(found: np.ndarray, true: np.ndarray) -> float:
    """1 − Σ|found − true|² / Σ|true − mean|², over rows and axes of (row,) or (row, axis) arrays.

    Minus infinity where undefined: a value that is not finite, or true values all equal.
    """
    with np.errstate(all="ignore"):
        spread = np.sum((true - true.mean(axis=0)) ** 2)
        value = 1 - np.sum((found - true) ** 2) / spread
    return float(value) if np.isfinite(value) else -np.inf
