"""Functions of an argument times a number on a grid, and their products with short expressions."""

import numpy as np

from symreg.enumeration.library import Library
from symreg.enumeration.tree import POWER, SCALE, SHIFT, Tree

ARGUMENTS, FACTORS = 16, 10
"""Arguments and factors, the shortest entries of a library."""


def numbered(library: Library, X: np.ndarray) -> tuple[list[Tree], np.ndarray]:
    """Trees with a free number, and their (tree, row) values.

    The number is of the order of one over the argument: a wave may turn a dozen times over the
    rows, and an exponential may change by e^8; halves of the step between are reached by polishing.
    """
    trees: list[Tree] = []
    plain = [i for i in range(len(library)) if library.size[i] <= 3]
    arguments = [i for i in plain if _is_algebraic(library.tree(i))][:ARGUMENTS]
    for i in arguments:
        argument, values = library.tree(i), library.values[i]
        for kind, grid in _grids(values):
            trees += [_of_number(kind, argument, float(number)) for number in grid]
    with np.errstate(all="ignore"):
        values = np.array([tree.values(X) for tree in trees])
    factors = [(library.tree(i), library.values[i]) for i in plain[:FACTORS]]
    every, rows = list(trees), [values]
    for factor, size in factors:
        every += [Tree("*", (factor, tree)) for tree in trees]
        rows.append(values * size)
    found = np.concatenate(rows)
    largest = np.max(np.abs(found), axis=1)
    usable = np.isfinite(largest) & (np.ptp(found, axis=1) > 1e-9 * largest)
    return [tree for tree, use in zip(every, usable, strict=True) if use], found[usable]


def _is_algebraic(tree: Tree) -> bool:
    return tree.kind not in ("sin", "cos", "tan", "exp", "log") and all(
        _is_algebraic(part) for part in tree.parts
    )


def _grids(values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The numbers to try in each function of an argument."""
    largest, span = float(np.max(np.abs(values))), float(np.ptp(values))
    middle = float(np.median(np.abs(values)))
    if not 0 < middle <= largest < np.inf:
        return []
    waves = np.linspace(0.5, 30.0, 50) / span
    rates = np.geomspace(0.3, 8.0, 8) / largest
    ratios = np.geomspace(0.1, 10.0, 8) / middle
    grids = [
        ("sin", waves), ("cos", waves), ("exp", rates), ("exp", -rates), ("1/(1+u)", ratios),
        ("log(1+u)", ratios), ("tanh", rates),
    ]  # fmt: skip
    if np.all(values > 0):
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
