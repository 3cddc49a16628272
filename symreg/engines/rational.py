"""Rational: polynomials and quotients of polynomials, by a null vector of their coefficients."""

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar, NamedTuple

import numpy as np
import sympy

from orbits.time_limit import TooLongError, limited
from symreg.engines.base import Family, Question, is_exact, is_final
from symreg.enumeration.algebraic import Degrees, Relation, exact_relation
from symreg.enumeration.model import FitTable
from symreg.enumeration.rational import quotient_degrees, scale_of, search_quotients
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate
from symreg.formulas.numbers import is_simple
from symreg.formulas.precision import FITTED
from symreg.formulas.watch import Watch
from symreg.formulas.written import simplest
from symreg.search.outer import IDENTITY, OUTER, Outer

SECONDS = 3.0
"""In which sympy solves a relation: of long decimals factors take minutes."""


class RationalEngine(Family):
    """Exact p(x)/q(x), under roots, exponentials and logarithms too, and sparse ones with noise.

    Args:
        question: what is searched.
        exact: whether to look for exact ones.
        sparse: whether to look for those of few terms, with noise.
    """

    name: ClassVar[str] = "rational"

    def __init__(
        self, question: Question | None = None, exact: bool = True, sparse: bool = True
    ) -> None:
        super().__init__(question)
        self.exact, self.sparse = exact, sparse

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Exact ones if there are any, else those of y itself."""
        degrees = quotient_degrees(X.shape[1])
        if self.exact:
            samples = Samples(X, y, tuple(map(str, symbols)), np.arange(len(y)))
            if formulas := exact_formulas(Ask(X, symbols, degrees), samples, watch):
                return formulas
            if not watch.over:
                above, below = degrees[-1]
                told = f"no quotient of polynomials of degree {above} and {below} is exact"
                self.exhausted = (told,)
        if not self.sparse or not np.any(y):
            return []
        table = FitTable.of(X, y, np.ones(len(y)))
        return [quotient.expression(symbols) for quotient in search_quotients(table, watch)]


class Ask(NamedTuple):
    """Which exact relation is asked for.

    Attributes:
        columns: (row, column) features, or functions of these.
        written: (column,) in sympy.
        degrees: of the polynomials, those of few coefficients first.
        outers: functions of y, whose inverses are asked.
        linear: of the last columns, of which a term has one at most, and no power.
    """

    columns: np.ndarray
    written: Sequence[sympy.Expr]
    degrees: Sequence[Degrees]
    outers: Sequence[Outer] = (IDENTITY, *OUTER[1:])
    linear: int = 0


def exact_formulas(ask: Ask, samples: Samples, watch: Watch) -> list[sympy.Expr]:
    """Ways to write y where it, or an inverse of it, has an exact algebraic relation; none if not.

    Args:
        ask: for which.
        samples: the features and y.
        watch: may end it.
    """
    columns, y = ask.columns, samples.y
    formulas: list[sympy.Expr] = []
    for outer in ask.outers:
        column, factor = np.ones(len(y)), sympy.Integer(1)
        if not outer.allowed(y):
            # m·v/sqrt(1 - v²/c²) has no logarithm or root where v is negative
            column, factor = _of_one_sign(columns, y, ask.written)
        rest = y / column
        if not outer.allowed(rest) or not np.any(y) or watch.over:
            continue
        table = FitTable(columns, outer.forward(rest), np.ones(len(y)))
        found = exact_relation(table, ask.degrees, watch, ask.linear)
        if found is None:
            continue
        ways = [way for way in _ways(found, ask, factor, outer) if _is_near(way, samples)]
        ways += [simplest(way, samples) for way in ways]
        formulas += [each for each in ways if is_exact(each, samples.X, y, samples.names)]
        # of what is not exact to the last digits another may be the law, and this its expansion
        if any(is_final(each, samples.X, y, samples.names) for each in formulas):
            break
    return formulas


def _ways(found: Relation, ask: Ask, factor: sympy.Expr, outer: Outer) -> list[sympy.Expr]:
    """Ways to write y of a relation of its inverse, as many as sympy finds in its time."""
    unknown = sympy.symbols(f"x:{len(ask.written)}", cls=sympy.Dummy)
    places = dict(zip(unknown, ask.written, strict=True))
    ways: list[sympy.Expr] = []

    def solve() -> None:
        for way in found.solved(scale_of(ask.columns), unknown):
            ways.append(_in_floats(factor * outer.written(way.xreplace(places))))

    with suppress(TooLongError):
        limited(SECONDS, "it takes too long", solve)
    return ways


def _in_floats(formula: sympy.Expr) -> sympy.Expr:
    """With simple numbers alone exact: others are fitted."""
    numbers = {each for each in formula.atoms(sympy.Rational) if not is_simple(float(each))}
    return formula.xreplace({each: sympy.Float(each) for each in numbers})


def _is_near(formula: sympy.Expr, samples: Samples) -> bool:
    """Whether it has the target's values, up to fitted digits: of two roots one has."""
    left = np.abs(evaluate(formula, samples.names, samples.X) - samples.y)
    return bool(np.median(left) <= FITTED * np.median(np.abs(samples.y)))


def _of_one_sign(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Expr]
) -> tuple[np.ndarray, sympy.Expr]:
    """The first column over which a target is positive, or its negative; one if there is none."""
    for column, symbol in zip(X.T, symbols, strict=True):
        for sign in (1, -1):
            if np.all(sign * column * y > 0):
                return sign * column, sign * symbol
    return np.ones(len(y)), sympy.Integer(1)
