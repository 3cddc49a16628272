"""The engines' contract: from samples to a whole Pareto front, the same for every engine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import sympy

from symreg.expressions import complexity, evaluate
from symreg.samples import Samples


@dataclass(frozen=True)
class Candidate:
    """One formula of a Pareto front.

    Attributes:
        expression: sympy, over positive symbols named as the features.
        complexity: number of nodes of the expression as sympy writes it.
        loss: mean squared residual in float64 (logarithmic for positive targets, else relative).
        score: -d log(loss) / d complexity along the front; large where a node pays.
        seed: of the search that found it.
        engine: that found it.
    """

    expression: sympy.Expr
    complexity: int
    loss: float
    score: float
    seed: int
    engine: str


@dataclass(frozen=True)
class Budget:
    """How much an engine may spend on one search; counted in work, so that seeds decide all."""

    population: int = 200
    generations: int = 20
    max_size: int = 18
    rows: int = 400
    seconds: float = 300.0
    """Limit for engines that run in a process of their own."""


class Engine(Protocol):
    """What every engine offers."""

    name: str

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """Search for formulas y = f(X).

        Args:
            X: (row, feature) float64.
            y: (row,) target.
            names: (feature,) names; they become sympy symbols.
            seed: equal seeds give equal fronts.
            budget: of this search.

        Returns:
            The Pareto front, by rising complexity and falling loss.
        """
        ...


def pareto_front(
    expressions: Iterable[sympy.Expr],
    X: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    seed: int,
    engine: str,
) -> list[Candidate]:
    """The non-dominated ones, complexity and loss computed afresh on the sympy form."""
    samples = Samples(X, y, tuple(names), np.arange(len(y)))
    measured = []
    for expression in dict.fromkeys(expressions):
        if expression.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I):
            continue
        loss = float(np.mean(samples.residuals(evaluate(expression, names, X)) ** 2))
        measured.append((complexity(expression), loss, expression))
    measured.sort(key=lambda item: (item[0], item[1], sympy.default_sort_key(item[2])))
    front: list[Candidate] = []
    for size, loss, expression in measured:
        if front and loss >= front[-1].loss * (1 - 1e-9):
            continue
        score = 0.0
        if front:
            gain = np.log(max(front[-1].loss, 1e-300) / max(loss, 1e-300))
            score = float(gain / (size - front[-1].complexity))
        front.append(Candidate(expression, size, loss, score, seed, engine))
    return front
