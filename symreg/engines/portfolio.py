"""Portfolio: the exhaustive search first, then an engine that evolves formulas, if need be.

The projection search is the same for every seed, so it runs once; if it is exact nothing else runs.
Otherwise PySR, if installed, starts from its best formulas as guesses, or else Operon searches. All
formulas are judged together.
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
from symreg.engines.pysr import LEAST_SIZE, NothingFoundError, PySREngine, is_guess

GUESSES = 3
ROWS = 400


class PortfolioEngine(Engine):
    """Projection, then PySR or Operon if need be."""

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
        """What the exhaustive search finds, and what the other engine adds for every seed."""
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
        try:
            fronts = rest.search_all(X, y, names, seeds, budget, jobs)
        except NothingFoundError as failed:
            if not found:
                raise
            told = f"{failed}. What the projection found is judged."
            budget.watch.say(lambda: told, at_once=True)
            return [found]
        self.versions |= rest.versions
        return [[*found, *front] for front in fronts]

    def _evolving(self, guesses: Sequence[str], budget: Budget) -> Engine | None:
        """PySR if it can run, with the guesses that it accepts; else Operon."""
        if PySREngine.availability().available and budget.max_size >= LEAST_SIZE:
            takes = tuple(guess for guess in guesses if is_guess(guess, self.question))
            return PySREngine(replace(self.question, guesses=takes))
        if OperonEngine.availability().available:
            return OperonEngine(self.question)
        return None
