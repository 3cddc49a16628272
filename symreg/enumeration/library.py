"""All expressions of so many symbols over some columns, one kept of those that agree on the rows.

A symbol is a column, a function, an operation of two parts, or a step by one (+ 1, - 1), a doubling
or a fixed power. What has k symbols is made from what has fewer, so nothing of that size is missed;
two ways of writing the same values, or their negatives, are one entry. A function inside another
counts as three symbols: laws that nest them are rare, and without that price they are nearly all
that is made.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import sympy

from symreg.enumeration.tree import BINARY, COLUMN, POWER, SCALE, SHIFT, Tree
from symreg.formulas.functions import FUNCTIONS
from symreg.formulas.watch import Watch

STEEP = 1e9
"""Largest value over the median one: beyond it a single row decides what an entry is good for."""
NESTED = 2
"""Symbols that a function costs more around another function."""
CHUNK = 20_000
"""Entries evaluated at a time: 16 MB of 100 rows."""
DIGITS = 1e9
"""Values that agree to one part in this are the same: rounding of a few operations is 1e-15, and
two different functions differ by more on some of the rows."""
FIRST = Tree(COLUMN, (), 0)
"""The first column."""


@dataclass(frozen=True)
class Unary:
    """A step from one entry to another: the tree that it makes, and whether it is a function."""

    kind: str
    number: float = 0.0
    negative: bool = False
    largest: int = 99
    """Symbols of the largest part that it is applied to."""
    rare: bool = False
    """Whether it is taken only if asked for."""

    @property
    def function(self) -> bool:
        return self.kind in FUNCTIONS

    def tree(self, part: Tree) -> Tree:
        """The step around a tree."""
        if self.function:
            return Tree(self.kind, (Tree(SCALE, (part,), -1.0) if self.negative else part,))
        return Tree(self.kind, (part,), self.number)

    def values(self, values: np.ndarray) -> np.ndarray:
        """(entry, row) of its parts' values."""
        return self.tree(FIRST).values(values.reshape(-1, 1)).reshape(values.shape)


UNARY = (
    Unary(SHIFT, 1.0), Unary(SHIFT, -1.0), Unary(POWER, 2.0), Unary(POWER, -1.0),
    Unary(POWER, 0.5), Unary(POWER, 3.0, largest=2), Unary(SCALE, 2.0, largest=3),
    Unary("exp"), Unary("exp", negative=True), Unary("sin"), Unary("cos"), Unary("log"),
    Unary("tan", largest=2), Unary("tanh", largest=3, rare=True),
)  # fmt: skip
"""Steps from one entry to the next, with the largest entry of which they are taken: cubes, tangents
and doubles of long ones are no laws."""
OPERATIONS = tuple(BINARY)
POWERS = 2
"""Symbols of the largest base and exponent of a power like x^y."""


@dataclass
class Library:
    """Entries by number, those with fewer symbols first.

    Attributes:
        values: (entry, row).
        size: (entry,) symbols.
        complete: every expression of up to so many symbols is among them.
    """

    values: np.ndarray
    size: np.ndarray
    complete: int
    _made: np.ndarray
    """(entry, 4): step or operation, first part, second part, whether the sign is turned."""

    def __len__(self) -> int:
        return len(self.size)

    def tree(self, entry: int) -> Tree:
        """How an entry is written."""
        step, first, second, turned = (int(number) for number in self._made[entry])
        if step < 0:
            tree = Tree(COLUMN, (), first)
        elif step < len(UNARY):
            tree = UNARY[step].tree(self.tree(first))
        else:
            kind = OPERATIONS[step - len(UNARY)]
            tree = Tree(kind, (self.tree(first), self.tree(second)))
        return Tree(SCALE, (tree,), -1.0) if turned else tree


