"""Chains: a target goes through inverse functions, and what comes out is asked of a dictionary.

A link takes a function off the target, or a short entry: y = tanh(x·z) is z = artanh(y)/x. Each of
some hundreds of chains costs a sort (`symreg.search.coincidence`), so that all sums of two entries
beside the columns are tried under all of them. That takes a target without noise: only what leaves
rounding counts, since over many decades functions agree with anything to six digits.

Where an inverse has several branches one of them holds near a row: such a chain is asked on the
neighbours of a few rows, and the formula is judged on all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from heapq import heappop, heappush
from itertools import combinations, count, islice

import numpy as np
import sympy

from symreg.enumeration.library import enumerate_expressions
from symreg.enumeration.model import FitTable, Model, fitted, polished
from symreg.enumeration.search import LARGEST, POLISHED, SHORTENED
from symreg.enumeration.tree import COLUMN, ONE, POWER, SCALE, SHIFT, Tree
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.watch import Watch
from symreg.search.coincidence import Coincidence, Held
from symreg.search.outer import IDENTITY

ENTRIES = 20_000
WHOLE, NEAR, PLACES = 24, 16, 3
"""Rows that tell whether a sum is exact; neighbours on which a branch holds, and of how many."""
LONGEST, CHAINS = 4, 2_000
"""Links of a chain, and chains in all."""
SHORT = 2
"""Symbols of an entry in a chain; sums, products and quotients of two columns are beside these."""
BATCH = 64
"""Chains asked at a time."""
TOLD = 0.7
"""Share of rows that must tell what is inside."""
EPSILON, LEAST = float(np.finfo(float).eps), 1e-3
"""Rounding of a target, and its least size for that over the root mean square."""
NOTHING = 1e-9
"""Share of the largest term that is rounding."""
AROUND = {
    "exp": 2, "log": 2, "sqrt": 1, "sin": 2, "cos": 2, "tanh": 2, "tan": 3, "asin": 3, "acos": 3,
    "atan": 3,
}  # fmt: skip
"""Functions of a chain, with their symbols: fewer than elsewhere, since a chain is made of them."""
TURNED = {"sin": np.pi, "cos": 0.0}
"""Functions with several inverses, and what the sum of two is."""
IDLE = ("sin", "+", "-")
"""Last links after which a sum is a sum as before; an arcsine is a right angle less an arccosine."""
NO_NEWS = {
    ("exp", "log"), ("log", "exp"), (POWER, "exp"), ("sqrt", "exp"), (POWER, "sqrt"),
    ("sqrt", "sqrt"),
}  # fmt: skip
"""Links that undo each other, or say no more than one."""


@dataclass(frozen=True)
class Link:
    """A step from inside out.

    Attributes:
        kind: a function's name, `POWER`, or an operation with an entry.
        symbols: that it adds to a formula.
        number: of a power.
        entry: how the first operand is written.
        values: (row,) of that.
        turned: whether another branch of the inverse is taken.
    """

    kind: str
    symbols: int
    number: float = 0.0
    entry: Tree | None = None
    values: np.ndarray | None = None
    turned: bool = False

    @property
    def branches(self) -> bool:
        """Whether what is inside is one of several."""
        return self.kind in TURNED or self.number == 2

    def inside(self, values: np.ndarray, errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is inside where the values are outside, and the errors that rounding leaves of it."""
        if self.entry is not None:
            given = np.asarray(self.values)
            if self.kind == "*":
                inner, errors = values / given, errors / np.abs(given)
            else:
                inner = values - given if self.kind == "+" else given - values
                errors = errors + EPSILON * np.abs(given)
        elif self.kind == POWER:
            inner = values ** (1 / self.number)
            errors = errors / np.abs(self.number * inner ** (self.number - 1))
        else:
            function = FUNCTIONS[self.kind]
            inner = function.inverse(values)
            errors = errors / np.abs(function.slope(inner, values))
            if self.turned:
                inner = TURNED[self.kind] - inner
        return inner, errors + EPSILON * np.abs(inner)

    def around(self, tree: Tree) -> Tree:
        """The link around a tree."""
        parts = (tree,) if self.entry is None else (self.entry, tree)
        return Tree(self.kind, parts, self.number)


