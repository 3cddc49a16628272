"""The search: libraries of growing size, in each all single entries, pairs, and longer sums.

Every size is searched whole before the next: first y itself and y under each outer function's
inverse as one entry, then sums, beside nothing, beside the variables and beside their squares. It
ends with the first exact formula, or with its watch; what was exhausted is part of the answer.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy

from orbits.printing import plural
from symreg.enumeration.library import Library, enumerate_expressions
from symreg.enumeration.model import FitTable, Model, fitted, polished
from symreg.enumeration.numbered import numbered
from symreg.enumeration.tree import COLUMN, ONE, POWER, Tree
from symreg.formulas.precision import FITTED
from symreg.formulas.watch import Watch
from symreg.search.coincidence import distinct
from symreg.search.outer import IDENTITY, OUTER, Outer
from symreg.search.scan import Scan, State

ROWS = 100
"""Rows of the scans: pairs are ranked by the errors that they leave there, then on all rows."""


@dataclass(frozen=True)
class Effort:
    """One round of the search.

    Attributes:
        entries: of the library.
        paired: entries tried in all pairs; the first quarter is tried with four times as many.
        terms: of the longest sum.
        numbered: whether functions of an argument times any number are tried too.
        improved: whether numbers are improved where nothing is exact; a first look leaves that to
            the rounds that follow.
    """

    entries: int
    paired: int
    terms: int
    numbered: bool = False
    improved: bool = True


EFFORTS = (
    Effort(4_000, 1_500, 3, improved=False),
    Effort(40_000, 5_000, 5, numbered=True),
    Effort(250_000, 12_000, 5),
)
"""About 0.5, 4 and 15 s; see notebooks/log/discovery.md."""
LARGEST = 9
"""Symbols of an entry: libraries are full before those of so many are exhausted."""
SINGLE_ENTRIES = 60_000
"""Entries looked through, in half a second, for a shorter way to write an exact sum."""
SINGLES, PAIRS, BEAM = 20, 40, 20
"""States of a scan that are fitted to all rows, and those to which a term is added: a scan ranks by
a hundred rows, so that some beside its best are tried."""
POLISHED, MOST_LOOSE, SHORTENED, HANDED = 10, 5, 5, 20
"""Models of each number of terms whose numbers are improved, and the most of these; models that are
shortened; models handed over."""
ONE_TREE = Tree(ONE)


@dataclass(frozen=True)
class Exhausted:
    """What was searched without omission: sizes in symbols.

    Attributes:
        single: y as one expression of up to so many, times a constant, plus a constant.
        pair: y as a sum of two of up to so many.
    """

    single: int = 0
    pair: int = 0

    def __str__(self) -> str:
        """A sentence of it; empty if the time ended before anything was exhausted."""
        if not self.single:
            return ""
        text = f"no formula of up to {plural(self.single, 'symbol')} is exact"
        return text + (f", and no sum of two of up to {self.pair}" if self.pair else "")


@dataclass(frozen=True)
class Pool:
    """Terms to choose from: values (term, row) on the rows of the scan, and their trees."""

    values: np.ndarray
    size: np.ndarray
    trees: Callable[[int], Tree]
    places: np.ndarray

    def tree(self, term: int) -> Tree:
        """How a term is written."""
        return self.trees(int(self.places[term]))

    def whole_up_to(self, count: int, complete: int) -> int:
        """Largest size of which the first so many terms hold all."""
        beyond = self.size[count:]
        return min(complete, int(beyond.min()) - 1) if len(beyond) else complete


def pool_of(values: np.ndarray, size: np.ndarray, trees: Callable[[int], Tree]) -> Pool:
    """Terms that are no multiples of one another plus a constant, the shortest of each kept."""
    about = values - values.mean(axis=1, keepdims=True)
    about /= np.linalg.norm(about, axis=1, keepdims=True)
    first = distinct(about)
    return Pool(values[first], size[first], trees, first)


class ExpressionSearch:
    """Models of one table.

    Args:
        table: all rows.
        watch: may end it.
        rng: draws the rows of the scans.
        allows: formulas, and so the steps from which they are made; None if all are allowed.
    """

    def __init__(
        self, table: FitTable, watch: Watch, rng: np.random.Generator,
        allows: Callable[[sympy.Expr], bool] | None = None,
    ):  # fmt: skip
        self.table, self.watch, self.allows = table, watch, allows
        rows = len(table.y)
        self.few = table.rows(np.sort(rng.choice(rows, min(ROWS, rows), replace=False)))
        inner = sympy.Symbol("u", positive=True)
        self.outers = [
            outer
            for outer in OUTER
            if outer.allowed(table.y) and (allows is None or allows(outer.written(inner)))
        ]
        self.models: dict[tuple[tuple[Tree, ...], int], Model] = {}
        self._exact = self._final = False
        self.exhausted = Exhausted()

    def run(self, efforts: Sequence[Effort] = EFFORTS) -> list[Model]:
        """The best models, shortest description first."""
        for effort in efforts:
            library, pool = self._library(effort.entries)
            self._singles(pool)
            single = replace(self.exhausted, single=library.complete)
            if self._done():
                break
            self._sums(pool, effort)
            if self._done():
                # sin(x + y) + sin(x − y) is found before the longer 2 sin(x) cos(y)
                self._singles(self._library(SINGLE_ENTRIES)[1])
                break
            whole = pool.whole_up_to(effort.paired, library.complete)
            self.exhausted = replace(single, pair=whole)
            if effort.numbered and self.allows is None:  # with few operators there are no grids
                self._times_polynomials(pool)
                if not self._done():
                    self._with_numbers(library)
            if self._done():
                break
        return self._best(effort.improved)

    def _library(self, entries: int) -> tuple[Library, Pool]:
        library = enumerate_expressions(self.few.X, entries, LARGEST, self.watch, self.allows)
        return library, pool_of(library.values, library.size, library.tree)

    def _singles(self, pool: Pool) -> None:
        """Every entry as the whole of y, or of an outer inverse of it."""
        for outer in (IDENTITY, *self.outers):
            # what stands beside the inverse of a function is a constant
            for basis in self._bases()[: 3 if outer is IDENTITY else 1]:
                scan = self._scan(pool.values, outer, basis)
                if scan is not None:
                    self._take(pool, outer, basis, scan.singles(SINGLES))

    def _sums(self, pool: Pool, effort: Effort) -> None:
        """All pairs of the shorter entries, of the shortest with more; then longer sums."""
        for outer in (IDENTITY, *self.outers):
            for basis in self._bases()[: 2 if outer is IDENTITY else 1]:
                # pairs are by far the most costly, and there are six outer functions
                paired = effort.paired if outer is IDENTITY else effort.paired // 4
                # as `Effort.paired` says
                scan = self._scan(pool.values[: 4 * paired], outer, basis)
                if scan is None:
                    continue
                states = scan.pairs(range(paired), range(paired), PAIRS)
                # as many pairs as before
                states += scan.pairs(range(paired // 4), range(4 * paired), PAIRS)
                best = self._take(pool, outer, basis, states)
                if self._done(at_once=True):
                    return
                for _ in range(effort.terms - 2 if outer is IDENTITY else 1):
                    states = scan.extended(best[:BEAM], effort.paired, 2)
                    best = self._take(pool, outer, basis, states)
                    if self._done(at_once=True):
                        return

    def _times_polynomials(self, pool: Pool) -> None:
        """y, or 1/y, as one entry times a polynomial of degree two."""
        *_, basis = self._bases()
        for outer in (IDENTITY, *self.outers[:1]):
            weighted = self._weighted(outer, basis)
            if weighted is None or len(basis) < 3:  # no squares: too few rows
                continue
            _, target, known = weighted
            # a decomposition for each: a tenth of a second
            rows = known * pool.values[:3_000, :, None]
            orthonormal, _ = np.linalg.qr(rows)
            gain = np.sum(np.einsum("krc,r->kc", orthonormal, target) ** 2, axis=1)
            best = np.argsort(-np.where(np.isfinite(gain), gain, 0.0))[:SINGLES]
            trees = [pool.tree(int(place)) for place in best]
            terms = [(tree, *(Tree("*", (tree, each)) for each in basis[1:])) for tree in trees]
            for model in fitted([Model(outer, each) for each in terms], self.table):
                self._keep(model)

    def _with_numbers(self, library: Library) -> None:
        """Functions of arguments times numbers on a grid, alone and beside the entries."""
        plain, products, values = numbered(self.few.X)
        # short ones, as are those that laws have beside a function with a number
        entries = np.flatnonzero(library.size <= 4)[:300]
        every = [*(library.tree(int(i)) for i in entries), *plain, *products]
        values = np.concatenate([library.values[entries], values])
        largest = np.max(np.abs(values), axis=1)
        # what is constant to the digits of a fitted number is no function
        usable = np.isfinite(largest) & (np.ptp(values, axis=1) > FITTED * largest)
        trees = [tree for tree, use in zip(every, usable, strict=True) if use]
        size = np.array([tree.size for tree in trees])
        pool = pool_of(values[usable], size, trees.__getitem__)
        alone = min(len(entries) + len(plain), 3_000)  # nine million pairs, a third of a second
        for outer in (IDENTITY, *self.outers):
            # as for single entries
            for basis in self._bases()[: 3 if outer is IDENTITY else 1]:
                scan = self._scan(pool.values, outer, basis)
                if scan is None:
                    continue
                states = scan.singles(SINGLES)
                if outer is IDENTITY:
                    # the entries of the library
                    states += scan.pairs(range(300), range(len(every)), PAIRS)
                    states += scan.pairs(range(alone), range(alone), PAIRS)
                self._take(pool, outer, basis, states)
                if self._done():
                    return
        if len(self.table.y) > 2 * MOST_LOOSE:
            self._of_every_kind(pool, alone)
            self._beside_two(pool, alone)

    def _of_every_kind(self, pool: Pool, count: int) -> None:
        """A constant and two functions with numbers, of every two kinds: as in two decays.

        All pairs of the simplest kinds, and of the others those that fit best on the grid.
        """
        whole = [pool.tree(place) for place in range(min(count, len(pool.values)))]
        places = [i for i, tree in enumerate(whole) if next(tree.numbers(), None) is not None]
        trees, values = [whole[place] for place in places], pool.values[places]
        kinds = [repr(tree.at(map(np.sign, tree.numbers()))) for tree in trees]
        scan = self._scan(values, IDENTITY, (ONE_TREE,)) if places else None
        if scan is None:
            return
        for outer in (IDENTITY, *self.outers):
            self._of_one_kind(values, outer, trees, kinds)
        by_size = dict.fromkeys(kinds[i] for i in np.argsort(pool.size[places], kind="stable"))
        models = [
            Model(IDENTITY, (ONE_TREE, trees[i], trees[j]))
            for i, j in scan.pairs_of_kinds(kinds, SINGLES, [*by_size][:POLISHED])
        ]
        # steps that show which are on their way
        self._keep_best(polished(models, self.table, 4))

    def _of_one_kind(
        self, values: np.ndarray, outer: Outer, trees: Sequence[Tree], kinds: Sequence[str]
    ) -> None:
        """A function with a number, of every kind, alone and beside a constant: as in a diode's
        a·exp(k·v), which between two numbers of the grid fits worse than others by chance."""
        scan = self._scan(values, outer, (ONE_TREE,))
        if scan is None:
            return
        ranked = scan.singles(len(trees))
        best = {kinds[place]: trees[place] for (place,) in reversed(ranked)}
        for basis in ((), (ONE_TREE,)):
            models = [Model(outer, (*basis, tree)) for tree in best.values()]
            # there are few, and they start farther off
            self._keep_best(polished(models, self.table, 6))

    def _beside_two(
        self, pool: Pool, count: int, shortest: int = 60, numbers: int = 1_500, each: int = 8
    ) -> None:
        """A constant, a function with a number, and two of the shortest entries.

        As in 1.3·exp(−0.7·x) + 0.4·x³ − 2.2·log(x). Monomials come before other entries, functions
        of a column before those of more, up to so many numbers on the grid: four seconds. Of every
        function so many pairs are improved.
        """
        trees = [pool.tree(place) for place in range(min(count, len(pool.values)))]
        kinds: dict[str, dict[float, Tree]] = {}
        for tree in sorted(trees, key=lambda tree: tree.size):
            own = list(tree.numbers())
            if len(own) == 1:
                kinds.setdefault(repr(tree.at(iter([np.sign(own[0])]))), {})[own[0]] = tree
        plain = [tree for tree in trees if next(tree.numbers(), None) is None]
        plain = sorted(plain, key=lambda tree: (not tree.is_monomial, tree.size))[:shortest]
        values = np.array([tree.values(self.few.X) for tree in plain])
        scan = self._scan(values, IDENTITY, (ONE_TREE,)) if len(plain) > 1 else None
        if scan is None:
            return
        models = []
        for kind in kinds.values():
            grid = sorted(kind)
            numbers -= len(grid)
            if numbers < 0 or self.watch.over:
                break
            # sixteen places for one of the grid, up to its last
            finer = np.interp(np.arange(0, len(grid) - 0.97, 1 / 16), np.arange(len(grid)), grid)
            tree = kind[grid[0]]
            others = self._scan(tree.curves(self.few.X, finer), IDENTITY, (ONE_TREE,))
            for place, *pair in scan.beside(others, each) if others else ():
                function = tree.at(iter([float(finer[place])]))
                models.append(Model(IDENTITY, (ONE_TREE, function, *(plain[k] for k in pair))))
        # as of every kind
        self._keep_best(polished(models, self.table, 4))

    def _keep_best(self, models: list[Model]) -> None:
        """Those that a few steps have shown to be on their way, their numbers improved further."""
        best = sorted(models, key=lambda each: each.mean_square)[:POLISHED]
        # to the end: a step squares what is left
        for model in polished(best, self.table, 15):
            self._keep(model)

    def _bases(self) -> list[tuple[Tree, ...]]:
        """A constant; the variables too; their squares, and products while rows allow."""
        columns = [Tree(COLUMN, (), float(i)) for i in range(self.table.X.shape[1])]
        squares = [Tree(POWER, (column,), 2.0) for column in columns]
        products = [Tree("*", (a, b)) for i, a in enumerate(columns) for b in columns[i + 1 :]]
        constant = (ONE_TREE,)
        wide = (*constant, *columns, *squares, *products)
        most = len(self.few.y) // 4  # a basis leaves three quarters of the rows to judge by
        if len(wide) > most:
            wide = (*constant, *columns, *squares)
        bases = [constant, (*constant, *columns), wide]
        return [basis for basis in bases if len(basis) <= most]

    def _scan(self, values: np.ndarray, outer: Outer, basis: Iterable[Tree]) -> Scan | None:
        """Of (term, row) values."""
        if (weighted := self._weighted(outer, basis)) is None:
            return None
        weight, target, known = weighted
        return Scan(values * weight, target, known)

    def _weighted(
        self, outer: Outer, basis: Iterable[Tree]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The rows' weights, and by them the inverse of the target and the (row, term) basis; None
        where it has no such inverse."""
        few = self.few
        weight, target = outer.weighted(few.y, few.sigma)
        if not np.all(np.isfinite(target) & np.isfinite(weight)):
            return None
        known = np.column_stack([tree.values(few.X) for tree in basis]) * weight[:, None]
        return weight, target, known

    def _take(
        self, pool: Pool, outer: Outer, basis: tuple[Tree, ...], states: list[State]
    ) -> list[State]:
        """Models of these terms, fitted to all rows; the states, best first."""
        states = [each for each in states if len(basis) + len(each) < len(self.table.y) - 1]
        trees = {term: pool.tree(term) for term in {term for state in states for term in state}}
        models = fitted(
            [Model(outer, (*basis, *(trees[term] for term in state))) for state in states],
            self.table,
        )
        for model in models:
            self._keep(model)
        squares = [model.mean_square for model in models]
        return [state for _, state in sorted(zip(squares, states, strict=True))]

    def _keep(self, model: Model) -> None:
        if np.isfinite(model.mean_square):
            self.models[model.terms, id(model.outer)] = model
            self._exact, self._final = (
                self._exact or model.is_exact,
                self._final or model.is_final,
            )

    def _done(self, at_once: bool = False) -> bool:
        """Whether no larger round is needed; at once only with the last digits right, since less
        may be the expansion of a law still to come."""
        return self.watch.over or (self._final if at_once else self._exact)

    def _best(self, improved: bool) -> list[Model]:
        """The shortest descriptions, their numbers improved, what is not needed left out."""
        rows = len(self.table.y)

        def length(model: Model) -> float:
            return model.description(rows)

        ranked = sorted(self.models.values(), key=length)
        if not ranked:
            return []
        if not ranked[0].is_exact and not improved:
            return ranked[:HANDED]
        if not ranked[0].is_exact:
            # of every number of terms: five that bend to a law hide one that lacks a number
            groups: dict[int, list[Model]] = {}
            for model in ranked:
                groups.setdefault(len(model.terms), []).append(model)
            for group in groups.values():
                # to the end, as above
                ranked += polished([_loosened(model) for model in group[:POLISHED]], self.table, 15)
                if self.watch.over:
                    break
            ranked.sort(key=length)
        short = [model.shortened(self.table) for model in ranked[:SHORTENED]]
        return sorted([*short, *ranked[:HANDED]], key=length)


def _loosened(model: Model) -> Model:
    """With free numbers inside its terms, if they are not too many."""
    loose = replace(model, terms=tuple(tree.loosened() for tree in model.terms))
    return loose if len(loose.numbers()) <= MOST_LOOSE else model
