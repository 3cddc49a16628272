"""Short sums: T(y) = b1·m1 + b2·m2 + ..., and ratios of two of them.

The terms m are monomials, some times a wave; T is y, its inverse, its square, a root or a
logarithm. All pairs of terms have a closed form in one Gram matrix; the best pairs, and the best
single terms, are extended term by term (a beam). Terms y·m make ratios: y = a·m1 +
c·y·m2 is y = a·m1 / (1 - c·m2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from symreg.formulas.precision import EXACT
from symreg.formulas.watch import Watch
from symreg.projection.atoms import MOST_ATOMS, Atom, ScaledTerm, Term, one
from symreg.projection.bases import Column, measurable
from symreg.projection.product_search import worth
from symreg.search.outer import IDENTITY, POWERS, Outer
from symreg.search.polish import least_squares, projected
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


def search_sums(
    y: np.ndarray,
    sigma: np.ndarray,
    atoms: Sequence[Atom],
    watch: Watch,
) -> list[Sum]:
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
        wanted, weights = outer.forward(y), 1 / np.abs(outer.slope(y) * sigma)
        usable = np.all(np.isfinite(wanted * weights))
        if not usable:
            continue
        pool = list(atoms[: 2 * MOST_ATOMS])
        if ratio:
            pool += [Atom(a.values * y, a.form, True) for a in pool[1:]]
        sums += _beam(outer, wanted * weights, weights, pool, MOST_TERMS, y)
        least = min((s.mean_square for s in sums), default=np.inf)
        if (outer, ratio) == WAYS[0] and len(atoms) > len(pool) and least > EXACT**2:
            sums += _beam(outer, wanted * weights, weights, atoms, MOST_TERMS, y)
        if watch.over or min((s.mean_square for s in sums), default=np.inf) < EXACT**2:
            break
    return sums


def sums_with_scales(
    y: np.ndarray,
    sigma: np.ndarray,
    atoms: Sequence[Atom],
    scaled: Sequence[ScaledTerm],
    terms: int,
) -> list[Sum]:
    """The best sums of a scaled term and one other, then more of both kinds, best first.

    As in 0.4 + 0.3·2^n: scales are on a grid, and improved in the best (variable projection).

    Args:
        y: (row,).
        sigma: (row,) as in `search_sums`.
        atoms: terms without a scale, simplest first.
        scaled: terms with one.
        terms: most of them in a sum.
    """
    weights = 1 / sigma
    if not np.all(np.isfinite(y * weights)):
        return []
    sums = _beam(IDENTITY, y * weights, weights, atoms[:PARTNERS], terms, y, scaled)
    return sorted(sums, key=lambda each: each.mean_square)


def two_terms(y: np.ndarray, atoms: Sequence[Atom]) -> list[Sum]:
    """The best sums of one and two terms for equal relative errors: quick, and often the law."""
    weights = 1 / np.abs(y)
    if not np.all(np.isfinite(weights)):
        return []
    return _beam(IDENTITY, y * weights, weights, atoms[: 2 * MOST_ATOMS], 2, y)


def straight_lines(y: np.ndarray, sigma: np.ndarray, columns: Sequence[Column]) -> list[Sum]:
    """Straight lines: cheap to fit, and a reader's first thought.

    A constant and one variable, or its logarithm; all variables.
    """
    constant = one(len(y))
    lines = [Atom(column.values, column.expression) for column in columns]
    logs = [
        Atom(np.log(column.values), sympy.log(column.expression))
        for column in columns
        if np.all(column.values > 0)
    ]
    sets: list[tuple[Atom, ...]] = [(line,) for line in lines]
    sets += [(constant, line) for line in (*lines, *logs)]
    if len(lines) > 1:
        sets += [tuple(lines), (constant, *lines)]
    weights = 1 / sigma
    sums = []
    for atoms in sets:
        whole = np.column_stack([atom.values * weights for atom in atoms])
        states = [tuple(range(len(atoms)))]
        sums += _fitted(IDENTITY, states, whole, y * weights, atoms, y, weights)
    return sums


def _beam(
    outer: Outer,
    wanted: np.ndarray,
    weights: np.ndarray,
    plain: Sequence[Atom],
    terms: int,
    target: np.ndarray,
    scaled: Sequence[ScaledTerm] = (),
) -> list[Sum]:
    """The best sums, term by term; with scaled terms the first pair has one."""
    pool: list[Term] = [*plain, *scaled]
    whole = np.column_stack([atom.values * weights for atom in pool])
    good = measurable(whole)
    first_scaled = int(np.count_nonzero(good[: len(plain)]))
    pool = [atom for atom, use in zip(pool, good, strict=True) if use]
    whole = whole[:, good]
    if not pool or (scaled and not 0 < first_scaled < len(pool)):
        return []
    rows = slice(0, None, max(1, len(wanted) // SCREENED_ROWS))
    scan = Scan(whole[rows].T, wanted[rows], alike=TOO_ALIKE)
    first: range | np.ndarray = range(len(pool))
    second = range(len(pool))
    if scaled:
        first, second = range(first_scaled, len(pool)), second[:first_scaled]
    elif len(pool) > 2 * MOST_ATOMS:
        first = np.argsort(-np.abs(scan.shared))[:PAIRED]

    def fitted(states: Sequence[State]) -> list[Sum]:
        return _fitted(outer, states, whole, wanted, pool, target, weights)

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
        before = min(each.mean_square for each in sums)
        sums += tried[:GIVEN]
        after = min((each.mean_square for each in tried), default=np.inf)
        if after < EXACT**2 or not worth(before, after, len(wanted)):
            break
    return sums


def _fitted(
    outer: Outer, states: Sequence[State], columns: np.ndarray,
    wanted: np.ndarray, pool: Sequence[Term], target: np.ndarray, weights: np.ndarray,
) -> list[Sum]:  # fmt: skip
    """Sums of as many terms fitted to all rows, the scales of scaled terms too."""
    sums = [tuple(pool[j] for j in state) for state in states]
    design = np.array([columns[:, list(state)] for state in states])
    counts = [sum(isinstance(atom, ScaledTerm) for atom in atoms) for atoms in sums]
    for count in {*counts} - {0}:
        places = [place for place, own in enumerate(counts) if own == count]
        moved = _polished([sums[place] for place in places], design[places], wanted, weights)
        for place, atoms in zip(places, moved, strict=True):
            sums[place] = atoms
            design[place] = np.column_stack([atom.values * weights for atom in atoms])
    fits = projected(design, wanted)
    return [
        Sum(outer, atoms, own, float(np.mean(left**2)), target)
        for atoms, own, left in zip(sums, fits.linear, fits.residuals, strict=True)
    ]


def _polished(
    sums: Sequence[tuple[Term, ...]], design: np.ndarray, wanted: np.ndarray, weights: np.ndarray
) -> list[tuple[Term, ...]]:
    """Sums with as many scaled terms, their scales better."""
    scaled = np.array([[isinstance(a, ScaledTerm) for a in atoms] for atoms in sums])
    places = np.array([np.flatnonzero(own) for own in scaled])

    def at(numbers: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole, slopes = design[chosen], np.empty((len(chosen), len(wanted), numbers.shape[1]))
        for k, which in enumerate(chosen):
            for i, place in enumerate(places[which]):
                term = sums[which][place].at(numbers[k, i])
                whole[k, :, place] = term.values * weights
                slopes[k, :, i] = term.slope * weights
        solved = projected(whole, wanted)
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
