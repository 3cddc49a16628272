"""Named laws: every reference law fitted to the samples; an explicit test, not a search."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from symreg.engines.base import Budget, Candidate, Engine, pareto_front
from symreg.fit.named_laws import fitted_laws
from symreg.fit.samples import Samples
from symreg.formulas.expressions import normal_form


class NamedLawsEngine(Engine):
    """Every reference law of `orbits.forces`, fitted and ranked."""

    name: ClassVar[str] = "named-laws"

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front of the fitted laws; see the contract in `symreg.engines.base`."""
        laws = fitted_laws(Samples(X, y, tuple(names), np.arange(len(y))))
        expressions = [normal_form(law.expression) for law in laws]
        return pareto_front(expressions, X, y, names, seed, self.name)
