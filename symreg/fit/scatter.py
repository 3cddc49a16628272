"""How much a field scatters where: rows that scatter more count less.

A field read off a world model is sharp where the model was trained a lot and ragged at the edges.
The scatter of neighbouring rows about their own local trend measures that without any law in
mind; a smooth deviation from a law is not scatter and keeps its full weight.
"""

from dataclasses import replace

import numpy as np

from symreg.fit.samples import Samples

ROWS_IN_A_BIN = 25
MOST_BINS = 24
RAGGED = 0.25
"""Rows whose relative weight is below this are not searched, only weighed."""


def local_scatter(samples: Samples) -> np.ndarray:
    """(row,) relative scatter of the rows about the local trend in the first feature.

    The other features are taken out by a product of powers. Zero where it cannot be told: mixed
    signs, or too few rows.
    """
    n = len(samples.y)
    if not samples.logarithmic or np.any(samples.X <= 0) or n < 2 * ROWS_IN_A_BIN:
        return np.zeros(n)
    features, target = np.log(samples.X), np.log(samples.y)
    design = np.column_stack([np.ones(n), features])
    solution, *_ = np.linalg.lstsq(design, target, rcond=None)
    residuals = target - design @ solution
    order = np.argsort(features[:, 0], kind="stable")
    scatter = np.zeros(n)
    for rows in np.array_split(order, min(MOST_BINS, n // ROWS_IN_A_BIN)):
        place = features[rows, 0] - features[rows, 0].mean()
        trend = np.column_stack([np.ones(len(rows)), place])
        line, *_ = np.linalg.lstsq(trend, residuals[rows], rcond=None)
        scatter[rows] = np.sqrt(np.sum((residuals[rows] - trend @ line) ** 2) / (len(rows) - 2))
    return scatter


def weighed(samples: Samples, floor: float) -> Samples:
    """The samples with weights: one over the scatter and the error floor, mean square one.

    Weights that the samples have already (from given errors) are kept as they are.
    """
    if samples.weights is not None:
        return samples
    error = np.hypot(local_scatter(samples), floor)
    if not np.all(error > 0):
        return samples
    weights = 1 / error
    return replace(samples, weights=weights / np.sqrt(np.mean(weights**2)))


def sharp(samples: Samples) -> np.ndarray:
    """(row,) mask of the rows that are not ragged; all of them if that leaves less than half."""
    if samples.weights is None:
        return np.ones(len(samples.y), dtype=bool)
    kept = samples.weights >= RAGGED * np.quantile(samples.weights, 0.9)
    return kept if kept.mean() >= 0.5 else np.ones(len(samples.y), dtype=bool)
