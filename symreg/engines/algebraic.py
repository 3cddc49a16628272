"""Algebraic: exact relations between y, the columns and functions of columns, without noise.

Quotients of polynomials of high degree and roots beside them, then quotients with functions of
columns: `(a + b·log x)/(c + z)` is one in x, z and log x.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Family
from symreg.engines.rational import exact_formulas
from symreg.enumeration.algebraic import SPARE, Degrees, coefficients_of
from symreg.fit.predictable import shows_noise
from symreg.fit.samples import Samples
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.precision import DOUBLE, rounding
from symreg.formulas.watch import Watch
from symreg.search.outer import IDENTITY, OUTER

LARGEST, FEW, LARGEST_BELOW, LARGEST_SQUARE = 7, 10, 5, 2
"""Degrees in A + B·y + C·y² = 0: of A, as much as twice that of a polynomial beside a root, of A in
one or two columns, of B and of C."""
BESIDE = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2), (5, 1), (5, 2), (5, 3), (6, 2))
MOST_BESIDE, MOST_SETS = 150, 200
"""Degrees with functions beside the columns, coefficients, and sets of as many functions: of four
columns all pairs, of two all triples, a hundredth of a second each."""
OF_COLUMNS = ("log", "sqrt", "exp", "sin", "cos")
STEEPEST = 1e12
"""Largest value of a function over the least: of more a relation has no digits left."""


class AlgebraicEngine(Family):
    """Exact relations of as many coefficients as the rows tell, of first and second degree in y."""

    name: ClassVar[str] = "algebraic"

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """The shortest ways to write y; none if nothing is exact."""
        if rounding(y) != DOUBLE:
            return []
        samples = Samples(X, y, tuple(map(str, symbols)), np.arange(len(y)))
        once, twice = (relation_degrees(*X.shape, powers) for powers in (1, 2))
        asks = [(X, symbols, [*once, *twice], [IDENTITY], 0), (X, symbols, once, OUTER[1:], 0)]
        for columns, written, linear in with_functions(X, symbols, 1 if shows_noise(y, X) else 3):
            most = min(MOST_BESIDE, len(y) - SPARE)
            some = [each for each in BESIDE if coefficients_of(len(written), each, linear) <= most]
            some.sort(key=lambda each: coefficients_of(len(written), each, linear))
            asks.append((columns, written, some, [IDENTITY], linear))
        for columns, written, degrees, outers, linear in asks:
            formulas = exact_formulas(columns, y, written, samples, degrees, watch, outers, linear)
            if formulas or watch.over:
                return formulas
        self.exhausted = ("no algebraic relation of degree two in the target is exact",)
        return []


def relation_degrees(rows: int, variables: int, powers: int) -> list[Degrees]:
    """Of relations with so many powers of y, and fewer coefficients than rows, those of few first.

    A root has the square of the denominator as C, at most B's degree, and A's is the largest.
    """
    largest = (LARGEST if variables > 2 else FEW), LARGEST_BELOW, LARGEST_SQUARE
    every = product(*(range(each + 1) for each in largest[: powers + 1]))
    some = [
        each for each in every
        if coefficients_of(variables, each) <= rows - SPARE
        and (powers < 2 or each[0] >= each[1] >= each[2])
    ]  # fmt: skip
    return sorted(some, key=lambda each: coefficients_of(variables, each))


def with_functions(
    X: np.ndarray, symbols: Sequence[sympy.Symbol], most: int
) -> Iterator[tuple[np.ndarray, list[sympy.Expr], int]]:
    """(row, column) values, in sympy, and how many of the last are functions: the columns with up
    to so many, or one of each; a root stands in place of its column, which is its square."""
    functions = [
        (kind, place, values)
        for place, column in enumerate(X.T)
        for kind in OF_COLUMNS
        if np.all(np.isfinite(values := FUNCTIONS[kind].value(column)))
        and np.max(np.abs(values)) < STEEPEST
    ]
    sets = [(each,) for each in functions]
    for count in range(2, most + 1):
        if comb(len(functions), count) <= MOST_SETS:
            sets += combinations(functions, count)
    sets += [tuple(each for each in functions if each[0] == kind) for kind in OF_COLUMNS]
    for some in sets:
        columns, written = list(X.T), list(symbols)
        for kind, place, values in some:
            formula = FUNCTIONS[kind].write(symbols[place])
            if kind == "sqrt":
                columns[place], written[place] = values, formula
            else:
                columns.append(values)
                written.append(formula)
        yield np.column_stack(columns), written, len(written) - len(symbols)
