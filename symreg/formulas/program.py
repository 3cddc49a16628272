"""A formula as steps over rows: its values, and in the same pass its slopes by its constants.

Derivatives go forward through the steps, and only by the constants that a step holds; what holds
none is evaluated once for all steps of a fit. sympy's `lambdify` takes 14 ms to compile a formula,
as long as hundreds of its evaluations; only what has no rule here is left to it.

Source: Griewank & Walther, Evaluating Derivatives (2008), section 3.1, for the forward mode.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from symreg.formulas.functions import FUNCTIONS, Value

Slopes = dict[int, Value]
"""By the place of a constant."""

NUMBER, COLUMN, CONSTANT, OPAQUE = "number", "column", "constant", "opaque"
CENTRAL = 1e-6
"""Relative step of a central difference, which costs half the digits of float64."""


class Opaque(NamedTuple):
    """A part of a formula that sympy compiles: of columns by key, then of constants by place."""

    function: Callable[..., Value]
    columns: tuple[Hashable, ...]
    constants: tuple[int, ...]


class Step(NamedTuple):
    """One operation on earlier steps, and what it needs besides: a number, a key, a place."""

    kind: str
    parts: tuple[int, ...] = ()
    of: Any = None


class Program:
    """Steps; equal ones are made once, and the last is the formula.

    Attributes:
        steps: in an order in which they can be evaluated.
        constants: places of those that each step holds.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.constants: list[frozenset[int]] = []
        self._places: dict[Step, int] = {}

    def add(self, kind: str, parts: Sequence[int] = (), of: Any = None) -> int:
        """The place of a step."""
        step = Step(kind, tuple(parts), of)
        if step not in self._places:
            own = (of,) if kind == CONSTANT else of.constants if kind == OPAQUE else ()
            self.constants.append(frozenset(own).union(*(self.constants[p] for p in parts)))
            self._places[step] = len(self.steps)
            self.steps.append(step)
        return self._places[step]


class ProgramRows:
    """A program on the rows of a table, by the key of each column."""

    def __init__(self, program: Program, columns: Mapping[Hashable, np.ndarray]):
        self._columns, self._sloped = columns, True
        self.constants = len(program.constants[-1])
        self._known: list[tuple[Value, Slopes]] = []
        self._moving: list[tuple[int, Step]] = []
        with np.errstate(all="ignore"):
            for place, step in enumerate(program.steps):
                if program.constants[place]:
                    self._moving.append((place, step))
                    self._known.append((None, {}))
                else:
                    self._known.append(self._applied(step, self._known, ()))

    def at(
        self, constants: Sequence[Value] | np.ndarray, slopes: bool = True
    ) -> tuple[Value, Slopes]:
        """Values at the constants, and slopes by them if wanted; of (model, 1) constants for every
        model."""
        nodes, self._sloped = [*self._known], slopes
        numbers = [np.asarray(value, float)[()] for value in constants]
        with np.errstate(all="ignore"):
            for place, step in self._moving:
                nodes[place] = self._applied(step, nodes, numbers)
        return nodes[-1]

    def _applied(
        self, step: Step, nodes: Sequence[tuple[Value, Slopes]], constants: Sequence[Value]
    ) -> tuple[Value, Slopes]:
        kind, of = step.kind, step.of
        if kind == NUMBER:
            return np.float64(of), {}
        if kind == COLUMN:
            return self._columns[of], {}
        if kind == CONSTANT:
            return constants[of], {of: 1.0} if self._sloped else {}
        if kind == OPAQUE:
            return self._compiled(of, constants)
        first, *rest = (nodes[place] for place in step.parts)
        if kind in FUNCTIONS:
            u, inner = first
            v = FUNCTIONS[kind].value(u)
            return v, _times(inner, FUNCTIONS[kind].slope(u, v)) if inner else inner
        for other in rest:
            first = COMBINED[kind](*first, *other)
        return first

    def _compiled(self, of: Opaque, constants: Sequence[Value]) -> tuple[Value, Slopes]:
        """Values, NaN where they are not real, and slopes by central differences."""
        columns = [self._columns[key] for key in of.columns]
        start = np.array([constants[place] for place in of.constants])

        def value(numbers: np.ndarray) -> Value:
            values = np.asarray(of.function(*columns, *numbers))
            return np.where(values.imag != 0, np.nan, values.real)

        slopes: Slopes = {}
        steps = CENTRAL * np.where(start == 0, 1.0, np.abs(start))
        for i, place in enumerate(of.constants if self._sloped else ()):
            move = np.zeros_like(steps)
            move[i] = steps[i]
            slopes[place] = (value(start + move) - value(start - move)) / (2 * steps[i])
        return value(start), slopes


def _times(slopes: Slopes, factor: Value) -> Slopes:
    return {place: slope * factor for place, slope in slopes.items()}


def _together(first: Slopes, second: Slopes) -> Slopes:
    if not first or not second:
        return first or second
    whole = {**first}
    for place, slope in second.items():
        whole[place] = whole[place] + slope if place in whole else slope
    return whole


def _sum(a: Value, da: Slopes, b: Value, db: Slopes) -> tuple[Value, Slopes]:
    return a + b, _together(da, db)


def _product(a: Value, da: Slopes, b: Value, db: Slopes) -> tuple[Value, Slopes]:
    return a * b, _together(_times(da, b), _times(db, a))


def _quotient(a: Value, da: Slopes, b: Value, db: Slopes) -> tuple[Value, Slopes]:
    value = a / b
    return value, _together(_times(da, 1 / b), _times(db, -value / b) if db else db)


def _power(a: Value, da: Slopes, b: Value, db: Slopes) -> tuple[Value, Slopes]:
    value = a**b
    by_base = _times(da, b * a ** (b - 1)) if da else da
    return value, _together(by_base, _times(db, value * np.log(a)) if db else db)


COMBINED = {"+": _sum, "*": _product, "/": _quotient, "^": _power}
"""Operations on values and slopes of two steps."""
