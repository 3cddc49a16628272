"""Rational: polynomials and quotients of polynomials, by a null vector of their coefficients."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Family, Question
from symreg.enumeration.model import FitTable
from symreg.enumeration.rational import Exact, exact_quotients, search_quotients
from symreg.formulas.watch import Watch
from symreg.search.outer import IDENTITY, OUTER


class RationalEngine(Family):
    """Sparse p(x)/q(x) of up to so many degrees as the rows allow; exact ones under roots,
    exponentials and logarithms too.

    Args:
        question: what is searched.
        sparse: whether to look for those of few terms, with noise.
        after: one that has searched exact ones in the same rows, and hands on what it found.
    """

    name: ClassVar[str] = "rational"

    def __init__(
        self, question: Question | None = None, sparse: bool = True,
        after: "RationalEngine | None" = None,
    ) -> None:  # fmt: skip
        super().__init__(question)
        self.sparse, self._after = sparse, after
        self._exact: Exact | None = None

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Of y itself, and exact ones of its inverses."""
        formulas: list[sympy.Expr] = []
        for outer in (IDENTITY,) if self._after else (IDENTITY, *OUTER[1:]):
            column, factor = np.ones(len(y)), sympy.Integer(1)
            if not outer.allowed(y):
                # m·v/sqrt(1 - v²/c²) has no logarithm or root where v is negative
                column, factor = _of_one_sign(X, y, symbols)
            rest = y / column
            if not outer.allowed(rest) or not np.any(y):
                continue
            table = FitTable.of(X, outer.forward(rest), np.abs(outer.slope(rest) / column))
            exact = (self._after and self._after._exact) or exact_quotients(table, watch)
            quotients = exact.quotients
            if outer is IDENTITY:
                self._exact = exact
                self.exhausted = (exact.exhausted,) if exact.exhausted else ()
                if self.sparse:
                    quotients = search_quotients(table, watch, exact)
            formulas += [factor * outer.written(q.expression(symbols)) for q in quotients]
            if watch.over or any(quotient.is_final for quotient in quotients):
                break
        return formulas


def _of_one_sign(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> tuple[np.ndarray, sympy.Expr]:
    """The first column over which a target is positive, or its negative; one if there is none."""
    for column, symbol in zip(X.T, symbols, strict=True):
        for sign in (1, -1):
            if np.all(sign * column * y > 0):
                return sign * column, sign * symbol
    return np.ones(len(y)), sympy.Integer(1)
