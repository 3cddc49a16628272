"""Monomial: c times a product of powers, by linear least squares on logarithms."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Budget, Candidate, Engine, pareto_front
from symreg.fit.monomial import fit_monomial
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol


class MonomialEngine(Engine):
    """Products of powers: the constant alone, and with every feature's exponent free."""

    name: ClassVar[str] = "monomial"

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """The front of the constant and the monomial; see the contract in `engines.base`."""
        samples = Samples(X, y, tuple(names), np.arange(len(y)))
        found = fit_monomial(samples)
        powers = [symbol(n) ** sympy.Float(p) for n, p in zip(names, found.exponents, strict=True)]
        full = sympy.Float(np.exp(found.log_constant)) * sympy.Mul(*powers)
        constant = sympy.Float(np.exp(np.mean(np.log(y))))
        return pareto_front([constant, full], X, y, names, seed, self.name)
