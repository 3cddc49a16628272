"""Short sums: T(y) = b1·m1 + b2·m2 + ..., and ratios of two of them.

The terms m are monomials, some times a wave; T is y, its inverse, its square, a root or a
logarithm. All pairs of terms have a closed form in one Gram matrix; the best pairs, and the best
single terms, are extended term by term (a beam). Terms y·m make ratios: y = a·m1 +
c·y·m2 is y = a·m1 / (1 - c·m2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import sympy

from symreg.formulas.precision import EXACT
from symreg.formulas.watch import Watch
from symreg.projection.atoms import MOST_ATOMS, Atom, ScaledTerm, Term, one
from symreg.projection.bases import Column, measurable
from symreg.projection.product_search import worth
from symreg.projection.products import least_error
from symreg.search.outer import IDENTITY, POWERS, Outer
from symreg.search.polish import in_batches, least_squares, projected
from symreg.search.scan import Scan, State

PAIRED = 1500
"""Terms, the best singly, paired with all others where there are more."""
BEAM = 100
"""Sums extended at each step."""
SCREENED_ROWS = 150
"""Rows that rank sums: noise alone correlates with a term by 1/sqrt(150) = 0.08 there."""
MOST_TERMS = 6
"""Of a sum: a longer one is an expansion."""
CANCELLED = 1e-6
"""Least size of a denominator, over that of its parts."""
TOO_ALIKE = 1e-10
"""Share of a term's square that the others must leave."""
FITTED, GIVEN = 12, 4
"""Sums of a number of terms that are fitted to all rows, and handed over."""
PARTNERS = 400
"""Terms that may come first beside a scaled one, simplest first."""
STEPS = 12
"""Of a polish of scales."""


WAYS = ((IDENTITY, False), (IDENTITY, True), *((outer, False) for outer in POWERS))
"""Functions of the target, and whether terms may be multiplied by y, to form a denominator."""


class Weighted(NamedTuple):
    """A target as an outer function of a sum.

    Attributes:
        y: (row,).
        outer: around the sum.
        weights: (row,) of the sum.
        wanted: (row,) the sum, weighted.
    """

    y: np.ndarray
    outer: Outer
    weights: np.ndarray
    wanted: np.ndarray

    @classmethod
    def of(cls, y: np.ndarray, sigma: np.ndarray, outer: Outer = IDENTITY) -> "Weighted":
        """With errors (row,) of y, or their substitute: |y| for equal relative errors."""
        return cls(y, outer, *outer.weighted(y, sigma))

    def design(self, terms: Sequence[Term]) -> np.ndarray:
        """(row, term) weighted."""
        return np.column_stack([term.values * self.weights for term in terms])


@dataclass(frozen=True)
class Sum:
    """A fitted sum.

    Attributes:
        outer: around it.
        atoms: its terms.
        coefficients: of the terms.
        mean_square: of the weighted residuals, relative to the target's own size.
        target: (row,) y.
    """

    outer: Outer
    atoms: tuple[Term, ...]
    coefficients: np.ndarray
    mean_square: float
    target: np.ndarray

    @property
    def is_sound(self) -> bool:
        """Whether functions are curved, and a numerator stands over no cancelling denominator."""
        if any(isinstance(a, ScaledTerm) and a.is_linear for a in self.atoms):
            return False
        above = [a for a in self.atoms if not a.of_target]
        parts = [
            b * a.values for b, a in zip(self.coefficients, self.atoms, strict=True) if a.of_target
        ]
        if not above or not parts:
            return bool(above)
        whole = self.target - np.sum(parts, axis=0)
        size = np.abs(self.target) + np.sum(np.abs(parts), axis=0)
        return bool(np.all(np.abs(whole) > CANCELLED * size))

    def expression(self) -> sympy.Expr:
        """The formula, common factors in front."""
        above = [
            (b, a.expression)
            for b, a in zip(self.coefficients, self.atoms, strict=True)
            if not a.of_target
        ]
        below = [
            (-b, a.expression)
            for b, a in zip(self.coefficients, self.atoms, strict=True)
            if a.of_target
        ]
        total = _gathered(above)
        if below:
            total = total / sympy.Add(1, *(sympy.Float(b) * m for b, m in below))
        return self.outer.written(total)


def _gathered(terms: Sequence[tuple[float, sympy.Expr]]) -> sympy.Expr:
    """A sum with common factors taken out."""
    powers = [m.as_powers_dict() for _, m in terms]
    common: sympy.Expr = sympy.Integer(1)
    if len(terms) > 1:
        for base in set(powers[0]).intersection(*map(set, powers[1:])):
            if base.is_number:
                continue
            exponents = [power[base] for power in powers]
            if all(e > 0 for e in exponents) or all(e < 0 for e in exponents):
                common *= base ** min(exponents, key=abs)
    return common * sympy.Add(*(sympy.Float(b) * (m / common) for b, m in terms))


def search_sums(y: np.ndarray, sigma: np.ndarray, atoms: Sequence[Atom], watch: Watch) -> list[Sum]:
    """The best sums of one term, of two, and so on, for every function of the target.

    Args:
        y: (row,) a function undefined for one of them is left out.
        sigma: (row,) error of every row, or its substitute: |y| for equal relative errors.
        atoms: terms to choose from.
        watch: may end the search between functions.
    """
    sums: list[Sum] = []
    for outer, ratio in WAYS:
        if not outer.allowed(y):
            continue
        pool = list(atoms[: 2 * MOST_ATOMS])
        if ratio:
            pool += [Atom(a.values * y, a.form, True) for a in pool[1:]]
        target = Weighted.of(y, sigma, outer)
        sums += best_sums(target, pool, MOST_TERMS)
        first = (outer, ratio) == WAYS[0]
        if first and len(atoms) > len(pool) and least_error(sums) > EXACT**2:
            sums += best_sums(target, atoms, MOST_TERMS)
        if watch.over or least_error(sums) < EXACT**2:
            break
    return sums


