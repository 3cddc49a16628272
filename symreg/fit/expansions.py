"""What a table shows without any law: the best expansion in polynomials, and breaks between two.

An expansion is no law, but it measures one. If polynomials predict rows kept aside with a third of
the formula's error, then what the formula leaves is smooth and not noise. If one with as few
numbers as the formula has is as close, then the formula is an expansion too - unless it ends: a
quadratic law is an exact polynomial, which shows as a drop of the error by orders of magnitude at
its last coefficient, where the series of cosh falls by two orders for each. With noise no such drop
is seen, and any smooth curve is a polynomial of a few numbers: a formula that takes as many nats is
one of many that bend like it.

Every row is kept aside in turn: with Q of the design's QR decomposition the error at row i of the
fit to all others is r_i / (1 - h_i), h_i = sum_j Q_ij^2.

Source: Allen, Technometrics 16, 125 (1974) for that sum of squares (PRESS); Neyman, Skandinavisk
Aktuarietidskrift 20, 149 (1937) for the test of smooth errors.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import sympy
from scipy.special import fdtrc

from orbits.statistics import TINY
from symreg.fit.noise import without_tails
from symreg.fit.predictable import numbers_told
from symreg.fit.refine import CLEARLY_BETTER, Law
from symreg.fit.samples import Samples
from symreg.fit.uncertainty import slopes
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import LAST_DIGITS

LEAST_SIDE = 5
"""Rows on either side of a break."""


@dataclass(frozen=True)
class Expansion:
    """Polynomials beside a formula, errors relative to the target's size.

    Attributes:
        error: rms of rows kept aside one by one, by the best polynomial.
        formula: rms error of the formula on the same rows, in the same measure.
        numbers: fewest coefficients of a polynomial as close as the formula; None if there is none.
        ends: whether that polynomial ends there, and is exact.
    """

    error: float
    formula: float
    numbers: int | None
    ends: bool


@dataclass(frozen=True)
class Break:
    """Where a table breaks in two.

    Attributes:
        feature: that tells the sides apart.
        value: of it, between the last row of one side and the first of the other.
        error: what a low polynomial for each side leaves, relative.
    """

    feature: str
    value: float
    error: float


@dataclass(frozen=True)
class _Measure:
    """A target, a formula's errors in it, and columns within [-1, 1]."""

    y: np.ndarray
    errors: np.ndarray
    columns: np.ndarray


def expansion_of(law: Law, samples: Samples, least: float) -> Expansion | None:
    """The best expansion beside a law, in y or log y, whichever is worse for the law.

    Args:
        law: fitted.
        samples: the rows.
        least: relative error that is rounding.

    Returns:
        None for too many features or too few rows.
    """
    results = []
    samples = _some(samples)
    for measure in _measures(law, samples):
        size = float(np.sqrt(np.mean(measure.errors**2)))
        best, numbers, ends = np.inf, None, False
        before: dict[str, float] = {}
        for family, design in _designs(measure.columns, len(measure.y)):
            inside, aside = _errors(design, measure.y)
            best = min(best, aside)
            if inside <= max(size, least) and (numbers is None or design.shape[1] < numbers):
                numbers = design.shape[1]
                # the error falls by orders of magnitude at the last coefficient
                ends = before.get(family, 1.0) >= 1e4 * max(inside, 1e-15)
            before[family] = inside
        results.append(Expansion(best, size, numbers, ends))
    return max(
        results, key=lambda each: max(each.formula, least) / max(each.error, least), default=None
    )


def nats_saved(law: Law, samples: Samples) -> float | None:
    """Nats by which a law and its errors are shorter than the shortest curve and its.

    Curves are a number for each point that the rows tell apart, and polynomials of the features or
    of their logarithms unless the law is one; they pay for their numbers alone, and errors count as
    in the law's own criterion.

    Returns:
        None for too many features or too few rows.
    """
    if samples.indicators or not _fits_expansions(samples):
        return None
    n, own = samples.n_effective, law.criterion(samples.n_effective, 0.0)
    through = replace(law, constants=(0.0,) * points_told(law, samples), nodes=0)
    deviations = samples.scale if samples.deviations is None else samples.deviations
    weights = (1.0 if samples.weights is None else samples.weights) / deviations
    columns = [samples.X, np.log(samples.X)] if np.all(samples.X > 0) else [samples.X]
    y, best, polynomial = samples.y * weights, np.inf, np.empty((0, 0))
    for design in (d for c in columns for d in dict(_designs(_scaled(c), len(y))).values()):
        # the first k columns of Q span those of the design: one decomposition for all degrees
        explained = np.cumsum((np.linalg.qr(design * weights[:, None])[0].T @ y) ** 2)
        for k, square in enumerate(np.maximum(y @ y - explained, 0.0) / len(y), 1):
            curve = replace(law, constants=(0.0,) * k, nodes=0, smooth=0.0, mean_square=square)
            if (length := curve.criterion(n, 0.0)) < best:
                best, polynomial = length, design[:, :k]
    values, pointwise = law.values(samples), through.criterion(n, 0.0)
    # the law is that polynomial if it differs by rounding alone
    if _errors(polynomial, values)[0] <= 1e-9 * np.sqrt(np.mean(values**2)):
        best = np.inf
    saved = 0.5 * float(min(best, pointwise) - own)
    return saved if np.isfinite(saved) else None


