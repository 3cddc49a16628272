"""Chains: the target through inverse functions, as a sum of entries of a dictionary, exactly.

A link takes a function off the target, or a short entry: y = tanh(x·z) is z = artanh(y)/x. Each of
two thousand chains costs a sort (`symreg.search.coincidence`), so that all sums of two entries
beside the columns are tried under all of them. That takes a target without noise: only what leaves
rounding counts, since over many decades functions agree with anything to six digits.

Where an inverse has several branches one of them holds near a row: such a chain is asked on the
neighbours of a few rows, and the formula is judged on all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from heapq import heappop, heappush
from itertools import combinations, count, islice
from typing import ClassVar, NamedTuple

import numpy as np
import sympy

from orbits.printing import plural
from orbits.statistics import TINY
from symreg.engines.base import Family
from symreg.enumeration.library import enumerate_expressions
from symreg.enumeration.model import FitTable, Model, fitted, polished
from symreg.enumeration.search import LARGEST, ONE_TREE, POLISHED, SHORTENED
from symreg.enumeration.tree import BINARY, COLUMN, ONE, POWER, SCALE, SHIFT, Tree
from symreg.fit.predictable import shows_noise
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.precision import DOUBLE, FITTED, rounding
from symreg.formulas.watch import Watch
from symreg.search.coincidence import Coincidence, Held
from symreg.search.outer import IDENTITY

ENTRIES = 20_000
SURPLUS, PLACES = 16, 3
"""Rows that tell whether a sum is exact, beside two for each column; and rows whose neighbours are
asked for a branch."""
LONGEST, CHAINS, BATCH = 4, 2_000, 64
"""Links of a chain, chains in all, and those asked at a time."""
SHORT = 2
"""Symbols of an entry in a chain; sums, products and quotients of two columns are beside these."""
TOLD = 0.7
"""Share of rows that must tell what is inside."""
EPSILON, NUDGE, LEAST = float(np.finfo(float).eps), 1e-9, 1e-3
"""Rounding of a target; the relative change by which it is followed through a chain; and the least
size of a target for both, over the root mean square."""
AROUND = {"exp": 2, "log": 2, "sqrt": 1, "sin": 2, "cos": 2, "tanh": 2}
"""Functions of a chain, with their symbols: fewer than elsewhere, since a chain is made of them."""
UNDONE = ({"exp", "log"}, {"sqrt", POWER}, {"sqrt"}, {POWER})
"""Links that undo each other, or say no more than one."""
IDLE = ("sin", "+", "-")
"""Last links after which a sum is one as before; an arcsine is a right angle less an arccosine."""


class Link(NamedTuple):
    """A step from outside in: its kind, the symbols that it adds, what is inside of values, the
    tree around another, and whether what is inside is one of several."""

    kind: str
    symbols: int
    inside: Callable[[np.ndarray], np.ndarray]
    around: Callable[[Tree], Tree]
    branches: bool = False


class Chain(NamedTuple):
    """Links from outside, and (2, row) what is inside of the target, and of one that is nudged:
    NaN in rows where there is none, infinite in those that do not tell, as a tanh of one."""

    values: np.ndarray
    links: tuple[Link, ...] = ()

    @property
    def branches(self) -> bool:
        """Whether what is inside is known up to a branch."""
        return any(link.branches for link in self.links)

    def at(self, rows: slice) -> tuple[np.ndarray, np.ndarray] | None:
        """(row,) values, and by how much rounding moves them, infinite in rows that do not tell;
        None if it is not defined in all rows, or told in few."""
        values, nudged = self.values[:, rows]
        errors = np.abs(nudged - values) * (EPSILON / NUDGE) + EPSILON * np.abs(values)
        told = np.isfinite(errors) & (errors > 0)
        if np.any(np.isnan(values)) or np.mean(told) < TOLD:
            return None
        return np.where(told, values, 0.0), np.where(told, errors, np.inf)

    def around(self, tree: Tree) -> Tree:
        """The whole chain around a tree."""
        return reduce(lambda inner, link: link.around(inner), reversed(self.links), tree)


class ChainsEngine(Family):
    """Functions within functions, of tables without noise; says how many it asked for."""

    name: ClassVar[str] = "chains"

    def formulas(
        self, X: np.ndarray, y: np.ndarray, symbols: Sequence[sympy.Symbol],
        rng: np.random.Generator, watch: Watch,
    ) -> list[sympy.Expr]:  # fmt: skip
        """Shortest description first; none where none is exact."""
        each = SURPLUS + 2 * X.shape[1]
        if self.question.operators or len(y) < each or not np.any(y) or rounding(y) != DOUBLE:
            return []
        if shows_noise(y, X):
            return []
        search = _Search(FitTable.of(X, y, np.ones(len(y))), each, watch, rng)
        models = search.run()
        if not models and not watch.over:
            told = f"no chain of up to {plural(LONGEST, 'function')} around a sum of two is exact"
            self.exhausted = (f"{told}, of {len(search.chains)} tried",)
        return [model.expression(symbols) for model in models]


class _Search:
    """Of one table, by so many rows drawn, and as many neighbours of each of a few."""

    def __init__(self, table: FitTable, each: int, watch: Watch, rng: np.random.Generator):
        self.table, self.watch = table, watch
        unit = table.X / np.maximum(np.std(table.X, axis=0), TINY)
        drawn = rng.choice(len(unit), each, replace=False)
        distances = (np.sum((unit - unit[place]) ** 2, axis=1) for place in drawn[:PLACES])
        chosen = np.concatenate([drawn, *(np.argsort(far)[:each] for far in distances)])
        self.X = table.X[chosen]
        self.drawn, *self.near = (
            slice(begin, begin + each) for begin in range(0, len(chosen), each)
        )
        self.library = enumerate_expressions(self.X, ENTRIES, LARGEST, watch, rare=True)
        self.columns = [Tree(COLUMN, (), float(i)) for i in range(table.X.shape[1])]
        self.chains = list(islice(self._chains(table.y[chosen]), CHAINS))

    def run(self) -> list[Model]:
        """Exact formulas, shortest description first; none if there are none."""
        lines = [ONE_TREE, *self.columns]
        asks = [(self.drawn, lines, []), (self.drawn, lines, self.columns)]
        asks += [(rows, [ONE_TREE], []) for rows in self.near]
        asks += [(rows, lines, self.columns) for rows in self.near]
        return next(filter(None, (self._exact(*ask) for ask in asks)), [])

    def _exact(self, rows: slice, basis: list[Tree], below: list[Tree]) -> list[Model]:
        """Exact formulas of chains that rows, a basis and two entries hold, with terms of a
        denominator beside one."""
        known, other = (_columns(trees, self.X[rows]) for trees in (basis, below))
        ask = Coincidence(self.library.values[:, rows], known)
        asked = [
            (chain, at)
            for chain in self.chains
            if not (chain.links and chain.links[-1].kind in IDLE)
            and chain.branches == (rows != self.drawn)
            and (at := chain.at(rows)) is not None
        ]
        for begin in range(0, len(asked), BATCH):
            if self.watch.over:
                break
            some = asked[begin : begin + BATCH]
            z, errors = np.swapaxes([at for _, at in some], 0, 1)
            models = [
                Model(IDENTITY, (some[held.target][0].around(self._tree(held, basis, below)),))
                for held in ask.held(z, errors, z[:, :, None] * other)
            ]
            models = sorted(fitted(models, self.table), key=lambda model: model.mean_square)
            models = polished(models[:POLISHED], self.table, 5)
            exact = sorted(
                (model for model in models if model.is_exact),
                key=lambda model: model.description(len(self.table.y)),
            )
            if exact:
                return [model.shortened(self.table) for model in exact[:SHORTENED]] + exact
        return []

    def _tree(self, held: Held, basis: list[Tree], below: list[Tree]) -> Tree:
        """A sum over a sum, terms that are rounding left out."""
        trees = [*basis, *below, *map(self.library.tree, held.columns)]
        parts = [
            Tree(SCALE, (tree,), float(number), True)
            for tree, number in zip(trees, held.numbers, strict=True)
        ]
        size = np.max(np.abs(_columns(parts, self.X)), axis=0)
        kept = [part for part, own in zip(parts, size > FITTED * max(size), strict=True) if own]
        under = parts[len(basis) : len(basis) + len(below)]
        tree = reduce(_plus, [part for part in kept if part not in under] or [ONE_TREE])
        rest = [replace(part, number=-part.number) for part in kept if part in under]
        return Tree("/", (tree, reduce(_plus, [ONE_TREE, *rest]))) if rest else tree

    def _chains(self, y: np.ndarray) -> Iterator[Chain]:
        """All chains, those of the fewest symbols first."""
        links, order = list(self._links()), count()
        nudge = NUDGE * (np.abs(y) + LEAST * np.sqrt(np.mean(y**2)))
        begin = Chain(np.array([y, y - np.sign(y) * nudge]))
        waiting: list[tuple[int, int, Chain, Link | None]] = [(0, next(order), begin, None)]
        while waiting:
            symbols, _, chain, link = heappop(waiting)
            if link is not None:
                chain = Chain(link.inside(chain.values), (*chain.links, link))
            if not any(chain.at(rows) for rows in [self.drawn, *self.near][chain.branches :]):
                continue
            yield chain
            kinds = [each.kind for each in chain.links] or [""]
            for link in links if len(chain.links) < LONGEST else ():
                # one entry in a chain
                again = link.kind in BINARY and any(kind in BINARY for kind in kinds)
                if not again and {kinds[-1], link.kind} not in UNDONE:
                    heappush(waiting, (symbols + link.symbols, next(order), chain, link))

    def _links(self) -> Iterator[Link]:
        """Functions, a square and a reciprocal, and short entries on the other side."""
        for kind, symbols in AROUND.items():
            inverse = FUNCTIONS[kind].inverse
            yield Link(kind, symbols, inverse, partial(_around, kind), kind in ("sin", "cos"))
        for number in (2.0, -1.0):
            inverse = partial(lambda values, power: values**power, power=1 / number)
            yield Link(POWER, 1, inverse, partial(_around, POWER, number=number), number == 2)
        short = [self.library.tree(i) for i in np.flatnonzero(self.library.size <= SHORT)]
        short += [Tree(kind, pair) for pair in combinations(self.columns, 2) for kind in "+-*/"]
        for tree in short:
            values = tree.values(self.X)
            for kind, inverse in TAKEN.items():
                inside = partial(inverse, entry=values)
                yield Link(kind, 1 + tree.size, inside, partial(_around, kind, entry=tree))


TAKEN: dict[str, Callable] = {
    "*": lambda values, entry: values / entry,
    "+": lambda values, entry: values - entry,
    "-": lambda values, entry: entry - values,
}
"""What is inside of an operation whose first part is an entry."""


def _around(kind: str, tree: Tree, number: float = 0.0, entry: Tree | None = None) -> Tree:
    """A link around a tree."""
    return Tree(kind, (tree,) if entry is None else (entry, tree), number)


def _columns(trees: Sequence[Tree], X: np.ndarray) -> np.ndarray:
    """(row, tree) values."""
    return np.array([tree.values(X) for tree in trees]).reshape(len(trees), len(X)).T


def _plus(first: Tree, second: Tree) -> Tree:
    """A sum; a constant is a shift."""
    for whole, part in ((first, second), (second, first)):
        if part.kind == ONE:
            return Tree(SHIFT, (whole,), 1.0)
        if part.kind == SCALE and part.parts == (ONE_TREE,):
            return Tree(SHIFT, (whole,), part.number, True)
    return Tree("+", (first, second))
