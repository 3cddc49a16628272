"""Outliers: a few rows that the others cannot explain, such as slips of the pen.

One of them in a hundred hides a law from least squares, and a rich family of formulas bends to it.
So rows that stand out from their neighbours, or from a product of powers, are set aside before the
search. They are outliers if the formula found without them misses them too; rows that it explains
come back. Rows that are many, or lie together, are none: there the formula is wrong.
"""

import numpy as np
from scipy.spatial import KDTree

from orbits.printing import plural
from symreg.fit.noise import NORMAL_MEDIAN, ranks_of, robust_spread
from symreg.fit.refine import Law
from symreg.fit.samples import Samples

FAR = 8.0
"""Robust standard deviations that make a row an outlier."""
MOST = 0.05
"""Largest part of the rows."""
LEAST_ROWS = 20
ROUNDED = 1e-6
"""Smaller relative errors are rounding in printed numbers."""
NEIGHBOURS = 5
ABOUT = 15
"""Neighbours whose errors set the local scale."""
TOGETHER = 0.3
"""Part of an outlier's neighbours that may be outliers."""
STEPS = 20


def outlying_rows(samples: Samples) -> np.ndarray:
    """(row,) whether a row stands out from the others, whatever the law.

    Magnitudes are compared with a product of powers of the features fitted to most rows, and with
    the neighbours' deviation from it; the closer of the two decides. A sign opposite to nearly all
    others is noticed, too.
    """
    y, X = samples.y, samples.X
    rows = len(y)
    if rows < LEAST_ROWS or np.any(y == 0) or np.any(X == 0):
        return np.zeros(rows, dtype=bool)
    others = np.sign(y) != np.sign(np.median(y))
    few = others if others.mean() <= MOST else np.zeros(rows, dtype=bool)
    size = np.log(np.abs(y))
    design = np.column_stack([np.ones(rows), np.log(np.abs(X))])
    off = size - design @ _least_absolute(design, size)
    _, near = KDTree(_unit(X)).query(_unit(X), NEIGHBOURS + 1)
    closer = off - np.median(off[near[:, 1:]], axis=1)
    if robust_spread(closer) < robust_spread(off):
        off = closer
    far = _far(off, X)
    if others.any() and not few.any():
        # near a change of sign magnitudes are small by right
        far &= off > 0
    return _isolated(far | few, X)


def outliers(law: Law, samples: Samples) -> np.ndarray:
    """(row,) whether a formula misses a row far more than the others."""
    if len(samples.y) < LEAST_ROWS:
        return np.zeros(len(samples.y), dtype=bool)
    far = _far(law.residuals(samples), samples.X)
    alone = _isolated(far, samples.X)
    # where most of them lie together it is the formula that is wrong
    return alone if 2 * alone.sum() >= far.sum() else np.zeros(len(far), dtype=bool)


def outlier_note(outlying: np.ndarray, named: str) -> str:
    """A note on them, with the names of their rows."""
    return (
        f"{plural(int(outlying.sum()), 'outlier')} of {len(outlying)} rows, {FAR:g} or more "
        f"standard deviations from the rest, left out: {named}"
    )


def _far(errors: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(row,) whether an error is far outside those of all rows, and of nearby rows."""
    about = np.abs(errors - np.median(errors))
    ranks = ranks_of(X)
    _, near = KDTree(ranks).query(ranks, min(ABOUT, len(errors)))
    local = NORMAL_MEDIAN * np.median(about[near], axis=1)
    return np.asarray(about > np.maximum(FAR * np.maximum(local, robust_spread(errors)), ROUNDED))


def _isolated(outlying: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Those whose neighbours, in features and in the table, are no outliers; none if many."""
    ranks = ranks_of(X)
    _, near = KDTree(ranks).query(ranks, NEIGHBOURS + 1)
    places = np.arange(len(outlying))[:, None]
    _, beside = KDTree(places).query(places, NEIGHBOURS + 1)
    alone = outlying.copy()
    for others in (near, beside):
        alone &= outlying[others[:, 1:]].mean(axis=1) <= TOGETHER
    return alone if alone.mean() <= MOST else np.zeros(len(outlying), dtype=bool)


def _unit(X: np.ndarray) -> np.ndarray:
    """Features of unit spread, in logarithms if of one sign."""
    columns = [np.log(np.abs(x)) if np.all(x > 0) or np.all(x < 0) else x for x in X.T]
    return np.column_stack([x / (np.std(x) or 1.0) for x in columns])


def _least_absolute(design: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(column,) coefficients of least absolute errors, by reweighting."""
    weights = np.ones(len(wanted))
    solution = np.zeros(design.shape[1])
    for _ in range(STEPS):
        root = np.sqrt(weights)
        solution, *_ = np.linalg.lstsq(design * root[:, None], wanted * root, rcond=1e-12)
        errors = np.abs(wanted - design @ solution)
        weights = 1 / np.maximum(errors, 1e-6 * (np.median(errors) + 1e-12))
        weights /= weights.max()
    return solution
