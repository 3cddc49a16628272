"""A target as a function of a sum of trees: fitted, its numbers improved, its terms dropped.

The coefficients of the terms are solved for inside (variable projection: Golub & Pereyra, Inverse
Problems 19, R1, 2003), so that only the numbers within the terms are searched. What to keep is
decided by description length: n/2·log of the mean square, and for every number and symbol the nats
that it takes to write it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy
from scipy.optimize import least_squares

from symreg.enumeration.tree import Tree
from symreg.formulas.numbers import exact, price, simple_near
from symreg.formulas.precision import LAST_DIGITS, leaves_rounding

SYMBOL = 2.0
"""Nats per symbol: the logarithm of the choices at each, columns and about ten functions."""
FITTED = 1.0
"""Nats for a fitted number beside half log n: its sign and size."""
FEW_STEPS, MOST_REFUSED = 6, 40
"""Of a polish from a near start; changes of a model that are fitted in all."""
UNFIT = 1e3
"""Residual, over the error's scale, where a formula is undefined."""


def price_of_fitted(mean_square: float, rows: int) -> float:
    """Nats for a fitted number: written to its standard error, sqrt(mean square/rows) of its size.

    So a simple number that errs little more is the better, the less noise there is.
    """
    return 0.5 * float(np.log(rows) - np.log(min(1.0, mean_square + LAST_DIGITS**2))) + FITTED


@dataclass(frozen=True)
class Outer:
    """A function of the target that equals a sum.

    Attributes:
        forward: of y.
        slope: of `forward` at y: an error of y times its size is one of the sum.
        backward: y of the sum, in numpy.
        written: y of the sum, in sympy.
        allowed: whether targets may be such a y.
        symbols: that it adds.
    """

    forward: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    backward: Callable[[np.ndarray], np.ndarray]
    written: Callable[[sympy.Expr], sympy.Expr]
    allowed: Callable[[np.ndarray], bool] = lambda y: True
    symbols: int = 1


def _positive(y: np.ndarray) -> bool:
    return bool(np.all(y > 0))


def _nonzero(y: np.ndarray) -> bool:
    return bool(np.all(y > 0) or np.all(y < 0))


def _moderate(y: np.ndarray) -> bool:
    """Whether y may be a logarithm: its exponential is no number of one row."""
    return bool(np.ptp(y) > 1 and np.max(np.abs(y)) < 20)


IDENTITY = Outer(lambda y: y, np.ones_like, lambda s: s, lambda s: s, symbols=0)
OUTER = (
    Outer(lambda y: 1 / y, lambda y: y**-2.0, lambda s: 1 / s, lambda s: 1 / s, _nonzero),
    Outer(np.square, lambda y: 2 * y, np.sqrt, sympy.sqrt, _positive),
    Outer(np.log, lambda y: 1 / y, np.exp, sympy.exp, _positive),
    Outer(np.sqrt, lambda y: 0.5 / np.sqrt(y), np.square, lambda s: s**2, _positive),
    Outer(
        lambda y: y**-2.0, lambda y: 2 * y**-3.0, lambda s: s**-0.5,
        lambda s: 1 / sympy.sqrt(s), _positive, symbols=2,
    ),
    Outer(np.exp, np.exp, np.log, sympy.log, _moderate),
)  # fmt: skip
"""Inverses of outer functions: y is their function of a sum."""


@dataclass(frozen=True)
class Table:
    """Rows to fit: X (row, column), y (row,), and the error of y (row,) up to a factor.

    The errors are such that a prediction of zero has mean square one.
    """

    X: np.ndarray
    y: np.ndarray
    sigma: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, sigma: np.ndarray) -> "Table":
        """With errors in proportion to `sigma`."""
        return cls(X, y, sigma * np.sqrt(np.mean((y / sigma) ** 2)))

    def rows(self, chosen: np.ndarray) -> "Table":
        """Some of the rows."""
        return Table.of(self.X[chosen], self.y[chosen], self.sigma[chosen])


class FittedFormula(ABC):
    """A formula with the mean square of its residuals over the table's errors."""

    mean_square: float

    @property
    @abstractmethod
    def fitted_numbers(self) -> int:
        """How many of its numbers are no simple ones."""

    @property
    def is_exact(self) -> bool:
        """Whether rounding is all that is left, as `leaves_rounding` has it."""
        return leaves_rounding(self.mean_square, self.fitted_numbers)

    @property
    def is_final(self) -> bool:
        """Whether it is exact to the last digits, so that nothing better can come."""
        return leaves_rounding(self.mean_square, self.fitted_numbers, LAST_DIGITS)


