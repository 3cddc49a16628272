"""Rational: polynomials and quotients of polynomials, by a null vector of their coefficients."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Budget, Candidate, Engine, Question, pareto_front
from symreg.enumeration.model import Table
from symreg.enumeration.rational import search_quotients
from symreg.formulas.expressions import feature_symbols
from symreg.search.outer import IDENTITY, OUTER


class RationalEngine(Engine):
    """Sparse p(x)/q(x) of up to so many degrees as the rows allow; exact ones under roots,
    exponentials and logarithms too.

    Args:
        question: what is searched.
        exact: whether to look for quotients that leave only rounding, in a tenth of a second.
        sparse: whether to look for those of few terms, with noise.
    """

    name: ClassVar[str] = "rational"
    exhaustive: ClassVar[bool] = True

    def __init__(
        self, question: Question | None = None, exact: bool = True, sparse: bool = True
    ) -> None:
        super().__init__(question)
        self.exact, self.sparse = exact, sparse

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front; see the contract in `symreg.engines.base`."""
        if not np.any(y):
            return []
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(y), min(budget.rows, len(y)), replace=False))
        X_few, y_few = X[chosen], y[chosen]
        symbols = feature_symbols(names, X)
        formulas: list[sympy.Expr] = []
        with np.errstate(all="ignore"):
            for outer in (IDENTITY, *OUTER[1:]) if self.exact else (IDENTITY,):
                column, factor = np.ones(len(y_few)), sympy.Integer(1)
                if not outer.allowed(y_few):
                    # m·v/sqrt(1 - v²/c²) has no logarithm or root where v is negative
                    column, factor = _of_one_sign(X_few, y_few, symbols)
                rest = y_few / column
                if not outer.allowed(rest):
                    continue
                sigma = np.abs(outer.slope(rest) / column)
                table = Table.of(X_few, outer.forward(rest), sigma)
                only_exact = not self.sparse or outer is not IDENTITY
                quotients, exhausted = search_quotients(table, budget.watch, only_exact)
                if outer is IDENTITY:
                    self.exhausted = (exhausted,) if exhausted else ()
                formulas += [factor * outer.written(q.expression(symbols)) for q in quotients]
                if budget.watch.over or any(quotient.is_final for quotient in quotients):
                    break
        return pareto_front(formulas, X, y, names, seed, self.name, self.question, True)


def _of_one_sign(
    X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> tuple[np.ndarray, sympy.Expr]:
    """The first column over which a target is positive, or its negative; one if there is none."""
    for column, symbol in zip(X.T, symbols, strict=True):
        for sign in (1, -1):
            if np.all(sign * column * y > 0):
                return sign * column, sign * symbol
    return np.ones(len(y)), sympy.Integer(1)
