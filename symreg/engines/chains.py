"""Chains: the target through inverse functions, as a sum of entries of a dictionary, exactly."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from orbits.printing import plural
from symreg.engines.base import Family
from symreg.enumeration.chains import LONGEST, ChainSearch
from symreg.enumeration.model import FitTable
from symreg.formulas.watch import Watch


class ChainsEngine(Family):
    """Functions within functions, of tables without noise; says how many it asked for."""

    name: ClassVar[str] = "chains"

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Shortest description first; none where none is exact."""
        if not np.any(y):
            return []
        allows = self.question.allows if self.question.operators else None
        search = ChainSearch(FitTable.of(X, y, np.ones(len(y))), watch, rng, allows)
        models = search.run()
        if search.asked:
            told = f"no chain of up to {plural(LONGEST, 'function')} around a sum of two is exact"
            self.exhausted = (f"{told}, of {search.asked} tried",)
        return [model.expression(symbols) for model in models]
