"""Two kinds of error in a field: scatter between neighbours, and smooth errors.

A field read off a world model is sharp where the model was trained a lot and ragged at the edges.
The scatter of neighbouring rows about their local trend measures that without assuming a law: rows
that scatter more count less. A smooth deviation from a law is not scatter and keeps its full
weight; noise within bins does not explain it.
"""

from dataclasses import replace
from itertools import islice

import numpy as np
from scipy.spatial import KDTree
from scipy.special import chdtrc, ndtr

from orbits.statistics import robust_spread
from symreg.fit.samples import Samples
from symreg.formulas.precision import rounding

ROWS_IN_A_BIN, MOST_BINS = 25, 24
"""For a local scatter."""
RAGGED = 0.25
"""Rows with a smaller relative weight are not searched, only weighed."""
SMOOTH_BINS, SMOOTH_ROWS = 12, 5
"""Bins at most, and rows of each at least, for the smooth part of errors."""
WAVES = (0.25, 1.5)
"""Periods of a smooth error across the range of a feature: from a tilt to one and a half waves."""
LARGEST = 1.103
"""Largest rms of a smooth error of unit rms about a fitted constant: a sine of random phase, over w
periods, has mean square at most 1 - sin(2 pi w)/(2 pi w) about its mean, which is largest at w =
0.715."""


def local_scatter(samples: Samples) -> np.ndarray:
    """(row,) relative scatter of the rows about the local trend in the first feature.

    A product of powers removes the other features. Zero where undetermined: mixed signs, or too few
    rows.
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

    Samples with known errors keep them; without a floor all rows count equally.
    """
    if samples.weights is not None or samples.errors is not None or floor == 0:
        return samples
    error = np.hypot(local_scatter(samples), floor)
    if not np.all(error > 0):
        return samples
    weights = 1 / error
    return replace(samples, weights=weights / np.sqrt(np.mean(weights**2)))


def sharp(samples: Samples) -> np.ndarray:
    """(row,) mask of the rows that are not ragged; all if those are less than half."""
    if samples.weights is None:
        return np.ones(len(samples.y), dtype=bool)
    kept = samples.weights >= RAGGED * np.quantile(samples.weights, 0.9)
    return kept if kept.mean() >= 0.5 else np.ones(len(samples.y), dtype=bool)


def smooth_mean_square(residuals: np.ndarray, samples: Samples, upper: bool = False) -> float:
    """Mean square of the smooth part of (row,) residuals, largest over the features.

    Variance of the means of equal-sized bins, minus that from scatter within the bins; `upper` adds
    one standard error: as large as the smooth part may well be.
    """
    return float(smooth_mean_squares(residuals[None], samples, upper)[0])


