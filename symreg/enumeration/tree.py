"""An expression as a tree with numbers: evaluated, written in sympy, its numbers changed."""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import sympy

from symreg.formulas.functions import FUNCTIONS, Function
from symreg.formulas.numbers import exact
from symreg.formulas.program import COLUMN, CONSTANT, NUMBER, Program, ProgramRows

ONE, SCALE, SHIFT, POWER = "one", "scale", "shift", "power"
BINARY: dict[str, Callable] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}
"""Operations of two parts."""
NUMBERED = {SCALE: "*", SHIFT: "+", POWER: "^"}
"""Those of a part and a number."""


@dataclass(frozen=True)
class Tree:
    """A node with its parts.

    Attributes:
        kind: `one`; `column`; `scale` (number times part), `shift` (part plus number), `power`
            (part to the number); a function's name; or an operation of two parts.
        parts: trees.
        number: of a scale, shift or power; index of a column.
        free: whether the number may be fitted.
    """

    kind: str
    parts: tuple["Tree", ...] = ()
    number: float = 0.0
    free: bool = False

    def values(self, X: np.ndarray) -> np.ndarray:
        """(row,) for X (row, column), float64; not finite where undefined."""
        ones = np.ones(len(X))
        return np.asarray(self._over(X.T, ones, float, lambda function: function.value))

    def written(self, symbols: Sequence[sympy.Symbol]) -> sympy.Expr:
        """In sympy; whole and half numbers exactly, others as floats."""
        one = sympy.Integer(1)
        return self._over(symbols, one, exact, lambda function: function.write)

    def _over(
        self, columns: Any, one: Any, number: Callable, function: Callable[[Function], Callable]
    ) -> Any:
        """Of columns and of a constant, as arrays or in sympy: numbers and functions in kind."""
        if self.kind == ONE:
            return one
        if self.kind == COLUMN:
            return columns[int(self.number)]
        parts = [part._over(columns, one, number, function) for part in self.parts]
        if self.kind in FUNCTIONS:
            return function(FUNCTIONS[self.kind])(parts[0])
        if self.kind in NUMBERED:
            parts.append(number(self.number))
        return BINARY[NUMBERED.get(self.kind, self.kind)](*parts)

    def curves(self, X: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """(number, row) values of a tree with one number, at many."""
        rows = ProgramRows(self.program(), dict(enumerate(X.T)))
        return np.asarray(rows.at([numbers[:, None]], slopes=False)[0])

    def program(self) -> Program:
        """Its steps, over columns by index and its numbers by place."""
        program = Program()
        self._add(program, count())
        return program

    def _add(self, program: Program, places: Iterator[int]) -> int:
        if self.kind == ONE:
            return program.add(NUMBER, of=1.0)
        if self.kind == COLUMN:
            return program.add(COLUMN, of=int(self.number))
        parts = [part._add(program, places) for part in self.parts]
        if self.kind == "-":
            parts[1] = program.add("*", (program.add(NUMBER, of=-1.0), parts[1]))
            return program.add("+", parts)
        if self.kind in NUMBERED:
            own = program.add(CONSTANT, of=next(places)) if self.free else None
            parts.append(program.add(NUMBER, of=self.number) if own is None else own)
        return program.add(NUMBERED.get(self.kind, self.kind), parts)

    @property
    def is_monomial(self) -> bool:
        """Whether it is a product of powers of columns."""
        products = self.kind in (COLUMN, POWER, "*", "/")
        return products and all(part.is_monomial for part in self.parts)

    @property
    def size(self) -> int:
        """Symbols: nodes that are no number of one."""
        own = 0 if self.kind == SCALE and abs(self.number) == 1 else 1
        return own + sum(part.size for part in self.parts)

    def numbers(self) -> Iterator[float]:
        """The numbers that may be fitted, from left to right."""
        for part in self.parts:
            yield from part.numbers()
        if self.free:
            yield self.number

    def at(self, numbers: Iterator[float]) -> "Tree":
        """The same with other numbers, in the order of `numbers`."""
        if not self.parts:
            return self
        parts = tuple(part.at(numbers) for part in self.parts)
        return replace(self, parts=parts, number=next(numbers) if self.free else self.number)

    def with_number(self, place: int, value: float, places: Iterator[int]) -> "Tree":
        """The same with one of its free numbers, which `places` counts, set to a value."""
        parts = tuple(part.with_number(place, value, places) for part in self.parts)
        if self.free and next(places) == place:
            return replace(self, parts=parts, number=value, free=False)
        return replace(self, parts=parts)

    def loosened(self) -> "Tree":
        """The same with a free number wherever one can make a difference: in front of what a
        function is taken of, in front of the second part of a sum, and in every shift."""
        parts = tuple(part.loosened() for part in self.parts)
        if self.kind in FUNCTIONS and self.kind != "log":
            parts = (_scaled(parts[0]),)
        elif self.kind in ("+", "-"):
            parts = (parts[0], _scaled(parts[1]))
        # of 1 + s·u only s is free: a shift too would say nothing more, but for a factor in front
        scaled = bool(parts) and parts[0].kind == SCALE and parts[0].free
        return replace(self, parts=parts, free=self.free or (self.kind == SHIFT and not scaled))


def _scaled(tree: Tree) -> Tree:
    """A tree with a free number in front."""
    if tree.kind == SCALE:
        return replace(tree, free=True)
    return Tree(SCALE, (tree,), 1.0, True)
