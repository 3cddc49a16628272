"""Outliers: a few rows that the others cannot explain, such as slips of the pen.

One of them in a hundred hides a law from least squares, and a rich family of formulas bends to it.
So rows that stand out from their neighbours, or from a product of powers, are set aside before the
search. Afterwards every formula of the choice is fitted robustly, and the shortest description of
all rows decides, in which a row left out costs what it takes to write it by itself. Rows that the
formula explains come back. Rows that are many, or lie together, are none: there the formula is
wrong.

Source: Rousseeuw & Van Driessen, Data Min. Knowl. Discov. 12, 29 (2006), for least trimmed squares
by concentration steps.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import KDTree

from orbits.printing import plural
from orbits.statistics import NORMAL_MEDIAN, robust_spread
from symreg.fit.noise import ranks_of
from symreg.fit.predictable import MOST_COLUMNS, beside_others
from symreg.fit.refine import CLEARLY_BETTER, Law, refit_law
from symreg.fit.samples import Samples
from symreg.formulas.precision import NOISELESS

FAR = 8.0
"""Robust standard deviations that make a row an outlier."""
MOST = 0.05
"""Largest part of the rows."""
LEAST_ROWS = 20
"""Of a table in which one row may be an outlier: a twentieth (`MOST`)."""
NEIGHBOURS = 5
"""Which must not be outliers too."""
ABOUT = 15
"""Neighbours whose errors set the local scale."""
MOST_PREDICTED = 1000
"""Rows that are predicted from all others: it takes the cube of them, half a second."""
TOGETHER = 0.3
"""Part of an outlier's neighbours that may be outliers."""
STEPS = 20
"""Of reweighting."""
HALVES, HALF = 5, 500
"""Of the rows, drawn at random, to start a robust fit, and the most rows of one: five miss a single
outlier, all of them, once in 32."""
CONCENTRATED = 5
"""Fits without the rows that the last one missed, at most."""


def outlying_rows(samples: Samples) -> np.ndarray:
    """(row,) whether a row stands out from the others, whatever the law.

    Magnitudes are compared with a product of powers of the features fitted to most rows, with a
    factor for each group of constants, and with the neighbours' deviation from it; the closer of
    the two decides. A sign opposite to nearly all others, or a zero, is noticed, too. Where signs
    are mixed, values are compared with a smooth function of the features.
    """
    y, X = samples.y, samples.measured
    none = np.zeros(len(y), dtype=bool)
    # where a feature is zero a product of powers says nothing
    told = np.all(X != 0, axis=1)
    if len(y) < LEAST_ROWS or np.mean(y == 0) > MOST or np.mean(~told) > MOST:
        return none
    others = np.sign(y) != np.sign(np.median(y))
    few = others if others.mean() <= MOST else none
    if others.any() and not few.any():
        # near a change of sign magnitudes are small by right
        return _isolated(beyond(_beside_smooth(samples), X), samples)
    told &= y != 0
    off = np.zeros(len(y))
    off[told] = _beside_powers(samples.rows(told))
    return _isolated(told & beyond(off, X) | few, samples)


def _beside_smooth(samples: Samples) -> np.ndarray:
    """(row,) values beside their neighbours', or beside what the others predict."""
    X, y = samples.measured, samples.y
    if len(y) <= MOST_PREDICTED and X.shape[1] <= MOST_COLUMNS:
        return beside_others(y, X)
    return _beside_neighbours(y, X) / (robust_spread(y) or 1.0)


