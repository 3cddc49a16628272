"""Portfolio: the exhaustive search first, then an engine that evolves formulas, if need be.

The projection search is the same for every seed, so it runs once; where it is exact nothing else
is run. What it leaves goes to PySR where that is installed, with its best formulas as guesses, or
to Operon. All their formulas are judged together.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import (
    Availability,
    Budget,
    Candidate,
    Engine,
    explains_all,
    tell_best,
)
from symreg.engines.operon import OperonEngine
from symreg.engines.projection import ProjectionEngine
from symreg.engines.pysr import LEAST_SIZE, PySREngine, is_guess

GUESSES = 3
ROWS = 400


class PortfolioEngine(Engine):
    """Projection, then PySR or Operon on what it leaves."""

    name: ClassVar[str] = "portfolio"

    @classmethod
    def availability(cls) -> Availability:
        parts = [
            f"{engine.name}: {engine.availability().reason}"
            for engine in (PySREngine, OperonEngine)
        ]
        return Availability(True, "; ".join(["projection: built in", *parts]))

    def search_all(
        self,
        X: np.ndarray,
        y: np.ndarray,
        names: Sequence[str],
        seeds: Sequence[int],
        budget: Budget,
        jobs: int = 1,
    ) -> list[list[Candidate]]:
        """What the exhaustive search finds, and for every seed what the other engine adds."""
        found = ProjectionEngine(self.question).search(
            X, y, names, seeds[0], replace(budget, rows=ROWS)
        )
        tell_best(budget.watch, found)
        best = sorted(found, key=lambda candidate: candidate.loss)[:GUESSES]
        if budget.watch.over or (best and explains_all(best[0].expression, X, y, names)):
            return [found]
        guesses = tuple(sympy.sstr(candidate.expression, full_prec=True) for candidate in best)
        rest = self._evolving((*self.question.guesses, *guesses), budget)
        if rest is None:
            return [found]
        fronts = rest.search_all(X, y, names, seeds, budget, jobs)
        self.versions |= rest.versions
        return [[*found, *front] for front in fronts]

    def _evolving(self, guesses: Sequence[str], budget: Budget) -> Engine | None:
        """PySR where it can run, with the guesses that it takes; else Operon."""
        if PySREngine.availability().available and budget.max_size >= LEAST_SIZE:
            takes = tuple(guess for guess in guesses if is_guess(guess, self.question))
            return PySREngine(replace(self.question, guesses=takes))
        if OperonEngine.availability().available:
            return OperonEngine(self.question)
        return None
