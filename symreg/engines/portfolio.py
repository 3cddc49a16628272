"""Portfolio: the exhaustive families, cheapest first, then an engine that evolves formulas.

Quotients of polynomials, small expressions, algebraic relations and functions within functions (of
tables without noise), products of powers with functions (projection), then larger expressions: each
is the same for every seed, so it runs once, and an exact formula ends the search. Where the target
is a function of fewer products of powers, these are searched first, by all but functions within
functions, which are the same there. If no formula explains the rows, PySR, if installed, starts
from the best as guesses. All formulas are judged together. Of a wide table the families see the
columns that matter.

Where a law need not explain all (the field of a model, a few per cent off), a formula within that
floor ends the search, and what it could not tell from others is left out: larger expressions, and
other columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
import sympy

from orbits.expressions import in_range
from symreg.engines.algebraic import AlgebraicEngine
from symreg.engines.base import (
    Availability,
    Budget,
    Candidate,
    Engine,
    Question,
    described,
    explains_all,
    important,
    is_final,
    pareto_front,
    tell_best,
)
from symreg.engines.chains import ChainsEngine
from symreg.engines.expressions import ExpressionsEngine
from symreg.engines.projection import ProjectionEngine
from symreg.engines.pysr import PySREngine, is_guess
from symreg.engines.rational import RationalEngine
from symreg.enumeration.search import EFFORTS
from symreg.formulas.expressions import feature_symbols, in_full
from symreg.search.similarity import similarity

GUESSES = 3
ROWS = 400
FAR = 0.5
"""Of its distance from zero: a column that covers less lies far from it."""
FEW_COLUMNS = 2
"""Columns of which larger expressions are exhausted in less time than products."""


Step = tuple[Engine, Callable[[sympy.Expr, np.ndarray, np.ndarray, Sequence[str]], bool]]
"""A family, and whether a formula, with rows of columns and target and names, ends the search."""


class PortfolioEngine(Engine):
    """The exhaustive families, then PySR if need be.

    Attributes:
        families: how many its searches went through, at most.
        most: of them that a search goes through, if they propose anything; None for all, and what
            evolves after them.
        inside: whether its columns were made of a table's: then neither chains, which are the same
            there, nor what evolves are asked.
    """

    name: ClassVar[str] = "portfolio"

    def __init__(
        self, question: Question | None = None, most: int | None = None, inside: bool = False
    ) -> None:
        super().__init__(question)
        self.most, self.inside, self.families = most, inside, 0

    @classmethod
    def availability(cls) -> Availability:
        pysr = PySREngine.availability().reason
        return Availability(True, f"exhaustive families: built in; pysr: {pysr}")

    def as_far(self) -> "PortfolioEngine":
        return PortfolioEngine(self.question, self.families)

    def search_all(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seeds: Sequence[int],
        budget: Budget, jobs: int = 1,
    ) -> list[list[Candidate]]:  # fmt: skip
        """What the exhaustive families find, and what the other engine adds for every seed.

        Negative targets are searched with the other sign: logarithms are of positive numbers.
        """
        sign, self.cut_short = -1 if np.all(y < 0) else 1, False
        if sign < 0:
            budget.watch.say(lambda: "every target is negative: minus the target is searched")
        X, names = important(X, y, names, seeds[0], budget.watch)
        pool, ended = self._exhaust(X, sign * y, names, seeds[0], budget)
        fronts: list[list[Candidate]] = [[]]
        if not ended and not self.inside and PySREngine.availability().available:
            given = [each if sign > 0 else f"-1.0*({each})" for each in self.question.guesses]
            fronts = self._evolve(pool, given, X, sign * y, names, seeds, budget, jobs)
        return [
            [replace(each, expression=sign * each.expression) for each in (*pool, *front)]
            for front in fronts
        ]

    def _exhaust(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> tuple[list[Candidate], bool]:
        """What the families propose, one after the other, and whether that ends the search."""
        pool: list[Candidate] = []
        exhausted: dict[str, tuple[str, ...]] = {}
        best: list[Candidate] = []
        steps = self._steps(X.shape[1], budget.floor)
        for place, (family, ends) in enumerate(steps, 1):
            self.families = max(self.families, place)
            try:
                found = family.search(X, y, names, seed, replace(budget, rows=ROWS))
            except Exception as error:  # of one family's numerics: the others are worth more
                message = f"{family.name} broke off ({error}); the search goes on without it"
                budget.watch.say(partial(str, message), at_once=True)
                self.broken += (message,)
                continue
            pool += found
            exhausted |= {family.name: family.exhausted}
            self.exhausted = tuple(message for each in exhausted.values() for message in each)
            tell_best(budget.watch, pool)
            best = _shortest([*best, *found], X, y, names)[:1]
            enough = self.most is not None and place >= self.most
            # with the projection all cheap families had their turn
            if budget.floor and isinstance(family, ProjectionEngine):
                enough = enough or any(each.loss <= budget.floor**2 for each in pool)
            if pool and (enough or (found and ends(best[0].expression, X, y, names))):
                self.cut_short = budget.watch.over  # within the family: rivals may be left
                return pool, True
            # even of a time that is over something comes: the projection has lines at least
            if budget.watch.over and (pool or isinstance(family, ProjectionEngine)):
                self.cut_short = True
                return pool, True
        self.families = len(steps) + 1
        return pool, False

    def _evolve(
        self, pool: Sequence[Candidate], given: Sequence[str], X: np.ndarray, y: np.ndarray,
        names: Sequence[str], seeds: Sequence[int], budget: Budget, jobs: int,
    ) -> list[list[Candidate]]:  # fmt: skip
        """What PySR adds for every seed, from the guesses given and the best of a pool."""
        best = _shortest(pool, X, y, names)[:GUESSES]
        guesses = (*given, *(in_full(candidate.expression) for candidate in best))
        takes = tuple(each for each in guesses if is_guess(each, self.question))
        rest = PySREngine(replace(self.question, guesses=takes))
        try:
            fronts = rest.search_all(X, y, names, seeds, budget, jobs)
        except Exception as failed:
            if not pool:
                raise
            told = f"{failed}. What the exhaustive families found is judged."
            budget.watch.say(partial(str, told), at_once=True)
            return [[]]
        self.versions |= rest.versions
        return fronts

    def _steps(self, columns: int, floor: float) -> list[Step]:
        """The families, in their order.

        Of one or two columns larger expressions are exhausted in less time than products, and
        hold what the sums of the projection do. Of more a small formula may explain noisy rows by
        chance and the law be a product, so that products are searched before it is enough.
        """
        small, medium, large = (ExpressionsEngine(self.question, (each,)) for each in EFFORTS)
        exact = RationalEngine(self.question, sparse=False)
        powers = ProjectionEngine(self.question, factors=False)
        inside, about = _InProducts(self.question), _AboutMiddle(self.question)
        products = ProjectionEngine(self.question, sums=False, after=powers)
        # a quotient with six numbers follows cosh to rounding: small expressions are tried as well
        first: list[Step] = [(exact, lambda *_: False), (small, is_final)]
        first += [(RationalEngine(self.question, exact=False), is_final)]
        if floor:
            return [*first, (powers, is_final), (products, explains_all)]
        first += [(AlgebraicEngine(self.question), explains_all), (inside, inside.explains)]
        if not self.inside:
            first += [(ChainsEngine(self.question), explains_all)]
        few = (powers, is_final), (medium, explains_all), (products, explains_all)
        many = (ProjectionEngine(self.question), explains_all), (medium, explains_all)
        last = (about, about.explains), (large, explains_all)
        return [*first, *(few if columns <= FEW_COLUMNS else many), *last]


def _shortest(
    pool: Sequence[Candidate], X: np.ndarray, y: np.ndarray, names: Sequence[str]
) -> list[Candidate]:
    """By description length."""
    return sorted(pool, key=lambda each: described(each.expression, X, y, names))


class _Made(NamedTuple):
    """Columns made of those of a table, and a factor of the target: values and in sympy, with the
    rows to search."""

    front: np.ndarray
    inside: np.ndarray
    factor: sympy.Expr
    expressions: list[sympy.Expr]
    rows: np.ndarray | slice
    told: str


class _Inside(Engine):
    """The portfolio in other columns. A kind defines `made`."""

    def __init__(self, question: Question | None = None) -> None:
        super().__init__(question)
        self._found: list[Candidate] = []

    def made(
        self, X: np.ndarray, y: np.ndarray, some: np.ndarray, symbols: Sequence[sympy.Symbol]
    ) -> _Made | None:
        """The columns for all rows, of which some were drawn to look at; None for none."""
        raise NotImplementedError

    def explains(
        self, formula: sympy.Expr, X: np.ndarray, y: np.ndarray, names: Sequence[str]
    ) -> bool:
        """Whether one of its own formulas leaves noise alone: a smaller one may by chance."""
        own = any(formula == each.expression for each in self._found)
        return own and explains_all(formula, X, y, names)

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """What is found inside, in the columns; see the contract in `Engine`."""
        some, _ = budget.drawn(len(y), seed)
        made = self.made(X, y, some, feature_symbols(names, X))
        if made is None:
            return []
        front, inside, factor, expressions, rows, told = made
        if not (np.all(np.isfinite(inside)) and np.all(np.isfinite(y / front))):
            return []
        budget.watch.say(partial(str, told))
        own = [f"{self.name}{k}" for k in range(len(expressions))]
        engine = PortfolioEngine(self.question, inside=True)
        (found,) = engine.search_all(inside[rows], (y / front)[rows], own, [seed], budget)
        places = dict(zip(feature_symbols(own, inside), expressions, strict=True))
        formulas = [in_range(factor * each.expression.xreplace(places)) for each in found]
        self._found = pareto_front(formulas, X, y, names, seed, self.name, self.question, True)
        return self._found


class _InProducts(_Inside):
    """The portfolio in the products of powers of which a target is a function, if they are fewer
    than its columns."""

    name: ClassVar[str] = "products"

    def made(
        self, X: np.ndarray, y: np.ndarray, some: np.ndarray, symbols: Sequence[sympy.Symbol]
    ) -> _Made | None:
        similar = similarity(X[some], y[some])
        if similar is None:
            return None
        (front, inside), (factor, products) = similar.values(X), similar.expressions(symbols)
        told = f"a function of {', '.join(map(str, products))}, times {factor}, is searched"
        return _Made(front, inside, factor, products, similar.even(front), told)


class _AboutMiddle(_Inside):
    """The portfolio in columns about their middle, if some lie far from zero: of years 2000 ± 10
    no function but a power tells one from the next."""

    name: ClassVar[str] = "middle"

    def made(
        self, X: np.ndarray, y: np.ndarray, some: np.ndarray, symbols: Sequence[sympy.Symbol]
    ) -> _Made | None:
        middle = np.where(
            np.ptp(X, axis=0) < FAR * np.abs(np.mean(X, axis=0)), np.mean(X, axis=0), 0
        )
        if not np.any(middle):
            return None
        expressions = [
            each - sympy.Float(m) if m else each for each, m in zip(symbols, middle, strict=True)
        ]
        told = f"a function of {', '.join(map(str, expressions))} is searched"
        return _Made(np.ones(len(y)), X - middle, sympy.Integer(1), expressions, slice(None), told)
