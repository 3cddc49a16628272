"""A target as a function of a sum of trees: fitted, its numbers improved, its terms dropped.

The coefficients of the terms are solved for inside (variable projection: Golub & Pereyra, Inverse
Problems 19, R1, 2003), so that only the numbers within the terms are searched. What to keep is
decided by description length.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, repeat

import numpy as np
import sympy

from symreg.enumeration.tree import Tree
from symreg.formulas.numbers import exact, simple_near
from symreg.formulas.precision import LAST_DIGITS, leaves_rounding
from symreg.formulas.program import ProgramRows
from symreg.search.description import length
from symreg.search.outer import IDENTITY, Outer
from symreg.search.polish import Projected, in_batches, least_squares, projected_with, uncertainty

MANY_STEPS, FEW_STEPS, MOST_REFUSED = 30, 6, 40
"""Of a polish, and from a near start; changes of a model that are fitted in all."""
UNFIT = 1e3
"""Residual, over the error's scale, where a formula is undefined."""


@dataclass(frozen=True)
class FitTable:
    """Rows to fit: X (row, column), y (row,), and the error of y (row,) up to a factor.

    The errors are such that a prediction of zero has mean square one.
    """

    X: np.ndarray
    y: np.ndarray
    sigma: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, y: np.ndarray, sigma: np.ndarray) -> "FitTable":
        """With errors in proportion to `sigma`."""
        return cls(X, y, sigma * np.sqrt(np.mean((y / sigma) ** 2)))

    def rows(self, chosen: np.ndarray) -> "FitTable":
        """Some of the rows."""
        return FitTable.of(self.X[chosen], self.y[chosen], self.sigma[chosen])


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
        symbols = self.outer.symbols + sum(tree.size + 1 for tree in self.terms) - 1
        return length(self.mean_square, rows, symbols, (*self.coefficients, *self.numbers()))

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

    def polished(self, table: FitTable, steps: int = MANY_STEPS) -> "Model":
        """With the best numbers within the terms too, from where they are."""
        return polished([self], table, steps)[0]

    def shortened(self, table: FitTable) -> "Model":
        """Terms dropped, and numbers set to simple ones, while the description gets shorter.

        What a change costs is foreseen from the slopes of the residuals, others refitted: of
        parameter j by d it raises their sum of squares by d²/[(JᵀJ)⁻¹]ⱼⱼ. Only what promises a
        shorter description is fitted.
        """
        best, rows = self.polished(table), len(table.y)
        refused: set[tuple] = set()
        while len(refused) < MOST_REFUSED:
            least = best.description(rows)
            proposals = [
                (length, model)
                for length, model in best._proposals(table)
                if length < least and (model.terms, model.simple) not in refused
            ]
            if not proposals:
                break
            _, trial = min(proposals, key=lambda each: each[0])
            refused.add((trial.terms, trial.simple))
            trial = trial.polished(table, FEW_STEPS)
            if trial.description(rows) < least:
                best = trial
        return best

    def _proposals(self, table: FitTable) -> Iterator[tuple[float, "Model"]]:
        """Models with one number or coefficient fewer, and the description foreseen."""
        numbers, rows = self.numbers(), len(table.y)
        free = [i for i in range(len(self.terms)) if i not in self.simple]
        values = np.array([*numbers, *(self.coefficients[i] for i in free)])
        jacobian = _ModelBatch([self], table).slopes()
        if not jacobian.size or not np.all(np.isfinite(jacobian)):
            return
        unsure = uncertainty(jacobian)

        def foreseen(model: Model, place: int, value: float) -> tuple[float, Model]:
            square = self.mean_square + (value - values[place]) ** 2 / unsure[place] / rows
            return replace(model, mean_square=square).description(rows), model

        for place, value in enumerate(numbers):
            for near in simple_near(value):
                yield foreseen(self._with_number(place, near), place, near)
        for place, i in enumerate(free, len(numbers)):
            value = self.coefficients[i]
            if len(self.terms) > 1:
                yield foreseen(self._without(i), place, 0.0)
            for near in simple_near(value):
                changed = (*self.coefficients[:i], near, *self.coefficients[i + 1 :])
                set_one = replace(self, coefficients=changed, simple=self.simple | {i})
                yield foreseen(set_one, place, near)

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
        places = count()
        return replace(self, terms=tuple(t.with_number(place, value, places) for t in self.terms))


def fitted(models: Sequence[Model], table: FitTable) -> list[Model]:
    """Models with their best coefficients."""
    return in_batches(models, _kind, lambda batch: _ModelBatch(batch, table).fitted())


def polished(models: Sequence[Model], table: FitTable, steps: int = MANY_STEPS) -> list[Model]:
    """Models with the best numbers within their terms too, from where they are."""
    return in_batches(models, _kind, lambda batch: _ModelBatch(batch, table).polished(steps))


def _kind(model: Model) -> tuple[int, ...]:
    """Models of one outer function, with as many terms and numbers, are one array."""
    return id(model.outer), len(model.terms), len(model.numbers()), len(model.simple)