def smooth_mean_squares(residuals: np.ndarray, samples: Samples, upper: bool = False) -> np.ndarray:
    """(draw,) the same for (draw, row) residuals."""
    draws, rows = residuals.shape
    bins = min(SMOOTH_BINS, rows // SMOOTH_ROWS)
    largest = np.zeros(draws)
    if bins < 3:
        return largest
    # the mean square of `bins` normal numbers has relative standard error sqrt(2 / bins)
    added = np.sqrt(2 / bins) if upper else 0.0
    sizes = np.array([len(part) for part in np.array_split(np.arange(rows), bins)])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    for k, values in enumerate(residuals):
        ordered = values[samples.ranks]  # (feature, row): all features in one pass
        means = np.add.reduceat(ordered, starts, axis=1) / sizes
        apart = (ordered - np.repeat(means, sizes, axis=1)) ** 2
        noise = np.mean(np.add.reduceat(apart, starts, axis=1) / (sizes * (sizes - 1)), axis=1)
        smooth = np.maximum(np.mean(means**2, axis=1) - noise, 0.0) + added * noise
        largest[k] = max(0.0, np.max(smooth, initial=0.0))
    return largest


def misfit_probability(residuals: np.ndarray, samples: Samples) -> float | None:
    """Chance that errors without structure have bin means as large as these.

    Rows are binned by every feature, and by products of two; without misfit the squared means over
    their standard errors sum to chi-squared. The least chance over the features, times their
    number; None for too few rows, or rounding alone. Columns that indicate a row's group of
    constants are none of the features: own constants leave no mean in their rows.
    """
    X = samples.measured
    groups, index = np.unique(samples.groups, return_inverse=True)
    if len(groups) < len(residuals):
        # rows of a group share an error: one mean a group counts
        count = np.bincount(index)
        residuals = np.bincount(index, residuals) / count
        X = np.column_stack([np.bincount(index, column) / count for column in X.T])
    rows = len(residuals)
    bins = min(SMOOTH_BINS, rows // SMOOTH_ROWS)
    if bins < 4 or np.sqrt(np.mean(residuals**2)) < rounding(samples.y):
        return None
    residuals = without_tails(residuals)
    columns = np.column_stack([X, *_interactions(X)])
    ordered = residuals[np.argsort(columns, axis=0, kind="stable")]
    size = np.array([len(part) for part in np.array_split(residuals, bins)])
    starts = np.cumsum(size) - size
    means = np.add.reduceat(ordered, starts) / size[:, None]
    within = np.sum((ordered - np.repeat(means, size, axis=0)) ** 2, axis=0) / (rows - bins)
    if np.any(within <= 0):
        return 0.0
    least = float(np.min(chdtrc(bins, size @ means**2 / within)))
    return min(1.0, least * columns.shape[1], 2 * _neighbours_agree(residuals, X))


UNIFORM, ITS_DEVIATION = 1.8, 1.148
"""Kurtosis of uniform errors, and its standard deviation for one row (delta method)."""


def hump_probability(errors: np.ndarray) -> float:
    """Chance of a kurtosis as small as that of (row,) errors which are commonest near zero.

    Errors that are never more frequent farther from zero are uniform ones of mixed widths
    (Khinchin), so that their mean fourth power is at least 9/5 of the squared mean square, however
    unequal they are. Of less the commonest have one size and both signs: a term is missing that
    turns too fast to be seen in any feature, or two kinds of rows are one.
    """
    squares = (errors / (np.max(np.abs(errors)) or 1.0)) ** 2  # of any unit: of 1e-90 and 1e136
    kurtosis = np.mean(squares**2) / np.mean(squares) ** 2 if np.any(errors) else UNIFORM
    return float(ndtr((kurtosis - UNIFORM) / ITS_DEVIATION * np.sqrt(len(errors))))


NEIGHBOURS = 5
"""Of a row, whose mean error is compared with its own."""


def _neighbours_agree(residuals: np.ndarray, X: np.ndarray) -> float:
    """Chance that errors without structure are as like their neighbours' as these.

    Neighbours are counted in ranks, so scales do not matter. A pair may count from both sides,
    which makes the deviation of the sum up to sqrt(2) larger than for independent terms.
    """
    varying = ranks_of(X[:, np.ptp(X, axis=0) > 0])
    if not varying.shape[1]:
        return 1.0
    _, near = KDTree(varying).query(varying, NEIGHBOURS + 1)
    about = residuals - residuals.mean()
    means = about[near[:, 1:]].mean(axis=1)
    size = float(np.sqrt(np.sum(about**2 * means**2)))
    return float(ndtr(-np.sum(about * means) / size / np.sqrt(2))) if size > 0 else 1.0


def without_tails(errors: np.ndarray) -> np.ndarray:
    """Errors cut at five robust standard deviations: heavy tails are no misfit."""
    most = 5 * (robust_spread(errors) or 1.0)  # one normal error in two million is farther
    return np.clip(errors, -most, most)


def ranks_of(X: np.ndarray) -> np.ndarray:
    """(row, feature) rank of every row in each feature."""
    return np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0, kind="stable").astype(float)


MOST_INTERACTIONS = 45
"""Pairs of features, all of ten."""


def _interactions(X: np.ndarray) -> list[np.ndarray]:
    """Products of two features about their medians: some laws, like x·y, show only in these."""
    about = X - np.median(X, axis=0)
    pairs = ((i, j) for j in range(X.shape[1]) for i in range(j))
    return [about[:, i] * about[:, j] for i, j in islice(pairs, MOST_INTERACTIONS)]
