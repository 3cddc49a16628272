"""Portfolio: the exhaustive search first, then an engine that evolves formulas, if need be.

The projection search is the same for every seed, so it runs once; where it is exact nothing else
is run. What it leaves goes to PySR where that is installed, with its best formulas as guesses, or
to Operon. All their formulas are judged together.
"""

from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import (
    Availability,
    Budget,
    Candidate,
    Engine,
    Question,
    explains_all,
)
from symreg.engines.operon import OperonEngine
from symreg.engines.projection import ProjectionEngine
from symreg.engines.pysr import LEAST_SIZE, PySREngine, is_guess

GUESSES = 3
ROWS = 400


class PortfolioEngine(Engine):
    """Projection, then PySR or Operon on what it leaves."""

    name: ClassVar[str] = "portfolio"

    def __init__(self, question: Question | None = None) -> None:
        super().__init__(question)
        self._lock = Lock()
        self._searched: dict[tuple[bytes, bytes], list[Candidate]] = {}

    @classmethod
    def availability(cls) -> Availability:
        parts = [
            f"{engine.name}: {engine.availability().reason}"
            for engine in (PySREngine, OperonEngine)
        ]
        return Availability(True, "; ".join(["projection: built in", *parts]))

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front of all engines that ran; see the contract in `symreg.engines.base`."""
        found = self._projected(X, y, names, budget)
        closest = min(found, key=lambda candidate: candidate.loss).expression
        if explains_all(closest, X, y, names):
            return [replace(candidate, seed=seed) for candidate in found]
        best = sorted(found, key=lambda candidate: candidate.loss)[:GUESSES]
        guesses = (
            *self.question.guesses,
            *(sympy.sstr(candidate.expression, full_prec=True) for candidate in best),
        )
        more: list[Candidate] = []
        if PySREngine.availability().available and budget.max_size >= LEAST_SIZE:
            takes = tuple(guess for guess in guesses if is_guess(guess, self.question))
            question = replace(self.question, guesses=takes)
            more = PySREngine(question).search(X, y, names, seed, budget)
        elif OperonEngine.availability().available:
            more = OperonEngine(self.question).search(X, y, names, seed, budget)
        return [replace(candidate, seed=seed) for candidate in found] + more

    def _projected(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], budget: Budget
    ) -> list[Candidate]:
        """The projection's candidates, searched once for a table whatever the seed."""
        key = X.tobytes(), y.tobytes()
        with self._lock:
            if key not in self._searched:
                self._searched[key] = ProjectionEngine(self.question).search(
                    X, y, names, 0, replace(budget, rows=ROWS)
                )
            return self._searched[key]
