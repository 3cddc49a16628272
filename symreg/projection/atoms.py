"""Terms of sums: monomials, some times a wave; and a factor times exp, sin or cos of a free scale.

The scale of a scaled term is on a grid until a sum is polished.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import ClassVar, NamedTuple

import numpy as np
import sympy

from symreg.formulas.functions import FUNCTIONS, Function
from symreg.projection.bases import Argument, Column, Entry, composites, monomials, power_product

MOST_ATOMS, MOST_WITH_WAVES, MOST_SCALED = 2500, 14_000, 8000
"""Terms of each kind: pairs of 2 x 2500 are a matrix of 100 MB in blocks, longer lists are paired
with their best alone."""
LINEAR_BELOW = 0.05
"""Largest argument of a scaled term below which it is none."""
LARGEST_SIZE = 3.0
"""Size of the largest argument of a scaled term, see `Argument.size`."""


@dataclass(frozen=True)
class Atom(Entry):
    """A term without its coefficient; `of_target` marks one that is multiplied by y."""

    of_target: bool = False


@dataclass(frozen=True)
class ScaledTerm:
    """A term f·g(s·h) whose scale s is free.

    Attributes:
        factor: f.
        function: g.
        argument: h.
        scale: s.
    """

    factor: Atom
    function: Function
    argument: Argument
    scale: float
    of_target: ClassVar[bool] = False

    @cached_property
    def values(self) -> np.ndarray:
        """(row,) of the term; not finite where it is too large."""
        return np.asarray(self._inner[1] * self.factor.values)

    @property
    def slope(self) -> np.ndarray:
        """(row,) derivative by the scale."""
        by_argument = self.function.slope(*self._inner)
        return np.asarray(by_argument * self.argument.values * self.factor.values)

    @cached_property
    def _inner(self) -> tuple[np.ndarray, np.ndarray]:
        """(row,) s·h, and the function of it."""
        u = self.scale * self.argument.values
        return u, self.function.value(u)

    @property
    def expression(self) -> sympy.Expr:
        """The term in sympy."""
        inner = sympy.Float(self.scale) * self.argument.expression
        return self.function.write(inner) * self.factor.expression

    @property
    def is_linear(self) -> bool:
        """Whether its argument is so small that it is a sum of powers."""
        return float(np.max(np.abs(self.scale * self.argument.values))) < LINEAR_BELOW

    def at(self, scale: float) -> "ScaledTerm":
        """The same with another scale."""
        return replace(self, scale=scale)


class Grid(NamedTuple):
    """A function, and the largest arguments to try."""

    function: Function
    reaches: np.ndarray


Term = Atom | ScaledTerm

# steps of 1.4: between two of them an exponential differs by less than a polish covers
_REACHES = np.geomspace(0.1, 30.0, 18)
"""From where an exponential is a straight line to where one row alone is left."""
EXPONENTIAL = Grid(FUNCTIONS["exp"], np.concatenate([_REACHES, -_REACHES]))
"""Of either sign."""
# 0.7 radians: a wave and its neighbour keep a correlation of 0.9 over the rows
WAVES = tuple(Grid(FUNCTIONS[name], np.arange(1.0, 60.0, 0.7)) for name in ("sin", "cos"))
"""Of up to ten turns."""


def scaled_terms(
    columns: Sequence[Column], grids: Sequence[Grid], powers: Sequence[float] = (1.0,)
) -> list[ScaledTerm]:
    """Functions of monomials, alone and times a power of a variable, simplest first; waves of
    variables."""
    parts = [[(column, power)] for power in powers for column in columns]
    factors = [one(len(columns[0].values)), *filter(None, map(_atom, parts))]
    arguments = [h for h in monomials(columns) if h.variables <= 2 and h.size <= LARGEST_SIZE]
    terms: list[ScaledTerm] = []
    arguments.sort(key=lambda h: h.size)
    for factor, h in product(factors, arguments):
        if len(terms) < MOST_SCALED:
            for grid in grids:
                if grid is EXPONENTIAL or (h.variables, h.size) == (1, 1.0):
                    scales = grid.reaches / float(np.max(np.abs(h.values)))
                    terms += [ScaledTerm(factor, grid.function, h, float(s)) for s in scales]
    return terms[:MOST_SCALED]


def one(rows: int) -> Atom:
    """The constant term."""
    return Atom(np.ones(rows), ())


def atoms_of(columns: Sequence[Column]) -> list[Atom]:
    """Monomials of all variables with small exponents of either sign.

    The fewer the variables the larger the exponents.
    """
    atoms = [one(len(columns[0].values))]
    for parts in _parts(columns):
        atom = _atom(parts)
        if atom is not None:
            atoms.append(atom)
        if len(atoms) >= MOST_ATOMS:
            break
    return atoms


def with_waves(atoms: Sequence[Atom], columns: Sequence[Column]) -> list[Atom]:
    """The same, and each times the sine or cosine of an angle, one variable first."""
    terms = list(atoms)
    plain = [(atom, atom.form) for atom in atoms if isinstance(atom.form, tuple)]
    waves = [column for column in composites(columns) if column.wave]
    waves.sort(key=lambda wave: len(wave.holds))
    for p in (1.0, 2.0):
        for wave in waves:
            power = wave.power(p)
            if power is None or len(terms) + len(atoms) > MOST_WITH_WAVES:
                continue
            terms += [Atom(atom.values * power, (*parts, (wave, p))) for atom, parts in plain]
    return terms


def _parts(columns: Sequence[Column]):
    """Exponents of monomials, simple ones first."""
    count = len(columns)
    if count == 1:
        # usual ones first; up to those of Lennard-Jones' potential and its force
        alone = [p * s for p in (1, 2, 3, 0.5, 1.5, 4, 5, 6, 2.5, 7, 8, 9, 12, 13, 14)
                  for s in (1.0, -1.0)]  # fmt: skip
        yield from ([(columns[0], p)] for p in alone)
        return
    small = (1.0, -1.0, 2.0, -2.0)
    # fourth powers, and all pairs of exponents, while three variables leave room for them
    singles = (*small, 3.0, -3.0, 0.5, -0.5) + ((4.0, -4.0) if count <= 3 else ())
    for column in columns:
        yield from ([(column, p)] for p in singles)
    # as above
    pairs = singles if count <= 3 else (*small, 0.5, -0.5)
    for a, b in combinations(columns, 2):
        yield from ([(a, p), (b, q)] for p, q in product(pairs, pairs))
    chosen: tuple[Column, ...]
    # of three and of four, fewer exponents: there are C(n, 3)·4³ and C(n, 4)·2⁴
    for chosen in combinations(columns, 3):
        # 640 of five
        for powers in product(small if count <= 5 else (1.0, -1.0), repeat=3):
            yield list(zip(chosen, powers, strict=True))
    # of four
    for chosen in combinations(columns, 4):
        # of either sign
        for powers in product((1.0, -1.0), repeat=4):
            yield list(zip(chosen, powers, strict=True))


def _atom(parts: Sequence[tuple[Column, float]]) -> Atom | None:
    values_and_form = power_product(parts)
    return None if values_and_form is None else Atom(*values_and_form)
