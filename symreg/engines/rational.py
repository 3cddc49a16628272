"""Rational: polynomials and quotients of polynomials, by a null vector of their coefficients."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from symreg.engines.base import Budget, Candidate, Engine, pareto_front
from symreg.enumeration.model import Table
from symreg.enumeration.rational import search_quotients
from symreg.formulas.expressions import feature_symbols


class RationalEngine(Engine):
    """Sparse p(x)/q(x) of up to so many degrees as the rows allow."""

    name: ClassVar[str] = "rational"
    exhaustive: ClassVar[bool] = True

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front; see the contract in `symreg.engines.base`."""
        if not np.any(y):
            return []
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(y), min(budget.rows, len(y)), replace=False))
        table = Table.of(X[chosen], y[chosen], np.ones(len(chosen)))
        with np.errstate(all="ignore"):
            quotients, told = search_quotients(table, budget.watch)
        self.exhausted = (told,) if told else ()
        symbols = feature_symbols(names, X)
        formulas = [quotient.expression(symbols) for quotient in quotients]
        return pareto_front(formulas, X, y, names, seed, self.name, exhaustive=True)