@dataclass(frozen=True)
class Chain:
    """Links, and what is inside.

    Attributes:
        values: (row,); infinite in rows that do not tell, as a tanh of one, and NaN where there is
            none.
        errors: (row,) that rounding leaves.
        links: from outside.
    """

    values: np.ndarray
    errors: np.ndarray
    links: tuple[Link, ...] = ()

    @property
    def branches(self) -> bool:
        """Whether what is inside is known up to a branch."""
        return any(link.branches for link in self.links)

    @property
    def is_idle(self) -> bool:
        """Whether what is inside differs from what is outside by what any sum may have."""
        return bool(self.links) and (self.links[-1].kind in IDLE or self.links[-1].turned)

    def is_defined(self, rows: slice) -> bool:
        """Whether it is, and told in most of the rows."""
        values, errors = self.values[rows], self.errors[rows]
        told = np.isfinite(values) & np.isfinite(errors) & (errors > 0)
        return not np.any(np.isnan(values)) and bool(np.mean(told) > TOLD)

    def at(self, rows: slice) -> tuple[np.ndarray, np.ndarray]:
        """Values and errors, these infinite in rows that do not tell."""
        values, errors = self.values[rows], self.errors[rows]
        told = np.isfinite(values) & np.isfinite(errors)
        return np.where(told, values, 0.0), np.where(told, errors, np.inf)

    def through(self, link: Link) -> "Chain":
        """One link further in."""
        return Chain(*link.inside(self.values, self.errors), (*self.links, link))

    def around(self, tree: Tree) -> Tree:
        """The whole chain around a tree."""
        for link in reversed(self.links):
            tree = link.around(tree)
        return tree


