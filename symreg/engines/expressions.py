"""Expressions: all small ones over the columns, sums of two and three, then longer sums."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from symreg.engines.base import Budget, Candidate, Engine, Question, pareto_front
from symreg.enumeration.model import Table
from symreg.enumeration.search import EFFORTS, Effort, Search
from symreg.formulas.expressions import feature_symbols


class ExpressionsEngine(Engine):
    """Bottom-up enumeration; says which sizes it exhausted."""

    name: ClassVar[str] = "expressions"
    exhaustive: ClassVar[bool] = True

    def __init__(
        self, question: Question | None = None, efforts: Sequence[Effort] = EFFORTS
    ) -> None:
        super().__init__(question)
        self.efforts = efforts

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front; see the contract in `symreg.engines.base`.

        The seed draws the rows; the rest is exhaustive.
        """
        if not np.any(y):
            return []
        rng = np.random.default_rng(seed)
        chosen = np.sort(rng.choice(len(y), min(budget.rows, len(y)), replace=False))
        table = Table.of(X[chosen], y[chosen], np.ones(len(chosen)))
        allows = self.question.allows if self.question.operators else None
        search = Search(table, budget.watch, rng, allows)
        models = search.run(self.efforts)
        self.exhausted = tuple(filter(None, (str(search.exhausted),)))
        symbols = feature_symbols(names, X)
        formulas = [model.expression(symbols) for model in models]
        return pareto_front(formulas, X, y, names, seed, self.name, self.question, True)