def _beside_neighbours(values: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(row,) values less the median of the neighbours'."""
    _, near = KDTree(_unit(X)).query(_unit(X), NEIGHBOURS + 1)
    return values - np.asarray(np.median(values[near[:, 1:]], axis=1))


def _beside_powers(samples: Samples) -> np.ndarray:
    """(row,) logarithms of magnitudes beside a product of powers, or beside the neighbours'."""
    X = samples.measured
    size = np.log(np.abs(samples.y))
    factors = samples.X[:, X.shape[1] :] if samples.indicators else np.ones((len(X), 1))
    design = np.column_stack([factors, np.log(np.abs(X))])
    off = size - design @ _least_absolute(design, size)
    closer = _beside_neighbours(off, X)
    return closer if robust_spread(closer) < robust_spread(off) else off


def outliers(
    laws: Sequence[Law], samples: Samples, floor: float, refit: Callable[..., Law] = refit_law
) -> np.ndarray:
    """(row,) outliers of the formula that describes all rows in the fewest nats.

    A row left out costs two things: which it is, and its distance from the formula. So a formula
    with a number or two for a single row loses to a shorter one without that row.
    """
    none = np.zeros(len(samples.y), dtype=bool)
    if len(none) < LEAST_ROWS or not laws:
        return none
    whole = (refit(law, samples) for law in laws)
    best, cost = none, min(law.criterion(samples.n_effective, floor) for law in whole)
    cost -= CLEARLY_BETTER
    for law in laws:
        away, robust = concentrated(law, samples, refit)
        if not away.any():
            continue
        kept = samples.rows(~away)
        law = refit(robust, kept)
        apart = 2 * np.log(len(none)) + np.log1p(law.residuals(samples.rows(away)) ** 2)
        total = law.criterion(kept.n_effective, floor) + float(np.sum(apart))
        if total < cost:
            best, cost = away, total
    return best


def concentrated(law: Law, samples: Samples, refit: Callable[..., Law]) -> tuple[np.ndarray, Law]:
    """The rows that are missed by far, and the fit that misses them.

    The fit to all rows may have bent to the outliers, so halves of the rows, which may be without
    them, start it too: from there, and from ones, since numbers that ran off do not come back.
    """
    rows, rng = len(samples.y), np.random.default_rng(0)
    count = int(MOST * rows)
    if np.all(np.abs(law.residuals(samples)) <= NOISELESS):
        return np.zeros(rows, dtype=bool), law

    def left(each: Law) -> float:
        return float(np.sum(np.sort(each.residuals(samples) ** 2)[: rows - count]))

    halves = [rng.choice(rows, min(rows // 2, HALF), replace=False) for _ in range(HALVES)]
    starts = (law, replace(law, constants=(1.0,) * len(law.constants)))
    fits = (refit(start, samples.rows(half)) for half in halves for start in starts)
    best = min([law, *fits], key=left)
    away = np.zeros(rows, dtype=bool)
    away[np.argsort(np.abs(best.residuals(samples)))[rows - count :]] = True
    for _ in range(CONCENTRATED):
        before, best = away, refit(best, samples.rows(~away))
        away = missed(best.residuals(samples), samples)
        if np.array_equal(away, before):
            break
    return away, best


def missed(errors: np.ndarray, samples: Samples) -> np.ndarray:
    """(row,) whether a formula with these errors misses a row far more than the others."""
    far = beyond(errors, samples.measured, 0.0 if samples.unit is None else 1 / samples.unit)
    alone = _isolated(far, samples)
    # where most of them lie together it is the formula that is wrong
    return alone if 2 * alone.sum() >= far.sum() else np.zeros(len(far), dtype=bool)


def outlier_note(outlying: np.ndarray, named: str, given: bool) -> str:
    """A note on them, with the names of their rows; `given`: whether by standard errors that
    were."""
    errors = "of the standard errors given" if given else "standard deviations"
    return (
        f"{plural(int(outlying.sum()), 'outlier')} of {len(outlying)} rows, {FAR:g} or more "
        f"{errors} from the rest, left out: {named}"
    )


def beyond(errors: np.ndarray, X: np.ndarray, given: float = 0.0) -> np.ndarray:
    """(row,) whether an error is far outside those of all rows, of nearby rows, and the standard
    error given."""
    about = np.abs(errors - np.median(errors))
    far = np.asarray(about > max(FAR * max(robust_spread(errors), given), NOISELESS))
    if far.any():
        ranks = ranks_of(X)
        _, near = KDTree(ranks).query(ranks[far], min(ABOUT, len(errors)))
        far[far] = about[far] > FAR * NORMAL_MEDIAN * np.median(about[near], axis=1)
    return far


def _isolated(outlying: np.ndarray, samples: Samples) -> np.ndarray:
    """Those whose neighbours, in features and in the table, are no outliers; none if many."""
    if not outlying.any():
        return outlying
    alone, ranks, numbers = outlying.copy(), ranks_of(samples.measured), samples.row_numbers
    places = np.arange(len(outlying)) if numbers is None else np.argsort(np.argsort(numbers))
    for where in (ranks, places[:, None].astype(float)):
        _, near = KDTree(where).query(where[outlying], NEIGHBOURS + 1)
        alone[outlying] &= outlying[near[:, 1:]].mean(axis=1) <= TOGETHER
    for rank in (*ranks.T, *(len(outlying) - 1 - ranks.T)):
        last = rank < 3  # two of the last three rows at an end of a feature lie together
        if np.sum(outlying & last) > 1:
            alone &= ~last
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