class ChainSearch:
    """Exact formulas of one table.

    Args:
        table: all rows.
        watch: may end it.
        rng: draws the rows that are asked.
        allows: formulas; None if all are allowed.

    Attributes:
        asked: chains that were asked in all places where they are defined.
    """

    def __init__(
        self, table: FitTable, watch: Watch, rng: np.random.Generator,
        allows: Callable[[sympy.Expr], bool] | None = None,
    ):  # fmt: skip
        self.table, self.watch, self.allows, self.asked = table, watch, allows, 0
        rows, size = len(table.y), np.std(table.X, axis=0)
        unit = table.X / np.where(size > 0, size, 1.0)
        whole = rng.choice(rows, min(WHOLE, rows), replace=False)
        near = [
            np.argsort(np.sum((unit - unit[place]) ** 2, axis=1))[:NEAR] for place in whole[:PLACES]
        ]
        chosen = np.concatenate([whole, *near])
        self.X, self.y = table.X[chosen], table.y[chosen]
        begins = np.cumsum([0, len(whole), *map(len, near)])
        self._sets = [slice(*ends) for ends in zip(begins[:-1], begins[1:], strict=True)]
        self.columns = [Tree(COLUMN, (), float(i)) for i in range(table.X.shape[1])]

    def run(self) -> list[Model]:
        """Exact formulas, shortest description first; none if there are none."""
        few = self.X, ENTRIES, LARGEST, self.watch, self.allows
        self.library = enumerate_expressions(*few, rare=True)
        chains = list(islice(self._chains(), CHAINS))
        whole, *near = self._sets
        one, lines = [Tree(ONE)], [Tree(ONE), *self.columns]
        plain = [each for each in chains if not each.branches]
        branching = [each for each in chains if each.branches]
        asks = [(plain, whole, lines, []), (plain, whole, lines, self.columns)]
        asks += [(branching, rows, one, []) for rows in near]
        asks += [(branching, rows, lines, self.columns) for rows in near]
        for ask in asks:
            if found := self._asked(*ask):
                return found
        self.asked = 0 if self.watch.over else len(chains)
        return []

    def _asked(
        self, chains: list[Chain], rows: slice, basis: list[Tree], below: list[Tree]
    ) -> list[Model]:
        """Exact formulas of chains that rows, a basis and two entries hold.

        Args:
            chains: asked where they are defined.
            rows: of those chosen.
            basis: known terms.
            below: terms of a denominator beside one.
        """
        X = self.X[rows]
        known, other = (_columns(trees, X) for trees in (basis, below))
        ask = Coincidence(self.library.values[:, rows], known)
        chains = [chain for chain in chains if chain.is_defined(rows) and not chain.is_idle]
        for begin in range(0, len(chains), BATCH):
            if self.watch.over:
                break
            some = chains[begin : begin + BATCH]
            z, errors = (np.array(each) for each in zip(*(chain.at(rows) for chain in some)))
            trees = [
                some[held.target].around(self._tree(held, basis, below))
                for held in ask.held(z, errors, z[:, :, None] * other)
            ]
            models = fitted([Model(IDENTITY, (tree,)) for tree in trees], self.table)
            models = sorted(models, key=lambda model: model.mean_square)[:POLISHED]
            exact = [model for model in polished(models, self.table, 5) if model.is_exact]
            if exact:
                exact.sort(key=lambda model: model.description(len(self.table.y)))
                return [model.shortened(self.table) for model in exact[:SHORTENED]] + exact
        return []

    def _tree(self, held: Held, basis: list[Tree], below: list[Tree]) -> Tree:
        """A sum over a sum, terms that are rounding left out."""
        trees = [*basis, *below, *map(self.library.tree, held.columns)]
        parts = [
            Tree(SCALE, (tree,), float(c), True)
            for tree, c in zip(trees, held.numbers, strict=True)
        ]
        size = [float(np.max(np.abs(part.values(self.X)))) for part in parts]
        kept = [size[i] > NOTHING * max(size) for i in range(len(parts))]
        under = range(len(basis), len(basis) + len(below))
        above = [part for i, part in enumerate(parts) if kept[i] and i not in under]
        rest = [replace(parts[i], number=-parts[i].number) for i in under if kept[i]]
        tree = reduce(_plus, above)
        return Tree("/", (tree, reduce(_plus, [Tree(ONE), *rest]))) if rest else tree

    def _chains(self) -> Iterator[Chain]:
        """All chains, those of the fewest symbols first."""
        X, size, order = self.X, np.sqrt(np.mean(self.y**2)), count()
        places = range(int(np.sum(self.library.size <= SHORT)))
        pairs = combinations(self.columns, 2)
        short = [self.library.tree(place) for place in places]
        short += [Tree(kind, pair) for pair in pairs for kind in "+-*/"]
        entries = [(tree, tree.values(X), 1 + tree.size) for tree in short]
        begin = Chain(self.y, EPSILON * (np.abs(self.y) + LEAST * size))
        waiting: list[tuple[int, int, Chain, Link | None]] = [(0, next(order), begin, None)]
        while waiting:
            symbols, _, chain, link = heappop(waiting)
            if link is not None:
                chain = chain.through(link)
                if not any(map(chain.is_defined, self._sets[chain.branches :])):
                    continue
            yield chain
            for link in _links(chain, entries):
                if len(chain.links) < LONGEST:
                    heappush(waiting, (symbols + link.symbols, next(order), chain, link))


def _links(chain: Chain, entries: list[tuple[Tree, np.ndarray, int]]) -> Iterator[Link]:
    """That may follow in a chain, with one entry at most, and none that undo or repeat the last."""
    last = chain.links[-1].kind if chain.links else ""
    for kind, symbols in AROUND.items():
        if (last, kind) not in NO_NEWS:
            yield Link(kind, symbols)
            if kind in TURNED:
                yield Link(kind, symbols, turned=True)
    if last not in (POWER, "sqrt"):
        yield Link(POWER, 1, 2.0)
        yield Link(POWER, 1, -1.0)
    if all(link.entry is None for link in chain.links):
        for tree, values, symbols in entries:
            for kind in "*+-":
                yield Link(kind, symbols, entry=tree, values=values)


def _columns(trees: Sequence[Tree], X: np.ndarray) -> np.ndarray:
    """(row, tree) values."""
    return np.array([tree.values(X) for tree in trees]).reshape(len(trees), len(X)).T


def _plus(first: Tree, second: Tree) -> Tree:
    """A sum; a constant is a shift."""
    for whole, part in ((first, second), (second, first)):
        constant = part.parts[0] if part.kind == SCALE else part
        if constant.kind == ONE:
            return Tree(SHIFT, (whole,), part.number if part.kind == SCALE else 1.0, part.free)
    return Tree("+", (first, second))
