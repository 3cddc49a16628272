"""Products of powers in which a target is a function of fewer variables.

Most laws are a product of powers of their columns times a function of one or two further products,
as Buckingham's theorem has it of laws with units: log|y| is then linear in log|x| but for one or
two directions. A cubic polynomial in log|x| shows these by how its gradients differ from row to
row; then the exponents are improved together with a polynomial of the products, and rounded.

Sources: Constantine, del Rosario & Iaccarino, arXiv:1605.07974 (laws as ridge functions); Hokanson
& Constantine, SIAM J. Sci. Comput. 40, A1566 (2018) for the fit by variable projection.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
import sympy
from numpy.polynomial import chebyshev
from scipy.optimize import least_squares

from symreg.enumeration.rational import exponents_up_to
from symreg.projection.bases import exponent_of

MOST_PRODUCTS = 3
"""Columns that are left: of more a polynomial with a tenth of the rows' terms is a parabola."""
LARGEST_DEGREE = 8
"""Of a polynomial that stands for the unknown function."""
MOST_TERMS, FEWER_TERMS = 0.4, 0.1
"""Of a polynomial of the columns, and of one of products, as a share of the rows."""
STEPS = 30
"""Evaluated sets of exponents, beside those of a slope: from a good start five do."""
SINGULAR = 0.05
"""Least determinant of directions, by columns whose exponents may become one."""
OF_ONE_SIGN = 0.99
"""Share of the squares of the target in rows of one sign above which the others are noise."""
UNEQUAL = 2.0
"""Ratio of the errors of logarithms of small and large targets above which errors are equal."""
LARGEST = 8.0
"""Exponent: of a product of products; larger ones are of a column that hardly matters."""
FEWEST, FEWEST_EFFECTIVE = 40, 8
"""Rows that are kept where errors are equal, and the least effective number of rows."""
ROUNDING = 1e-14
"""Least error of a logarithm."""


@dataclass(frozen=True)
class Similarity:
    """y = Π x^front · f(Π x^products[0], Π x^products[1], ...).

    Attributes:
        front: (column,) exponents, halves.
        products: (product, column) exponents, halves.
        equal: whether the target's errors are equal; else they are relative.
    """

    front: np.ndarray
    products: np.ndarray
    equal: bool

    def even(self, front: np.ndarray) -> np.ndarray:
        """Rows (row,) in which errors over the product in front are of one size, in their order:
        equal errors over a small product are large."""
        if not self.equal:
            return np.arange(len(front))
        size = (front / np.max(np.abs(front))) ** 2
        count = max(FEWEST, int(_effective(size)))
        return np.sort(np.argsort(-size, kind="stable")[:count])

    def values(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row,) of the product in front, and (row, product) of those inside."""
        front, *inside = (np.prod(X**own, axis=1) for own in (self.front, *self.products))
        return front, np.column_stack(inside)

    def expressions(self, symbols: Sequence[sympy.Symbol]) -> tuple[sympy.Expr, list[sympy.Expr]]:
        """The same in sympy, for (column,) symbols."""
        front, *inside = (
            sympy.Mul(*(s ** exponent_of(e) for s, e in zip(symbols, own, strict=True)))
            for own in (self.front, *self.products)
        )
        return front, inside


@dataclass(frozen=True)
class _Target:
    """Values to be fitted: logarithms of y with weights, or y itself, of any sign.

    Attributes:
        values: (row,).
        weights: (row,) of logarithms; None for y itself.
        equal: whether errors of y are equal; else they are relative.
    """

    values: np.ndarray
    weights: np.ndarray | None
    equal: bool = True

    def left(self, basis: np.ndarray, front: np.ndarray) -> np.ndarray:
        """(row,) weighted, what columns (row, column) times a product leave, from its logarithm."""
        if self.weights is None:
            rest, scale = self.values, np.exp(front - np.max(front))
        else:
            rest, scale = (self.values - front) * self.weights, self.weights
        basis, _ = np.linalg.qr(basis * scale[:, None])
        return np.asarray(rest - basis @ (basis.T @ rest))

    @cached_property
    def rows(self) -> float:
        """The effective number of rows."""
        return _effective(np.ones(len(self.values)) if self.weights is None else self.weights**2)

    def gradients(self, basis: np.ndarray, slopes: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """(column,) the mean gradient, and (row, column) how the others differ from it.

        Of log y it is exponents, and of y itself y times these.
        """
        ones = np.ones(len(self.values))
        weights, size = (ones, self.values) if self.weights is None else (self.weights, ones)
        numbers, *_ = np.linalg.lstsq(basis * weights[:, None], self.values * weights, rcond=None)
        gradients = np.stack([own @ numbers for own in slopes], axis=1) * weights[:, None]
        size = size * weights
        mean = size @ gradients / np.sum(size**2)
        return mean, gradients - np.outer(size, mean)

    def criterion(self, left: np.ndarray, numbers: int) -> float:
        """Bayes' information criterion."""
        error = max(float(np.mean(left**2)), ROUNDING**2)
        return self.rows * float(np.log(error)) + numbers * float(np.log(self.rows))

    def charged(self, exponents: np.ndarray) -> float:
        """Of exponents that were chosen: as numbers, and those nearer zero are likelier."""
        numbers = np.count_nonzero(exponents) * float(np.log(self.rows))
        return numbers + 2 * float(np.sum(np.log(1 + 2 * np.abs(exponents))))


