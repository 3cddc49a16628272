"""Expressions: all small ones over the columns, sums of two and three, then longer sums."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Family, Question
from symreg.enumeration.model import FitTable
from symreg.enumeration.search import EFFORTS, Effort, ExpressionSearch
from symreg.formulas.watch import Watch


class ExpressionsEngine(Family):
    """Bottom-up enumeration; says which sizes it exhausted."""

    name: ClassVar[str] = "expressions"

    def __init__(
        self, question: Question | None = None, efforts: Sequence[Effort] = EFFORTS
    ) -> None:
        super().__init__(question)
        self.efforts = efforts

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Shortest description first."""
        if not np.any(y):
            return []
        allows = self.question.allows if self.question.operators else None
        search = ExpressionSearch(FitTable.of(X, y, np.ones(len(y))), watch, rng, allows)
        models = search.run(self.efforts)
        self.exhausted = tuple(filter(None, (str(search.exhausted),)))
        return [model.expression(symbols) for model in models]