@dataclass(frozen=True)
class Model(FittedFormula):
    """y as an outer function of coefficients times terms.

    Attributes:
        outer: around the sum.
        terms: trees; `one` is a constant.
        coefficients: of the terms.
        mean_square: of the residuals over the table's errors.
        simple: coefficients that are set, not fitted.
    """

    outer: Outer
    terms: tuple[Tree, ...]
    coefficients: tuple[float, ...] = ()
    mean_square: float = np.inf
    simple: frozenset[int] = frozenset()

    @property
    def fitted_numbers(self) -> int:
        """How many of its numbers are no simple ones."""
        return len(self.numbers()) + len(self.coefficients) - len(self.simple)

    def description(self, rows: int) -> float:
        """Nats to write the residuals and the formula down."""
        number = price_of_fitted(self.mean_square, rows)
        cost = SYMBOL * (self.outer.symbols + sum(tree.size + 1 for tree in self.terms) - 1)
        for place, coefficient in enumerate(self.coefficients):
            cost += price(coefficient) if place in self.simple else number
        for tree in self.terms:
            cost += sum(min(price(value), number) for value in tree.numbers())
        return 0.5 * rows * float(np.log(self.mean_square + LAST_DIGITS**2)) + cost

    def expression(self, symbols: Sequence[sympy.Symbol]) -> sympy.Expr:
        """In sympy."""
        whole = sympy.Add(
            *(
                (exact(c) if place in self.simple else sympy.Float(c)) * tree.written(symbols)
                for place, (c, tree) in enumerate(zip(self.coefficients, self.terms, strict=True))
            )
        )
        return self.outer.written(whole)

    def numbers(self) -> list[float]:
        """The free numbers within the terms."""
        return [number for tree in self.terms for number in tree.numbers()]

    def at(self, numbers: Iterable[float]) -> "Model":
        """The same with other numbers, not fitted yet."""
        rest: Iterator[float] = iter(numbers)
        return replace(self, terms=tuple(tree.at(rest) for tree in self.terms))

    def fitted(self, table: Table) -> "Model":
        """With the best coefficients."""
        return self._solved(table)[0]

    def _solved(self, table: Table) -> tuple["Model", np.ndarray]:
        """With the best coefficients, and the (row,) residuals."""
        y, outer = table.y, self.outer
        with np.errstate(all="ignore"):
            weight = 1 / np.abs(outer.slope(y) * table.sigma)
            design = np.column_stack([tree.values(table.X) for tree in self.terms])
            wanted = outer.forward(y) * weight
            weighted = design * weight[:, None]
        unfit = np.full(len(y), UNFIT)
        if not (np.all(np.isfinite(weighted)) and np.all(np.isfinite(wanted))):
            return replace(self, mean_square=UNFIT**2, coefficients=(0.0,) * len(self.terms)), unfit
        coefficients = np.array([*self.coefficients] or [0.0] * len(self.terms), dtype=float)
        free = [i for i in range(len(self.terms)) if i not in self.simple]
        fixed = sorted(self.simple)
        rest = wanted - weighted[:, fixed] @ coefficients[fixed] if fixed else wanted
        if free:
            size = np.linalg.norm(weighted[:, free], axis=0)
            size[size == 0] = 1.0
            solution, *_ = np.linalg.lstsq(weighted[:, free] / size, rest, rcond=1e-13)
            coefficients[free] = solution / size
        if outer is IDENTITY:
            residuals = wanted - weighted @ coefficients
        else:
            with np.errstate(all="ignore"):
                residuals = (y - outer.backward(design @ coefficients)) / table.sigma
            residuals = np.where(np.isfinite(residuals), residuals, UNFIT)
        square = float(np.mean(residuals**2))
        return replace(self, coefficients=tuple(coefficients), mean_square=square), residuals

    def polished(self, table: Table, steps: int = 30) -> "Model":
        """With the best numbers within the terms too, from where they are."""
        start = np.array(self.numbers())
        first = self.fitted(table)
        if not len(start) or len(start) + len(self.terms) >= len(table.y):
            return first
        scale = np.where(start == 0, 1.0, np.abs(start))
        best = least_squares(
            lambda step: self.at(step * scale)._solved(table)[1],
            start / scale, method="lm",
            xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=steps * (len(start) + 1),
        )  # fmt: skip
        moved = self.at(best.x * scale).fitted(table)
        return moved if moved.mean_square < first.mean_square else first

    def shortened(self, table: Table) -> "Model":
        """Terms dropped, and numbers set to simple ones, while the description gets shorter.

        What a change costs is foreseen from the slopes of the residuals, others refitted: of
        parameter j by d it raises their sum of squares by d²/[(JᵀJ)⁻¹]ⱼⱼ. Only what promises a
        shorter description is fitted.
        """
        best, rows = self.polished(table), len(table.y)
        refused: set[str] = set()
        while len(refused) < MOST_REFUSED:
            proposals = [
                (length, model)
                for length, model in best._proposals(table)
                if length < best.description(rows)
                and repr((model.terms, model.simple)) not in refused
            ]
            if not proposals:
                break
            _, trial = min(proposals, key=lambda each: each[0])
            refused.add(repr((trial.terms, trial.simple)))
            trial = trial.polished(table, FEW_STEPS)
            if trial.description(rows) < best.description(rows):
                best = trial
        return best

    def _proposals(self, table: Table) -> Iterator[tuple[float, "Model"]]:
        """Models with one number or coefficient fewer, and the description foreseen."""
        numbers, rows = self.numbers(), len(table.y)
        free = [i for i in range(len(self.terms)) if i not in self.simple]
        values = np.array([*numbers, *(self.coefficients[i] for i in free)])
        residuals = self._residuals(table)
        slopes = []
        with np.errstate(all="ignore"):
            sizes = [np.linalg.norm(self.terms[i].values(table.X)) for i in free]
        # a coefficient of nearly nothing is moved by what its term could be worth
        natural = [1.0] * len(numbers) + [float(np.linalg.norm(table.y) / s) for s in sizes]
        for place, value in enumerate(values):
            step = 1e-6 * max(abs(value), 1e-3 * natural[place])
            moved = values.copy()
            moved[place] += step
            changed = self.at(moved[: len(numbers)])._with_coefficients(free, moved[len(numbers) :])
            slopes.append((changed._residuals(table) - residuals) / step)
        if not slopes or not np.all(np.isfinite(slopes)):
            return
        jacobian = np.array(slopes).T
        size = np.linalg.norm(jacobian, axis=0)
        size[size == 0] = 1.0
        unsure = np.diag(np.linalg.pinv(jacobian.T @ jacobian / size[:, None] / size, rcond=1e-13))
        unsure = unsure / size**2

        def foreseen(model: Model, place: int, value: float) -> tuple[float, Model]:
            more = (value - values[place]) ** 2 / max(float(unsure[place]), 1e-300) / rows
            square = self.mean_square + more
            return replace(model, mean_square=square).description(rows), model

        for place, value in enumerate(numbers):
            for near in simple_near(value):
                yield foreseen(self._with_number(place, near), place, near)
        for place, i in enumerate(free, len(numbers)):
            value = self.coefficients[i]
            if len(self.terms) > 1:
                yield foreseen(self._without(i), place, 0.0)
            for near in simple_near(value):
                set_one = replace(self._with_coefficients([i], [near]), simple=self.simple | {i})
                yield foreseen(set_one, place, near)

    def _residuals(self, table: Table) -> np.ndarray:
        """(row,) with the coefficients as they are."""
        with np.errstate(all="ignore"):
            terms = np.column_stack([tree.values(table.X) for tree in self.terms])
            return (table.y - self.outer.backward(terms @ self.coefficients)) / table.sigma

    def _with_coefficients(self, places: Sequence[int], values: Iterable[float]) -> "Model":
        coefficients = list(self.coefficients)
        for place, value in zip(places, values, strict=True):
            coefficients[place] = float(value)
        return replace(self, coefficients=tuple(coefficients))

    def _without(self, place: int) -> "Model":
        """Without a term."""
        rest = [i for i in range(len(self.terms)) if i != place]
        return replace(
            self,
            terms=tuple(self.terms[i] for i in rest),
            coefficients=tuple(self.coefficients[i] for i in rest),
            simple=frozenset(rest.index(i) for i in self.simple if i != place),
        )

    def _with_number(self, place: int, value: float) -> "Model":
        """One free number set."""
        count = 0
        terms = []
        for tree in self.terms:
            own = len(list(tree.numbers()))
            inside = place - count
            terms.append(_set(tree, inside, value)[0] if 0 <= inside < own else tree)
            count += own
        return replace(self, terms=tuple(terms))


def _set(tree: Tree, place: int, value: float) -> tuple[Tree, int]:
    """A tree with its free number at a place set to a value; and the places left to count."""
    parts = []
    for part in tree.parts:
        changed, place = _set(part, place, value)
        parts.append(changed)
    if tree.free:
        if place == 0:
            return replace(tree, parts=tuple(parts), number=value, free=False), -1
        place -= 1
    return replace(tree, parts=tuple(parts)), place
