"""Algebraic: exact relations between y, the columns and functions of columns, without noise.

Quotients of polynomials of high degree and roots beside them, then quotients with functions of
columns: `(a + b·log x)/(c + z)` is one in x, z and log x.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb
from typing import ClassVar, NamedTuple

import numpy as np
import sympy

from symreg.engines.base import Family
from symreg.engines.rational import Ask, exact_formulas
from symreg.enumeration.algebraic import SPARE, Degrees
from symreg.enumeration.rational import coefficients_of
from symreg.fit.samples import Samples
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.precision import DOUBLE, rounding
from symreg.formulas.watch import Watch
from symreg.search.outer import IDENTITY, OUTER

LARGEST, FEW, LARGEST_BELOW, LARGEST_SQUARE = 7, 10, 5, 2
"""Degrees in A + B·y + C·y² = 0: of A, as much as twice that of a polynomial beside a root, of A in
one or two columns, of B and of C."""
BESIDE = ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2), (5, 1), (5, 2), (5, 3), (6, 2))
BESIDE_ROOTS = ((2, 1, 0), (3, 2, 0), (4, 2, 0), (4, 3, 1), (5, 3, 1))
MOST_BESIDE, MOST_SETS, MOST_WORK = 150, 200, 6_000_000
"""Degrees with functions beside the columns, those of relations of degree two, and the most
coefficients; sets of as many functions (of four columns all pairs, of two all triples); and squares
of coefficients in all, some seconds."""
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
        for ask in _asks(X, symbols):
            formulas = exact_formulas(ask, samples, watch)
            if formulas or watch.over:
                return formulas
        self.exhausted = ("no algebraic relation of degree two in the target is exact",)
        return []


def _asks(X: np.ndarray, symbols: Sequence[sympy.Symbol]) -> Iterator[Ask]:
    """Of the columns alone, then with functions beside them until the work is done."""
    rows, variables = X.shape
    once, twice = (relation_degrees(rows, variables, powers) for powers in (1, 2))
    yield Ask(X, symbols, [*once, *twice], [IDENTITY])
    yield Ask(X, symbols, once, OUTER[1:])
    work = 0
    for columns, written, linear in with_functions(X, symbols):
        one = linear == 1
        # a function beside a root, and under a logarithm
        degrees: list[Degrees] = [*BESIDE, *(BESIDE_ROOTS if one else ())]
        counts = {each: coefficients_of(len(written), each, linear) for each in degrees}
        some = [each for each in degrees if counts[each] <= min(MOST_BESIDE, rows - SPARE)]
        some.sort(key=counts.__getitem__)
        work += sum(counts[each] ** 2 for each in some)
        if work > MOST_WORK:
            return
        yield Ask(columns, written, some, [IDENTITY, *(OUTER[-1:] if one else ())], linear)


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
    X: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> Iterator[tuple[np.ndarray, list[sympy.Expr], int]]:
    """(row, column) values, in sympy, and how many of the last are functions: the columns with one,
    two or three functions, one of each, or one of a power, product, quotient, sum or difference of
    columns; a root stands in place of its column, which is its square.
    """
    plain = _functions(X, symbols)
    sets: list[tuple[_Beside, ...]] = [(each,) for each in plain]
    sets += combinations(plain, 2) if comb(len(plain), 2) <= MOST_SETS else []
    sets += [tuple(each for each in plain if each.kind == kind) for kind in OF_COLUMNS]
    sets += [(each,) for each in _functions(*_arguments(X, symbols))]
    sets += combinations(plain, 3) if comb(len(plain), 3) <= MOST_SETS else []
    for some in sets:
        columns, written = list(X.T), list(symbols)
        for each in some:
            if each.kind == "sqrt" and each.argument in symbols:
                place = symbols.index(each.argument)
                columns[place], written[place] = each.values, each.written
            else:
                columns.append(each.values)
                written.append(each.written)
        yield np.column_stack(columns), written, len(written) - len(symbols)


class _Beside(NamedTuple):
    """A function of an argument: (row,) values, and in sympy."""

    kind: str
    argument: sympy.Expr
    values: np.ndarray
    written: sympy.Expr


def _functions(X: np.ndarray, arguments: Sequence[sympy.Expr]) -> list[_Beside]:
    """Those of (row, argument) values that are finite."""
    every = (
        _Beside(kind, argument, FUNCTIONS[kind].value(column), FUNCTIONS[kind].write(argument))
        for column, argument in zip(X.T, arguments, strict=True)
        for kind in OF_COLUMNS
    )
    return [
        each
        for each in every
        if np.all(np.isfinite(each.values)) and np.max(np.abs(each.values)) < STEEPEST
    ]


def _arguments(
    X: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> tuple[np.ndarray, list[sympy.Expr]]:
    """Of one column and of two: (row, argument) values, and in sympy."""
    pairs = list(zip(X.T, symbols, strict=True))
    made = [(x ** float(p), s**p) for x, s in pairs for p in (sympy.Rational(1, 2), 2, -1)]
    for (x, s), (z, t) in combinations(pairs, 2):
        made += [(x * z, s * t), (x / z, s / t), (z / x, t / s), (x + z, s + t), (x - z, s - t)]
    return np.column_stack([values for values, _ in made]), [written for _, written in made]
