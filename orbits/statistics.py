"""How well values agree, and whether they vary at all."""

import numpy as np


def varies(values: np.ndarray) -> bool:
    """Whether masses or GM differ by more than the planets' own masses change GM (3e-6)."""
    return bool(np.ptp(values) > 1e-3 * np.mean(values))


def r_squared(found: np.ndarray, true: np.ndarray) -> float:
    """1 − Σ|found − true|² / Σ|true − mean|², over rows and axes of (row,) or (row, axis) arrays.

    Minus infinity where undefined: a value that is not finite, or true values all equal.
    """
    with np.errstate(all="ignore"):
        spread = np.sum((true - true.mean(axis=0)) ** 2)
        value = 1 - np.sum((found - true) ** 2) / spread
    return float(value) if np.isfinite(value) else -np.inf