def similarity(X: np.ndarray, y: np.ndarray) -> Similarity | None:
    """The products of powers of which a target is a function, if they are fewer than its columns.

    Args:
        X: (row, column). A column that is not positive stays as it is, by itself.
        y: (row,) of any sign; where rows of the rarer one are small they are left out.

    Returns:
        None where no fewer products, their exponents rounded, explain the target as well as a
        polynomial of all columns, and where powers alone do.
    """
    if not np.any(y):
        return None
    y = y / np.max(np.abs(y))
    good = y * np.sum(y) > 0
    if np.sum(y[good] ** 2) > OF_ONE_SIGN * np.sum(y**2):
        X, y = X[good], np.abs(y[good])
    rows, count = X.shape
    positive = np.all(X > 0, axis=0)
    degree = _degree(count, MOST_TERMS * rows, 3)
    if degree < 2 or np.count_nonzero(positive) < 2:
        return None
    logs, alone = np.log(X[:, positive]), X[:, ~positive]
    logs = logs - logs.mean(axis=0)
    whole = np.hstack([logs, alone])
    basis, slopes = _polynomial(whole, degree), _slopes(whole, degree)[: logs.shape[1]]
    if not np.all(y > 0):
        targets = [_Target(y, None)]
    else:
        # of equal errors those of a logarithm are as 1/y
        targets = [_Target(np.log(y), np.ones(rows), False), _Target(np.log(y), y)]
        left = targets[0].left(basis, np.zeros(rows))[np.argsort(y)]
        small, large = np.std(left[: rows // 2]), np.std(left[rows // 2 :])
        if not np.all(good) or small > UNEQUAL * large:
            targets = targets[1:]
    for target in targets:
        exponents = _of_target(logs, alone, target, basis, slopes)
        if exponents is not None:
            inside = np.zeros((len(exponents) - 1 + alone.shape[1], count))
            inside[: len(exponents) - 1, positive] = exponents[:-1]
            inside[len(exponents) - 1 :, ~positive] = np.eye(alone.shape[1])
            front = np.zeros(count)
            front[positive] = exponents[-1]
            return Similarity(front, inside, target.equal)
    return None


def _of_target(
    logs: np.ndarray, alone: np.ndarray, target: _Target, basis: np.ndarray,
    slopes: list[np.ndarray],
) -> np.ndarray | None:  # fmt: skip
    """(product + 1, column) exponents for one kind of errors, those in front last.

    Args:
        logs: (row, column) logarithms.
        alone: (row, other column) that have none.
        target: of the fit.
        basis: (row, term) polynomial of all columns.
        slopes: its derivatives by the logarithms.
    """
    if target.rows < FEWEST_EFFECTIVE:
        return None
    rows, count = logs.shape
    mean, about = target.gradients(basis, slopes)
    directions = np.linalg.svd(about, full_matrices=False)[2]
    one = np.ones((rows, 1))
    powers = least_squares(lambda each: target.left(one, logs @ each), mean, max_nfev=STEPS)
    simple = np.round(2 * powers.x) / 2
    least = min(
        target.criterion(target.left(basis, np.zeros(rows)), basis.shape[1]),
        target.criterion(powers.fun, count + 1),
        target.criterion(target.left(one, logs @ simple), 1) + target.charged(simple),
    )
    best = None
    others = alone.shape[1]
    for products in range(0 if others else 1, min(MOST_PRODUCTS - others + 1, count)):
        criterion, found = _reduced(logs, alone, target, mean, directions[:products])
        if criterion < least:
            least, best = criterion, found
    return best


def _reduced(
    logs: np.ndarray, alone: np.ndarray, target: _Target, mean: np.ndarray, active: np.ndarray
) -> tuple[float, np.ndarray | None]:
    """The best exponents of so many products and of one in front, and the criterion of a polynomial
    of the products; none where exponents that are not rounded have a better one.

    Args:
        logs: as in `_of_target`.
        alone: as there.
        target: of the fit.
        mean: (column,) gradient.
        active: (product, column) directions in which gradients differ.
    """
    products, count = active.shape
    variables = products + alone.shape[1]
    degree = _degree(variables, FEWER_TERMS * len(logs), LARGEST_DEGREE)
    if degree < 2:
        return np.inf, None

    def left(exponents: np.ndarray, degree: int = degree) -> np.ndarray:
        along = logs @ exponents.T
        return target.left(_polynomial(np.hstack([along[:, :-1], alone]), degree), along[:, -1])

    # products of products serve as well: each has one column to the first power that no other has
    ways = [[*each] for each in combinations(range(count), products)]
    ways.sort(key=lambda each: -abs(np.linalg.det(active[:, each])))
    start = _solved(np.vstack([active, mean]), ways[0])
    moving = ~np.isin(np.arange(count), ways[0])

    def moved(numbers: np.ndarray) -> np.ndarray:
        exponents = start.copy()
        exponents[:, moving] = numbers.reshape(products + 1, -1)
        return exponents

    fit = least_squares(
        lambda numbers: left(moved(numbers)), start[:, moving].ravel(), max_nfev=STEPS
    )
    free = target.criterion(fit.fun, len(exponents_up_to(variables, degree)) + len(fit.x))
    best, found = np.inf, None
    for way in ways:
        if abs(np.linalg.det(active[:, way])) > SINGULAR:
            exponents = np.round(2 * _solved(moved(fit.x), way)) / 2
            if np.max(np.abs(exponents)) > LARGEST:
                continue
            criterion = min(
                target.criterion(left(exponents, lower), len(exponents_up_to(variables, lower)))
                for lower in range(2, degree + 1)
            )
            charged = criterion + target.charged(exponents)
            if criterion < free and charged < best:
                best, found = charged, exponents
    return best, found


def _solved(exponents: np.ndarray, pivots: list[int]) -> np.ndarray:
    """(product + 1, column) the same products, each with one column to the first power that neither
    another nor what stands in front has."""
    inside = np.linalg.solve(exponents[:-1, pivots], exponents[:-1])
    return np.vstack([inside, exponents[-1] - exponents[-1, pivots] @ inside])


def _effective(weights: np.ndarray) -> float:
    """Kish's effective sample size: as many rows of equal weights would tell as much."""
    return float(np.sum(weights) ** 2 / np.sum(weights**2))


def _degree(count: int, terms: float, most: int) -> int:
    """The largest of polynomials with at most so many terms."""
    return max((d for d in range(most + 1) if comb(count + d, d) <= terms), default=0)


def _unit(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns from -1 to 1, and (column,) half of their ranges."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    half = np.where(high > low, (high - low) / 2, 1.0)
    return (columns - (high + low) / 2) / half, half


def _polynomial(columns: np.ndarray, degree: int) -> np.ndarray:
    """(row, term) products of Chebyshev's polynomials of columns."""
    values = chebyshev.chebvander(_unit(columns)[0], degree)
    terms = exponents_up_to(columns.shape[1], degree)
    return np.prod([values[:, j, own] for j, own in enumerate(terms.T)], axis=0)


def _slopes(columns: np.ndarray, degree: int) -> list[np.ndarray]:
    """(row, term) derivatives of the same by every column."""
    unit, half = _unit(columns)
    values, terms = chebyshev.chebvander(unit, degree), exponents_up_to(columns.shape[1], degree)
    # the derivative of every polynomial, as a sum of them
    slopes = values[..., :-1] @ chebyshev.chebder(np.eye(degree + 1)) / half[:, None]
    return [
        np.prod(
            [(slopes if j == k else values)[:, j, own] for j, own in enumerate(terms.T)], axis=0
        )
        for k in range(len(half))
    ]
