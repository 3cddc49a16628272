"""The part of an error that is smooth in a feature: what noise within bins does not explain."""

import numpy as np

BINS = 12
ROWS_IN_A_BIN = 5


def smooth_mean_square(residuals: np.ndarray, X: np.ndarray) -> float:
    """Mean square of the smooth part of residuals, the largest over the features.

    Variance of the means of bins of equal size, less what scatter within the bins gives them.

    Args:
        residuals: (row,).
        X: (row, feature).
    """
    bins = min(BINS, len(residuals) // ROWS_IN_A_BIN)
    found = 0.0
    if bins < 3:
        return found
    for column in X.T:
        parts = np.array_split(residuals[np.argsort(column, kind="stable")], bins)
        means = np.array([part.mean() for part in parts])
        noise = np.mean([part.var(ddof=1) / len(part) for part in parts])
        found = max(found, float(np.mean(means**2) - noise))
    return found
