"""Algebraic: quotients of polynomials of high degree, and roots beside them, without noise."""

from collections.abc import Sequence
from itertools import product
from typing import ClassVar

import numpy as np
import sympy

from symreg.engines.base import Family
from symreg.engines.rational import exact_formulas
from symreg.enumeration.algebraic import SPARE, Degrees, coefficients_of
from symreg.formulas.precision import DOUBLE, rounding
from symreg.formulas.watch import Watch
from symreg.search.outer import IDENTITY, OUTER

LARGEST, LARGEST_BELOW, LARGEST_SQUARE = 12, 6, 2
"""Degrees in A + B·y + C·y² = 0: A has the sum of those of a polynomial and of a root beside it."""


class AlgebraicEngine(Family):
    """Exact relations of as many coefficients as the rows tell, of first and second degree in y."""

    name: ClassVar[str] = "algebraic"

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """The shortest ways to write y; none if nothing is exact."""
        if rounding(y) != DOUBLE:
            return []
        once, twice = (relation_degrees(*X.shape, powers) for powers in (1, 2))
        formulas = exact_formulas(X, y, symbols, [*once, *twice], watch, [IDENTITY])
        formulas = formulas or exact_formulas(X, y, symbols, once, watch, OUTER[1:])
        if not formulas and not watch.over:
            self.exhausted = ("no root of a polynomial beside another polynomial is exact",)
        return formulas


def relation_degrees(rows: int, variables: int, powers: int) -> list[Degrees]:
    """Of relations with so many powers of y, and fewer coefficients than rows, those of few first.

    A root has the square of the denominator as C, at most B's degree, and A's is the largest.
    """
    largest = LARGEST, LARGEST_BELOW, LARGEST_SQUARE
    every = product(*(range(each + 1) for each in largest[: powers + 1]))
    some = [
        each for each in every
        if coefficients_of(variables, each) <= rows - SPARE
        and (powers < 2 or each[0] >= each[1] >= each[2])
    ]  # fmt: skip
    return sorted(some, key=lambda each: coefficients_of(variables, each))