@dataclass
class _Builder:
    """A library while it grows, level by level."""

    columns: np.ndarray
    most: int
    watch: Watch
    steps: list[bool]
    """Of `UNARY` and `OPERATIONS`: whether it is allowed."""
    levels: list[slice] = field(default_factory=lambda: [slice(0, 0)])

    def __post_init__(self) -> None:
        rows = len(self.columns[0])
        directions = np.random.default_rng(0).standard_normal((rows, 2))
        self.directions = directions / np.sqrt(rows)
        self.values = np.empty((0, rows))
        self.made = np.empty((0, 4), dtype=np.int32)  # step, two parts, sign: see `_made`
        self.size = np.empty(0, dtype=np.int8)
        self.nested = np.empty(0, dtype=bool)
        self.keys = np.empty(0, dtype=np.uint64)

    def add(self, size: int, parts: Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> bool:
        """A level from (values, how made, whether a function is inside); whether it is whole."""
        begin, whole = len(self.size), True
        for values, made, nested in parts:
            self._take(size, values, made, nested)
            if len(self.size) >= self.most or self.watch.over:
                whole = False
                break
        self.levels.append(slice(begin, len(self.size)))
        return whole

    def _take(self, size: int, values: np.ndarray, made: np.ndarray, nested: np.ndarray) -> None:
        """Those of the values that are finite, no constant, and new."""
        largest = np.max(np.abs(values), axis=1)
        usable = np.isfinite(largest) & (np.ptp(values, axis=1) > largest / DIGITS)
        usable &= largest < STEEP * np.median(np.abs(values), axis=1)
        values, made, nested, largest = (each[usable] for each in (values, made, nested, largest))
        # two projections of the values over their largest, and that largest, name an entry
        projected = values @ self.directions / largest[:, None]
        projected *= np.sign(projected[:, :1])
        scaled = np.column_stack([projected, np.log(largest)]) * DIGITS
        whole = np.rint(scaled).astype(np.int64).view(np.uint64)
        # three odd numbers with bits spread evenly (primes of the hash xxHash)
        keys = whole[:, 0] * np.uint64(0x9E3779B97F4A7C15)
        # the second
        keys = (keys ^ whole[:, 1]) * np.uint64(0xC2B2AE3D27D4EB4F)
        # the third
        keys = (keys ^ whole[:, 2]) * np.uint64(0x165667B19E3779F9)
        keys, first = np.unique(keys, return_index=True)
        first = first[~np.isin(keys, self.keys, assume_unique=True)]
        first.sort()
        values, made, nested = values[first], made[first], nested[first]
        negative = np.all(values < 0, axis=1)
        values[negative] *= -1
        made[negative, 3] = 1  # see `_made`
        self.keys = np.union1d(self.keys, keys)
        self.values = np.concatenate([self.values, values])
        self.made = np.concatenate([self.made, made])
        self.nested = np.concatenate([self.nested, nested])
        self.size = np.concatenate([self.size, np.full(len(values), size, dtype=np.int8)])

    def first_level(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The columns."""
        count = len(self.columns)
        yield self.columns.copy(), _made(-1, np.arange(count), 0), np.zeros(count, dtype=bool)

    def level(self, size: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Everything of so many symbols, from smaller entries."""
        for step, unary in enumerate(UNARY):
            if not self.steps[step]:
                continue
            plain, nesting = self._of(size - 1), self._of(size - 1 - NESTED)
            if unary.function:
                plain, nesting = plain[~self.nested[plain]], nesting[self.nested[nesting]]
                plain = np.concatenate([nesting, plain])
            plain = plain[self.size[plain] <= unary.largest]
            for part in _chunks(plain):
                yield (
                    unary.values(self.values[part]), _made(step, part, 0),
                    self.nested[part] | unary.function,
                )  # fmt: skip
        for smaller in range(1, size // 2 + 1):
            larger = size - 1 - smaller
            if larger >= smaller:
                yield from self._pairs(self._of(smaller), self._of(larger))

    def _of(self, size: int) -> np.ndarray:
        if not 0 < size < len(self.levels):
            return np.empty(0, dtype=int)
        return np.arange(self.levels[size].start, self.levels[size].stop)

    def _pairs(
        self, first: np.ndarray, second: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Every operation of an entry of the one with every entry of the other."""
        step = max(1, CHUNK // max(1, len(second)))
        for begin in range(0, len(first), step):
            for block in _chunks(second):
                i, j = (
                    each.ravel()
                    for each in np.meshgrid(first[begin : begin + step], block, indexing="ij")
                )
                a, b, nested = self.values[i], self.values[j], self.nested[i] | self.nested[j]
                short = max(self.size[i[0]], self.size[j[0]]) <= POWERS
                for step, kind in enumerate(OPERATIONS, len(UNARY)):
                    if self.steps[step] and (short or kind != "^"):
                        yield BINARY[kind](a, b), _made(step, i, j), nested
                        if kind in "/^":
                            yield BINARY[kind](b, a), _made(step, j, i), nested


def _chunks(entries: np.ndarray) -> Iterator[np.ndarray]:
    for begin in range(0, len(entries), CHUNK):
        yield entries[begin : begin + CHUNK]


def _made(step: int, first: np.ndarray, second: np.ndarray | int) -> np.ndarray:
    made = np.zeros((len(first), 4), dtype=np.int32)  # the step, its two parts, whether negative
    made[:, 0], made[:, 1], made[:, 2] = step, first, second
    return made


def enumerate_expressions(
    X: np.ndarray, most: int, largest: int, watch: Watch,
    allows: Callable[[sympy.Expr], bool] | None = None, rare: bool = False,
) -> Library:  # fmt: skip
    """The library of some rows.

    Args:
        X: (row, column).
        most: entries; the level in which there are more is not complete.
        largest: symbols.
        watch: may end it.
        allows: formulas, and so the steps from which they are made; None if all are allowed.
        rare: whether rare functions are among the steps.
    """
    parts = FIRST, Tree(COLUMN, (), 1)
    made = [unary.tree(FIRST) for unary in UNARY] + [Tree(kind, parts) for kind in OPERATIONS]
    steps = [
        allows is None or allows(tree.written(sympy.symbols("a b", positive=True))) for tree in made
    ]
    for place, unary in enumerate(UNARY):
        steps[place] = steps[place] and (rare or not unary.rare)
    builder = _Builder(np.ascontiguousarray(X.T), most, watch, steps)
    complete = int(builder.add(1, builder.first_level()))
    while (
        complete and complete < largest and builder.add(complete + 1, builder.level(complete + 1))
    ):
        complete += 1
    return Library(builder.values, builder.size, complete, builder.made)