def straight_lines(y: np.ndarray, sigma: np.ndarray, columns: Sequence[Column]) -> list[Sum]:
    """Straight lines: cheap to fit, and a reader's first thought.

    A constant and one variable, or its logarithm; all variables.
    """
    constant = one(len(y))
    lines = [Atom(column.values, column.form) for column in columns]
    logs = [
        Atom(np.log(column.values), sympy.log(column.form))
        for column in columns
        if np.all(column.values > 0)
    ]
    sets: list[tuple[Atom, ...]] = [(line,) for line in lines]
    sets += [(constant, line) for line in (*lines, *logs)]
    if len(lines) > 1:
        sets += [tuple(lines), (constant, *lines)]
    target = Weighted.of(y, sigma)
    return [line for atoms in sets for line in _fitted(target, [atoms])]


def best_sums(
    target: Weighted, plain: Sequence[Atom], terms: int, scaled: Sequence[ScaledTerm] = ()
) -> list[Sum]:
    """The best sums of up to so many terms, term by term.

    With scaled terms the first pair has one, as in 0.4 + 0.3·2^n: their scales are on a grid, and
    improved in the best (variable projection).

    Args:
        target: where it is not finite there is no sum.
        plain: terms without a scale, simplest first.
        terms: most of them in a sum.
        scaled: terms with one.
    """
    if not np.all(np.isfinite(target.wanted)):
        return []
    pool: list[Term] = [*plain[: PARTNERS if scaled else None], *scaled]
    whole = target.design(pool)
    good = measurable(whole)
    first_scaled = int(np.count_nonzero(good[: len(pool) - len(scaled)]))
    pool = [atom for atom, use in zip(pool, good, strict=True) if use]
    whole = whole[:, good]
    if not pool or (scaled and not 0 < first_scaled < len(pool)):
        return []
    rows = slice(0, None, max(1, len(target.y) // SCREENED_ROWS))
    scan = Scan(whole[rows].T, target.wanted[rows], alike=TOO_ALIKE)
    first: range | np.ndarray = range(len(pool))
    second = range(len(pool))
    if scaled:
        first, second = range(first_scaled, len(pool)), second[:first_scaled]
    elif len(pool) > 2 * MOST_ATOMS:
        first = np.argsort(-np.abs(scan.shared))[:PAIRED]

    def fitted(states: Sequence[State]) -> list[Sum]:
        return _fitted(target, [tuple(pool[j] for j in state) for state in states])

    states = scan.singles(BEAM)
    sums = fitted(states[:1])
    for count in range(2, terms + 1):
        if count == 2:
            states = scan.pairs(first, second, BEAM)
        else:
            states = scan.extended(states[:BEAM], len(pool), 10)
        if not states:
            break
        tried = [each for each in fitted(states[:FITTED]) if each.is_sound]
        before, after = least_error(sums), least_error(tried)
        sums += tried[:GIVEN]
        if after < EXACT**2 or not worth(before, after, len(target.y)):
            break
    return sums


def _fitted(target: Weighted, sums: list[tuple[Term, ...]]) -> list[Sum]:
    """Sums of as many terms fitted to all rows, the scales of scaled terms too."""
    sums = in_batches(sums, _scaled, lambda batch: _polished(batch, target))
    fits = projected(np.array([target.design(atoms) for atoms in sums]), target.wanted)
    return [
        Sum(target.outer, atoms, own, float(np.mean(left**2)), target.y)
        for atoms, own, left in zip(sums, fits.linear, fits.residuals, strict=True)
    ]


def _scaled(sums: tuple[Term, ...]) -> int:
    """How many terms have a scale."""
    return sum(isinstance(atom, ScaledTerm) for atom in sums)


def _polished(sums: Sequence[tuple[Term, ...]], target: Weighted) -> list[tuple[Term, ...]]:
    """Sums with as many scaled terms, their scales better."""
    if not _scaled(sums[0]):
        return list(sums)
    design = np.array([target.design(atoms) for atoms in sums])
    scaled = np.array([[isinstance(a, ScaledTerm) for a in atoms] for atoms in sums])
    places = np.array([np.flatnonzero(own) for own in scaled])

    def at(numbers: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole = design[chosen]
        slopes = np.empty((len(chosen), len(target.y), numbers.shape[1]))
        for k, which in enumerate(chosen):
            for i, place in enumerate(places[which]):
                term = sums[which][place].at(numbers[k, i])
                whole[k, :, place] = term.values * target.weights
                slopes[k, :, i] = term.slope * target.weights
        solved = projected(whole, target.wanted)
        linear = np.take_along_axis(solved.linear, places[chosen], axis=1)
        tangents = np.nan_to_num(slopes * linear[:, None, :])
        return solved.residuals, solved.slopes(tangents)

    start = np.array([[a.scale for a in atoms if isinstance(a, ScaledTerm)] for atoms in sums])
    best = least_squares(at, start, STEPS)
    moved = [list(atoms) for atoms in sums]
    for atoms, own, numbers in zip(moved, places, best, strict=True):
        for place, number in zip(own, numbers, strict=True):
            atoms[place] = atoms[place].at(float(number))
    return [tuple(atoms) for atoms in moved]