class _ModelBatch:
    """Models of one outer function, with as many terms, numbers and set coefficients."""

    def __init__(self, models: Sequence[Model], table: FitTable):
        self._models, self._table = models, table
        self._weight, self._wanted = models[0].outer.weighted(table.y, table.sigma)
        self._start = np.array([model.numbers() for model in models])
        self._places = np.arange(len(models))
        columns: dict[Hashable, np.ndarray] = dict(enumerate(table.X.T))
        values: dict[int, np.ndarray] = {}
        self._design = np.empty((len(models), len(table.y), len(models[0].terms)))
        self._owners = np.zeros(self._start.shape, dtype=int)
        """(model, number) the terms that hold the numbers."""
        self._moving: dict[Tree, tuple[ProgramRows, list[tuple[int, int, int]]]] = {}
        """Terms that differ in their numbers alone are evaluated as one: how, and of each the
        model, its place there, and the first of its numbers."""
        for place, model in enumerate(models):
            begin = 0
            for term, tree in enumerate(model.terms):
                end = begin + sum(1 for _ in tree.numbers())
                if end > begin:
                    form = tree.at(repeat(0.0))
                    if form not in self._moving:
                        self._moving[form] = ProgramRows(form.program(), columns), []
                    self._moving[form][1].append((place, term, begin))
                    self._owners[place, begin:end] = term
                else:
                    if id(tree) not in values:
                        values[id(tree)] = tree.values(table.X)
                    self._design[place, :, term] = values[id(tree)]
                begin = end
        terms = len(models[0].terms)
        self._set = np.array([sorted(model.simple) for model in models], dtype=int)
        free = [[i for i in range(terms) if i not in model.simple] for model in models]
        self._free = np.array(free, dtype=int)
        self._given = np.array([model.coefficients or (0.0,) * terms for model in models])

    def fitted(self) -> list[Model]:
        """With the best coefficients."""
        return self._fits(self._models, self._start)

    def polished(self, steps: int) -> list[Model]:
        """With the best numbers too: an outer function's residuals are those of its inverse."""
        first, numbers = self.fitted(), self._start.shape[1]
        if not numbers or numbers + len(first[0].terms) >= len(self._table.y):
            return first
        best = least_squares(self._residuals, self._start, steps)
        moved = [model.at(own) for model, own in zip(self._models, best, strict=True)]
        return [
            min(pair, key=lambda model: model.mean_square)
            for pair in zip(first, self._fits(moved, best), strict=True)
        ]

    def _fits(self, models: Sequence[Model], numbers: np.ndarray) -> list[Model]:
        """Models of these numbers with the best coefficients."""
        design, _ = self._at(numbers, self._places)
        coefficients, solved = self._solved(design, self._places)
        left = self._left(design, coefficients, solved.residuals)
        squares = np.mean(np.where(np.isfinite(left), left, UNFIT) ** 2, axis=1)
        return [
            replace(model, coefficients=tuple(map(float, own)), mean_square=float(square))
            for model, own, square in zip(models, coefficients, squares, strict=True)
        ]

    def slopes(self) -> np.ndarray:
        """(row, number or free coefficient) of the first model's residuals, as it is."""
        (design,), (slopes,) = self._at(self._start, self._places)
        outer, (given,), (free,) = self._models[0].outer, self._given, self._free
        gain = -1 / (outer.slope(outer.backward(design @ given)) * self._table.sigma)
        return gain[:, None] * np.column_stack([slopes * given[self._owners[0]], design[:, free]])

    def _residuals(self, numbers: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        design, slopes = self._at(numbers, places)
        coefficients, solved = self._solved(design, places)
        linear = np.take_along_axis(coefficients, self._owners[places], axis=1)
        tangents = slopes * linear[:, None, :] * self._weight[:, None]
        return solved.residuals, solved.slopes(np.where(np.isfinite(tangents), tangents, 0.0))

    def _at(self, numbers: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The terms (model, row, term) at the numbers, and their slopes (model, row, number)."""
        design = self._design[places]
        slopes = np.zeros((*design.shape[:2], numbers.shape[1]))
        here = np.full(len(self._models), -1)
        here[places] = np.arange(len(places))
        for rows, owners in self._moving.values():
            place, term, begin = np.array(owners).T
            at, use = here[place], here[place] >= 0
            at, term, begin = at[use], term[use], begin[use]
            count = rows.constants
            value, by_number = rows.at([numbers[at, begin + i, None] for i in range(count)])
            design[at, :, term] = value
            for i, slope in by_number.items():
                slopes[at, :, begin + i] = slope
        return design, slopes

    def _solved(self, design: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, Projected]:
        """All coefficients (model, term), those that are not set solved for."""
        return projected_with(
            design * self._weight[:, None], self._wanted, self._given[places],
            self._set[places], self._free[places],
        )  # fmt: skip

    def _left(
        self, design: np.ndarray, coefficients: np.ndarray, residuals: np.ndarray
    ) -> np.ndarray:
        """(model, row) what is left of the target itself."""
        outer = self._models[0].outer
        if outer is IDENTITY:
            return residuals
        whole = np.einsum("mrc,mc->mr", design, coefficients)
        return np.asarray((self._table.y - outer.backward(whole)) / self._table.sigma)
