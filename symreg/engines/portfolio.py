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

from symreg.engines.base import Availability, Budget, Candidate, Engine, Question
from symreg.engines.operon import OperonEngine
from symreg.engines.projection import ProjectionEngine
from symreg.engines.pysr import PySREngine
from symreg.fit.noise import misfit_probability
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate

EXACT = 1e-18
"""Mean squared relative error of a formula that nothing need be added to."""
CHANCE = 0.01
"""Least chance of the structure in the errors that is left, for nothing to be searched in it."""
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
        if self._nothing_left(found, X, y, names):
            return [replace(candidate, seed=seed) for candidate in found]
        best = sorted(found, key=lambda candidate: candidate.loss)[:GUESSES]
        guesses = tuple(sympy.sstr(candidate.expression) for candidate in best)
        more: list[Candidate] = []
        if PySREngine.availability().available:
            question = replace(self.question, guesses=(*self.question.guesses, *guesses))
            more = PySREngine(question).search(X, y, names, seed, budget)
        elif OperonEngine.availability().available:
            more = OperonEngine(self.question).search(X, y, names, seed, budget)
        return [replace(candidate, seed=seed) for candidate in found] + more

    def _nothing_left(
        self, found: Sequence[Candidate], X: np.ndarray, y: np.ndarray, names: Sequence[str]
    ) -> bool:
        """Whether the best formula is exact, or its errors show no structure in any feature."""
        best = min(found, key=lambda candidate: candidate.loss)
        if best.loss < EXACT:
            return True
        prediction = evaluate(best.expression, names, X)
        samples = Samples(np.column_stack([X, prediction]), y, (*names, "y"), np.arange(len(y)))
        chance = misfit_probability(samples.residuals(prediction), samples)
        return chance is not None and chance > CHANCE

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
