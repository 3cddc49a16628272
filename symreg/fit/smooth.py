"""The part of an error that is smooth in a feature: what noise within bins does not explain."""

import numpy as np

BINS = 12
ROWS_IN_A_BIN = 5
WAVES = (0.25, 1.5)
"""Periods of a smooth error across the range of a feature: from a tilt to one and a half waves."""
LARGEST = 1.103
"""Largest rms that a smooth error of unit rms can show about a fitted constant: a sine of random
phase, seen over w periods, has mean square 1 - sin(2 pi w)/(2 pi w) about its mean at most, and
that is largest at w = 0.715."""


def smooth_mean_square(residuals: np.ndarray, X: np.ndarray, upper: bool = False) -> float:
    """Mean square of the smooth part of residuals, the largest over the features.

    Variance of the means of bins of equal size, less what scatter within the bins gives them.

    Args:
        residuals: (row,).
        X: (row, feature).
        upper: add one standard error of the estimate: as large as the smooth part may well be.
    """
    return float(smooth_mean_squares(residuals[None], X, upper)[0])


def smooth_mean_squares(residuals: np.ndarray, X: np.ndarray, upper: bool = False) -> np.ndarray:
    """(draw,) the same for (draw, row) residuals of the same rows."""
    draws, rows = residuals.shape
    bins = min(BINS, rows // ROWS_IN_A_BIN)
    found = np.zeros(draws)
    if bins < 3:
        return found
    # the mean square of `bins` normal numbers has relative standard error sqrt(2 / bins)
    taken_off = 1 - np.sqrt(2 / bins) if upper else 1.0
    sizes = np.array([len(part) for part in np.array_split(np.arange(rows), bins)])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for column in X.T:
        ordered = residuals[:, np.argsort(column, kind="stable")]
        means = np.add.reduceat(ordered, starts, axis=1) / sizes
        apart = (ordered - np.repeat(means, sizes, axis=1)) ** 2
        noise = np.mean(np.add.reduceat(apart, starts, axis=1) / (sizes * (sizes - 1)), axis=1)
        found = np.maximum(found, np.mean(means**2, axis=1) - taken_off * noise)
    return found