def points_told(law: Law, samples: Samples) -> int:
    """How many points of the features that a law uses the rows tell apart, repeats being one.

    Of columns that indicate groups every group has points of its own.
    """
    names = {symbol.name for symbol in law.form.free_symbols}
    columns = [i for i, name in enumerate(samples.names) if name in names]
    left = max(float(np.mean(law.residuals(samples) ** 2)), LAST_DIGITS**2)
    alone = samples.residuals(np.full(len(samples.y), samples.factor(np.ones(len(samples.y)))))
    X, sure = samples.X[:, columns], float(np.mean(alone**2)) / left
    if samples.indicators:
        return len(np.unique(X, axis=0))
    return round(numbers_told(X, sure))


WAVY = 6
"""Degree of a polynomial that turns as often as what a formula that bends to a law leaves."""
HIGHEST, MOST_TERMS = 30, 60
"""Degree of an expansion, and its terms, at most."""


def smooth_probability(law: Law, samples: Samples) -> float:
    """Chance that errors without structure are as much a polynomial as a law's are.

    The polynomial is one of a feature, or of what stands in a function or a power of the formula,
    or of its logarithm: what a formula that bends to a law leaves turns about once for each of its
    few numbers. The errors' share of it, beside what the law's own constants could do, has Fisher's
    distribution F.

    Args:
        law: near its best fit to the samples.
        samples: the rows.
    """
    errors = law.residuals(samples)
    own = (
        slopes(law.form, law.constants, samples)[0] if law.constants else np.zeros((len(errors), 0))
    )
    # of few rows a polynomial takes half
    degree = min(WAVY, (len(errors) - own.shape[1]) // 2)
    if not np.all(np.isfinite(own)) or degree < 1:
        return 1.0
    rest = without_tails(errors)
    weights = _evened(rest, law.values(samples))
    own = np.linalg.qr(own * weights[:, None])[0]
    rest = rest * weights - own @ (own.T @ (rest * weights))
    inside = {node.args[0] for node in law.expression.atoms(sympy.Function, sympy.Pow)}
    chances = []
    for argument in {s for s in law.expression.free_symbols if s.name in samples.features} | inside:
        values = evaluate(argument, samples.names, samples.X)
        if not np.all(np.isfinite(values)) or np.ptp(values) == 0:
            continue
        for scale in (values, np.log(values)) if np.all(values > 0) else (values,):
            curve = np.polynomial.chebyshev.chebvander(_scaled(scale[:, None])[:, 0], degree)
            curve *= weights[:, None]
            basis, size, _ = np.linalg.svd(curve - own @ (own.T @ curve), full_matrices=False)
            # without what the law's own constants could do
            basis = basis[:, size > 1e-6 * np.sqrt(len(rest))]
            free = len(rest) - own.shape[1] - basis.shape[1]
            if free >= degree // 2 and basis.shape[1]:
                gain = float(np.sum((basis.T @ rest) ** 2))
                left = max(float(rest @ rest) - gain, TINY)
                chances.append(fdtrc(basis.shape[1], free, gain / basis.shape[1] * free / left))
    return float(min(1.0, len(chances) * min(chances))) if chances else 1.0


def _evened(errors: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(row,) weights of errors whose size goes as a power of a law's values, which is estimated."""
    size = np.log(np.maximum(np.abs(values), 1e-3 * np.max(np.abs(values)) + TINY))
    size -= size.mean()
    power = 0.5 * float(size @ np.log(errors**2 + TINY)) / max(float(size @ size), TINY)
    return np.asarray(np.exp(-np.clip(power, -1.0, 1.0) * size))


def break_of(law: Law, samples: Samples, least: float) -> Break | None:
    """Where one break explains what a law and every expansion leave; None if none does.

    Quadratics on either side are compared with the formula and with the best polynomial for all
    rows by the information criterion of `symreg.fit.refine`.
    """
    if (floor := _constant_beyond(samples)) is not None:
        return floor
    best: tuple[float, Break] | None = None
    samples = _some(samples)
    for measure in _measures(law, samples):
        rows = len(measure.y)
        cost = np.log(rows)
        fits = [(float(np.mean(measure.errors**2)), len(law.constants))]
        fits += [
            (_errors(design, measure.y)[0] ** 2, design.shape[1])
            for _, design in _designs(measure.columns, rows)
        ]
        whole = min(rows * np.log(max(square, least**2)) + cost * n for square, n in fits)
        quadratic = _products(measure.columns, 2)
        if 2 * quadratic.shape[1] + 2 > rows / 2:
            continue
        for i, name in enumerate(samples.features):
            order = np.argsort(samples.X[:, i], kind="stable")
            values = samples.X[order, i]
            side = max(LEAST_SIDE, quadratic.shape[1] + 1)
            gaps = [k for k in range(side, rows - side + 1) if values[k] > values[k - 1]]
            if not gaps:
                continue
            stride = max(1, len(gaps) // 40)  # forty places, then all near the best of them
            near = min(
                range(0, len(gaps), stride),
                key=lambda g: _broken(quadratic, measure.y, order, gaps[g]),
            )
            k = min(
                gaps[max(0, near - stride) : near + stride + 1],
                key=lambda g: _broken(quadratic, measure.y, order, g),
            )
            error = max(_broken(quadratic, measure.y, order, k), least**2)
            criterion = rows * np.log(error) + (2 * quadratic.shape[1] + 1) * cost
            if criterion < whole - CLEARLY_BETTER and (best is None or criterion < best[0]):
                place = float((values[k - 1] + values[k]) / 2)
                best = criterion, Break(name, place, float(np.sqrt(error)))
    return None if best is None else best[1]


def _constant_beyond(samples: Samples) -> Break | None:
    """Where a feature parts the rows of one value of the target, as below a threshold or above what
    an instrument can show, from all others."""
    values, counts = np.unique(samples.y, return_counts=True)
    constant = samples.y == values[np.argmax(counts)]
    if min(constant.sum(), (~constant).sum()) < LEAST_SIDE:
        return None
    for name, column in zip(samples.features, samples.X.T, strict=False):
        inside, outside = column[constant], column[~constant]
        for low, high in ((inside, outside), (outside, inside)):
            if low.max() < high.min():
                return Break(name, float((low.max() + high.min()) / 2), 0.0)
    return None


def _broken(design: np.ndarray, y: np.ndarray, order: np.ndarray, k: int) -> float:
    """Mean square that fits to the first k rows of an order, and to the others, leave."""
    parts = order[:k], order[k:]
    return sum(len(part) * _errors(design[part], y[part])[0] ** 2 for part in parts) / len(y)


def _measures(law: Law, samples: Samples) -> Iterator[_Measure]:
    """The target and, where it is positive, its logarithm, relative to their size.

    Nothing for more than four features: polynomials of them have too many terms to say anything.
    """
    if not _fits_expansions(samples):
        return
    X, y, values = samples.X, samples.y, law.values(samples)
    positive = np.all(X > 0, axis=0) & (np.ptp(X, axis=0) > 0)
    scaled = _scaled(X)
    logarithms = _scaled(np.where(positive, np.log(np.where(X > 0, X, 1.0)), X))
    size = float(np.sqrt(np.mean(y**2)))
    if np.all(np.isfinite(values)) and 0 < size < np.inf:
        yield _Measure(y / size, (values - y) / size, scaled)
        if positive.any():
            yield _Measure(y / size, (values - y) / size, logarithms)
    if np.all(y > 0) and np.all(values > 0):
        for columns in (scaled, logarithms):
            yield _Measure(np.log(y), np.log(values / y), columns)


def _fits_expansions(samples: Samples) -> bool:
    return 0 < len(samples.features) <= 4 and len(samples.y) >= 2 * LEAST_SIDE


def _some(samples: Samples) -> Samples:
    return samples.thinned(300, np.random.default_rng(0))


def _scaled(X: np.ndarray) -> np.ndarray:
    low, high = X.min(axis=0), X.max(axis=0)
    return np.asarray(2 * (X - low) / np.where(high > low, high - low, 1.0) - 1)


def _products(columns: np.ndarray, degree: int) -> np.ndarray:
    """(row, term) products of Chebyshev polynomials up to a total degree, the lowest first."""
    each = np.stack([np.polynomial.chebyshev.chebvander(c, degree) for c in columns.T])
    terms = [
        np.prod([each[i, :, p] for i, p in enumerate(powers)], axis=0)
        for powers in sorted(itertools.product(range(degree + 1), repeat=len(each)), key=sum)
        if sum(powers) <= degree
    ]
    return np.column_stack(terms)


def _designs(columns: np.ndarray, rows: int) -> Iterator[tuple[str, np.ndarray]]:
    """Polynomials of rising degree, of one feature even and odd ones too, each with its family."""
    most = min(MOST_TERMS, (2 * rows) // 3)
    for degree in range(HIGHEST + 1):
        design = _products(columns, degree)
        if design.shape[1] > most:
            break
        yield "all", design
    if columns.shape[1] == 1:
        for parity, family in ((0, "even"), (1, "odd")):
            every = np.polynomial.chebyshev.chebvander(columns[:, 0], 2 * HIGHEST)[:, parity::2]
            for count in range(1, min(every.shape[1], most) + 1):
                yield family, every[:, :count]


def _errors(design: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Rms error of the fit, and of every row by the fit to the others."""
    if design.shape[1] >= len(y):
        return np.inf, np.inf
    q, _ = np.linalg.qr(design)
    rest = y - q @ (q.T @ y)
    left = 1 - np.sum(q**2, axis=1)
    inside = float(np.sqrt(np.mean(rest**2)))
    if np.min(left) < 1e-6:  # the fit goes through a row, of which the others say nothing
        return inside, np.inf
    return inside, float(np.sqrt(np.mean((rest / left) ** 2)))
