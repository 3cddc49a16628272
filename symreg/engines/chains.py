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
from functools import reduce
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
from symreg.enumeration.tree import COLUMN, ONE, POWER, SCALE, SHIFT, Tree
from symreg.fit.predictable import shows_noise
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.precision import DOUBLE, FITTED, rounding
from symreg.formulas.watch import Watch
from symreg.search.coincidence import Coincidence, Held
from symreg.search.outer import IDENTITY
from symreg.search.polish import projected

ENTRIES = 20_000
SURPLUS, PLACES = 16, 3
"""Rows that tell whether a sum is exact, beside two for each column; and rows whose neighbours are
asked for a branch: those where the target is nearest to a line."""
LONGEST, CHAINS, BATCH = 4, 2_000, 64
"""Links of a chain, chains in all, and those asked at a time."""
SHORT = 2
"""Symbols of an entry in a chain; sums, products and quotients of two columns are beside these."""
MOST_COLUMNS = 4
"""Of more the dictionary holds the shortest entries alone."""
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


TAKEN: dict[str, Callable] = {
    "*": lambda values, entry: values / entry,
    "+": lambda values, entry: values - entry,
    "-": lambda values, entry: entry - values,
}
"""What is inside of an operation whose first part is an entry."""


class Link(NamedTuple):
    """A step: its kind, the symbols that it adds, the number of a power, or an entry and its values
    on the rows."""

    kind: str
    symbols: int
    number: float = 0.0
    entry: Tree | None = None
    values: np.ndarray | None = None

    def inside(self, outside: np.ndarray) -> np.ndarray:
        """What is inside of values."""
        if self.entry is not None:
            return np.asarray(TAKEN[self.kind](outside, self.values))
        if self.kind == POWER:
            return np.asarray(outside ** (1 / self.number))
        return np.asarray(FUNCTIONS[self.kind].inverse(outside))

    def around(self, tree: Tree) -> Tree:
        """The link around a tree."""
        return Tree(self.kind, (tree,) if self.entry is None else (self.entry, tree), self.number)


class Chain(NamedTuple):
    """Links from outside, and (2, row) what is inside of the target, and of one that is nudged:
    NaN in rows where there is none, infinite in those that do not tell, as a tanh of one."""

    values: np.ndarray
    links: tuple[Link, ...] = ()

    @property
    def branches(self) -> bool:
        """Whether what is inside is known up to a branch."""
        return any(link.kind in ("sin", "cos") or link.number == 2 for link in self.links)

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
        few = len(y) < each or X.shape[1] > MOST_COLUMNS or bool(self.question.operators)
        if few or not np.any(y) or rounding(y) != DOUBLE or shows_noise(y, X):
            return []
        search = ChainSearch(FitTable.of(X, y, np.ones(len(y))), each, watch, rng)
        models = search.run()
        if not models and not watch.over:
            told = f"no chain of up to {plural(LONGEST, 'function')} around a sum of two is exact"
            self.exhausted = (f"{told}, of {len(search.chains)} tried",)
        return [model.expression(symbols) for model in models]


class ChainSearch:
    """Of one table, by so many rows drawn, and as many neighbours of each of a few."""

    def __init__(self, table: FitTable, each: int, watch: Watch, rng: np.random.Generator):
        self.table, self.watch = table, watch
        unit = table.X / np.maximum(np.std(table.X, axis=0), TINY)
        drawn = rng.choice(len(unit), each, replace=False)
        near = [np.argsort(np.sum((unit - unit[i]) ** 2, axis=1))[:each] for i in drawn]
        near.sort(key=lambda rows: _bent(unit[rows], table.y[rows]))
        chosen = np.concatenate([drawn, *near[:PLACES]])
        self.X = table.X[chosen]
        self.drawn, *self.near = (
            slice(begin, begin + each) for begin in range(0, len(chosen), each)
        )
        self.library = enumerate_expressions(self.X, ENTRIES, LARGEST, watch, rare=True)
        self.columns = [Tree(COLUMN, (), float(i)) for i in range(table.X.shape[1])]
        self.chains = list(islice(self._chains(table.y[chosen]), CHAINS))

    def run(self) -> list[Model]:
        """Exact formulas, shortest description first; none if there are none."""
        one, lines, columns = [ONE_TREE], [ONE_TREE, *self.columns], self.columns
        asks = [([self.drawn], lines, []), ([self.drawn], lines, columns)]
        asks += [(self.near, one, []), (self.near, lines, columns)]
        each = (self._exact(rows, *ask) for some, *ask in asks for rows in some)
        return next(filter(None, each), [])

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
            models.sort(key=lambda model: model.description(len(self.table.y)))
            if exact := [model for model in models if model.is_exact]:
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
        """All chains, those of the fewest symbols first, with one entry at most."""
        links = [Link(*each) for each in AROUND.items()]
        links += [Link(POWER, 1, number) for number in (2.0, -1.0)]
        short = [self.library.tree(i) for i in range(int(np.sum(self.library.size <= SHORT)))]
        short += [Tree(kind, pair) for pair in combinations(self.columns, 2) for kind in "+-*/"]
        for tree in short:
            values = tree.values(self.X)
            links += [Link(kind, 1 + tree.size, 0.0, tree, values) for kind in TAKEN]
        nudge, order = NUDGE * (np.abs(y) + LEAST * np.sqrt(np.mean(y**2))), count()
        begin = Chain(np.array([y, y - np.sign(y) * nudge]))
        waiting: list[tuple[int, int, Chain, Link | None]] = [(0, next(order), begin, None)]
        while waiting:
            symbols, _, chain, step = heappop(waiting)
            if step is not None:
                chain = Chain(step.inside(chain.values), (*chain.links, step))
            if not any(chain.at(rows) for rows in [self.drawn, *self.near][chain.branches :]):
                continue
            yield chain
            kinds = [link.kind for link in chain.links] or [""]
            for link in links if len(chain.links) < LONGEST else ():
                again = link.kind in TAKEN and not TAKEN.keys().isdisjoint(kinds)
                if not again and {kinds[-1], link.kind} not in UNDONE:
                    heappush(waiting, (symbols + link.symbols, next(order), chain, link))


def _bent(X: np.ndarray, y: np.ndarray) -> float:
    """Share of a target that a line leaves: much, where it turns from one branch to the next."""
    solved = projected(np.column_stack([np.ones(len(y)), X])[None], y)
    return float(np.sum(solved.residuals**2) / np.maximum(np.sum((y - y.mean()) ** 2), TINY))


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
