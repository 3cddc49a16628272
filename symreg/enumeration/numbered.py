"""Functions of an argument times a number on a grid, and their products with short expressions."""

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from symreg.enumeration.tree import COLUMN, POWER, SCALE, SHIFT, Tree

ARGUMENTS, FACTORS = 40, 12
"""Columns, their squares, products and quotients; of many columns not all."""
MOST, MOST_MIXED = 40_000, 26_000
"""Trees in all, and products of two numbered ones among them: what fits into a second."""


def numbered(X: np.ndarray) -> tuple[list[Tree], list[Tree], np.ndarray]:
    """Trees with a free number, products of these, and the (tree, row) values of all.

    The number is of the order of one over the argument: a wave may turn a few times over the rows,
    an exponential may grow by e^20, as a diode's does, or be over in a fortieth of the range; what
    lies between two numbers of the grid is reached by polishing.
    """
    columns = [Tree(COLUMN, (), float(i)) for i in range(X.shape[1])]
    # nearly five turns: 0.6 radians apart, see `_grids`
    plain = _trees(_arguments(columns), X, 50)
    # up to seven turns of one column or two; of more columns there are too many products
    # products of two waves are as many as the square: one and a half turns at least
    turns = max(16, 72 // max(1, len(columns) - 1))
    own = [each for column in columns for each in _trees([column], X, turns)]
    values = _values(plain, X)
    # each times a column or two, and the numbered ones of two columns with each other
    mixed = [Tree("*", (a, b)) for a, b in combinations(own, 2) if _worth_mixing(a, b)]
    mixed = mixed[:MOST_MIXED]
    factors = max(2, (MOST - len(plain) - len(mixed)) // max(1, len(plain)))
    every, rows = list(mixed), [_values(mixed, X)]
    for factor in _arguments(columns)[: min(factors, FACTORS)]:
        every += [Tree("*", (factor, tree)) for tree in plain]
        rows.append(values * factor.values(X))
    return plain, every, np.concatenate([values, *rows])


def _arguments(columns: list[Tree]) -> list[Tree]:
    pairs = list(combinations(columns, 2))
    arguments = [*columns, *(Tree("*", pair) for pair in pairs)]
    arguments += [Tree(POWER, (column,), 2.0) for column in columns]
    arguments += [Tree(kind, pair) for kind in ("/", "-", "+") for pair in pairs]
    arguments += [Tree(POWER, (column,), power) for power in (-1.0, -2.0) for column in columns]
    return arguments[:ARGUMENTS]


def _trees(arguments: Iterable[Tree], X: np.ndarray, waves: int) -> list[Tree]:
    """Every function of every argument at every number."""
    return [
        _of_number(kind, argument, float(number))
        for argument in arguments
        for kind, grid in _grids(argument.values(X), waves)
        for number in grid
    ]


def _values(trees: list[Tree], X: np.ndarray) -> np.ndarray:
    """(tree, row); parts that many trees share are evaluated once."""
    seen: dict[int, np.ndarray] = {}

    def of(tree: Tree) -> np.ndarray:
        if id(tree) not in seen:
            seen[id(tree)] = tree.values(X)
        return seen[id(tree)]

    rows = np.empty((len(trees), len(X)))
    for place, tree in enumerate(trees):
        product = tree.kind == "*" and len(trees) > ARGUMENTS
        rows[place] = of(tree.parts[0]) * of(tree.parts[1]) if product else of(tree)
    return rows


def _worth_mixing(first: Tree, second: Tree) -> bool:
    """Waves with waves and exponentials; of one column only a wave that decays or grows."""
    kinds = {first.kind, second.kind}
    if not kinds <= {"sin", "cos", "exp"} or kinds == {"exp"}:
        return False
    same = first.parts[0].parts[0] == second.parts[0].parts[0]
    return not same or "exp" in kinds


def _grids(values: np.ndarray, count: int) -> list[tuple[str, np.ndarray]]:
    """The numbers to try in each function of an argument."""
    largest, span = float(np.max(np.abs(values))), float(np.ptp(values))
    middle = float(np.median(np.abs(values)))
    if not 0 < middle <= largest < np.inf:
        return []
    # 0.6 radians: a wave and its neighbour keep a correlation of 0.9 over the rows
    waves = np.linspace(0.5, 0.6 * count, count) / span
    # from where a function is nearly its leading term to where it is flat, or one row rules; a
    # factor of 1.5 to 2 apart, which a polish covers
    rates = np.geomspace(0.3, 20.0, 10) / largest
    # the same, of decays
    decays = np.geomspace(0.3, 40.0, 12) / largest
    # the same, about the argument's middle
    ratios = np.geomspace(0.1, 10.0, 8) / middle
    grids = [
        ("sin", waves), ("cos", waves), ("exp", rates), ("exp", -decays), ("1/(1+u)", ratios),
        ("log(1+u)", ratios), ("tanh", rates),
    ]  # fmt: skip
    if np.all(values > 0):
        # as fitted in laws of scaling; whole ones, their halves and inverses are entries
        grids.append(("power", np.array([-2.5, -1.5, -0.7, -0.3, 0.3, 0.4, 0.7, 1.3, 1.5, 2.5])))
    return grids


def _of_number(kind: str, argument: Tree, number: float) -> Tree:
    if kind == "power":
        return Tree(POWER, (argument,), number, True)
    scaled = Tree(SCALE, (argument,), number, True)
    if kind == "1/(1+u)":
        return Tree(POWER, (Tree(SHIFT, (scaled,), 1.0),), -1.0)
    if kind == "log(1+u)":
        return Tree("log", (Tree(SHIFT, (scaled,), 1.0),))
    return Tree(kind, (scaled,))
