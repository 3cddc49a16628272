"""Short sums: T(y) = b1·m1 + b2·m2 + ..., and ratios of two of them.

The terms m are monomials, some times a wave; T is y, its inverse, its square, a root or a
logarithm. All pairs of terms have a closed form in one Gram matrix; the best pairs, and the best
single terms, are extended term by term (a beam). Terms y·m make ratios: y = a·m1 +
c·y·m2 is y = a·m1 / (1 - c·m2).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import sympy

from symreg.formulas.watch import Watch
from symreg.projection.bases import Column, composites, exponent_of, measurable, power_product
from symreg.projection.product_search import explained_by_pairs, worth
from symreg.projection.products import EXACT

HIGHEST_DEGREE = 4
MOST_POLYNOMIAL = 70
CERTAIN = 5.0
"""Standard errors that a polynomial's term must be from zero."""
MOST_ATOMS = 2500
MOST_WITH_WAVES = 14_000
PAIRED = 1500
"""Terms, the best singly, paired with all others where there are more."""
BEAM = 100
SCREENED_ROWS = 150
MOST_TERMS = 6
CANCELLED = 1e-6
"""Least size of a denominator, over that of its parts."""
TOO_ALIKE = 1e-10
"""Share of a term's square that the others must leave."""


@dataclass(frozen=True)
class Atom:
    """A term without its coefficient; `of_target` marks one that is multiplied by y."""

    values: np.ndarray
    expression: sympy.Expr
    of_target: bool = False


@dataclass(frozen=True)
class Transform:
    """A function of the target that equals a sum.

    Attributes:
        forward: T(y).
        slope: dT/dy, for the weights.
        backward: y of the sum, in sympy.
        positive: whether it needs y > 0.
        ratio: whether terms may be multiplied by y, to form a denominator.
    """

    name: str
    forward: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    backward: Callable[[sympy.Expr], sympy.Expr]
    positive: bool = False
    ratio: bool = False


TRANSFORMS = (
    Transform("y", lambda y: y, np.ones_like, lambda s: s),
    Transform("ratio", lambda y: y, np.ones_like, lambda s: s, ratio=True),
    Transform("1/y", lambda y: 1 / y, lambda y: 1 / y**2, lambda s: 1 / s),
    Transform("y^2", lambda y: y**2, lambda y: 2 * y, sympy.sqrt, positive=True),
    Transform("1/y^2", lambda y: y**-2.0, lambda y: 2 / y**3, lambda s: 1 / sympy.sqrt(s), True),
    Transform("sqrt(y)", np.sqrt, lambda y: 0.5 / np.sqrt(y), lambda s: s**2, positive=True),
    Transform("log(y)", np.log, lambda y: 1 / y, sympy.exp, positive=True),
)


@dataclass(frozen=True)
class Sum:
    """A fitted sum.

    Attributes:
        transform: of the target.
        atoms: its terms.
        coefficients: of the terms.
        mean_square: of the weighted residuals, relative to the target's own size.
        target: (row,) y.
    """

    transform: Transform
    atoms: tuple[Atom, ...]
    coefficients: np.ndarray
    mean_square: float
    target: np.ndarray

    @property
    def is_sound(self) -> bool:
        """Whether there is a numerator, and a denominator without cancellation."""
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
        return self.transform.backward(total)


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


def one(rows: int) -> Atom:
    """The constant term."""
    return Atom(np.ones(rows), sympy.Integer(1))


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
    found = list(atoms)
    waves = [column for column in composites(columns) if column.wave]
    waves.sort(key=lambda wave: len(wave.holds))
    for p in (1.0, 2.0):
        for wave in waves:
            power = wave.power(p)
            if power is None or len(found) + len(atoms) > MOST_WITH_WAVES:
                continue
            form = wave.expression ** exponent_of(p)
            found += [Atom(atom.values * power, atom.expression * form) for atom in atoms]
    return found


def _parts(columns: Sequence[Column]):
    """Exponents of monomials, simple ones first."""
    count = len(columns)
    if count == 1:
        alone = [p * s for p in (1, 2, 3, 0.5, 1.5, 4, 5, 6, 2.5, 7, 8, 9, 12, 13, 14)
                  for s in (1.0, -1.0)]  # fmt: skip
        yield from ([(columns[0], p)] for p in alone)
        return
    small = (1.0, -1.0, 2.0, -2.0)
    singles = (*small, 3.0, -3.0, 0.5, -0.5) + ((4.0, -4.0) if count <= 3 else ())
    for column in columns:
        yield from ([(column, p)] for p in singles)
    pairs = singles if count <= 3 else (*small, 0.5, -0.5)
    for a, b in combinations(columns, 2):
        yield from ([(a, p), (b, q)] for p, q in product(pairs, pairs))
    chosen: tuple[Column, ...]
    for chosen in combinations(columns, 3):
        for powers in product(small if count <= 5 else (1.0, -1.0), repeat=3):
            yield list(zip(chosen, powers, strict=True))
    for chosen in combinations(columns, 4):
        for powers in product((1.0, -1.0), repeat=4):
            yield list(zip(chosen, powers, strict=True))


def _atom(parts: Sequence[tuple[Column, float]]) -> Atom | None:
    found = power_product(parts)
    return None if found is None else Atom(*found)


def search_sums(
    y: np.ndarray,
    sigma: np.ndarray,
    atoms: Sequence[Atom],
    watch: Watch,
    terms: int = MOST_TERMS,
    polynomial: Sequence[Sequence[Atom]] = (),
) -> list[Sum]:
    """The best sums of one term, of two, and so on, for every transform of the target.

    Args:
        y: (row,) a transform undefined for one of them is left out.
        sigma: (row,) error of every row, or its substitute: |y| for equal relative errors.
        atoms: terms to choose from.
        watch: may end the search between transforms.
        terms: most of them in a sum.
        polynomial: sets of terms all fitted at once, then dropped one by one: similar terms hide
            each other from a search that adds them.
    """
    found: list[Sum] = []
    for transform in TRANSFORMS:
        if transform.positive and not np.all(y > 0):
            continue
        with np.errstate(all="ignore"):
            wanted, weights = transform.forward(y), 1 / np.abs(transform.slope(y) * sigma)
            usable = np.all(np.isfinite(wanted * weights))
        if not usable:
            continue
        for terms_at_once in polynomial if not transform.ratio else ():
            found += _eliminated(transform, wanted * weights, weights, terms_at_once, y)
        pool = list(atoms[: 2 * MOST_ATOMS])
        if transform.ratio:
            with np.errstate(all="ignore"):
                pool += [Atom(a.values * y, a.expression, True) for a in pool[1:]]
        found += _beam(transform, wanted * weights, weights, pool, terms, y)
        least = min((s.mean_square for s in found), default=np.inf)
        if transform is TRANSFORMS[0] and len(atoms) > len(pool) and least > EXACT**2:
            found += _beam(transform, wanted * weights, weights, atoms, terms, y)
        if watch.over or min((s.mean_square for s in found), default=np.inf) < EXACT**2:
            break
    return found


def two_terms(y: np.ndarray, atoms: Sequence[Atom]) -> list[Sum]:
    """The best sums of one and two terms for equal relative errors: quick, and often the law."""
    weights = 1 / np.abs(y)
    if not np.all(np.isfinite(weights)):
        return []
    return _beam(TRANSFORMS[0], y * weights, weights, atoms[: 2 * MOST_ATOMS], 2, y)


def polynomials(columns: Sequence[Column]) -> list[list[Atom]]:
    """The terms of polynomials, degree by degree, as far as the rows support them."""
    rows = len(columns[0].values)
    found: list[list[Atom]] = []
    for degree in range(1, HIGHEST_DEGREE + 1):
        if math.comb(len(columns) + degree, degree) > min(rows // 4, MOST_POLYNOMIAL):
            break
        parts = [
            [(c, float(p)) for c, p in zip(columns, powers, strict=True) if p]
            for powers in product(range(degree + 1), repeat=len(columns))
            if 0 < sum(powers) <= degree
        ]
        made = [atom for part in parts if (atom := _atom(part)) is not None]
        found.append([one(rows), *made])
    return found


def _eliminated(
    transform: Transform, wanted: np.ndarray, weights: np.ndarray, atoms: Sequence[Atom],
    target: np.ndarray,
) -> list[Sum]:  # fmt: skip
    """All terms at once, the least certain dropped until every one is."""
    whole = _weighted(atoms, weights)
    if not np.all(measurable(whole)):
        return []
    state = list(range(len(atoms)))
    while state:
        chosen = whole[:, state] / np.linalg.norm(whole[:, state], axis=0)
        solution, *_ = np.linalg.lstsq(chosen, wanted, rcond=1e-14)
        rest = wanted - chosen @ solution
        spread = np.linalg.norm(rest) / np.sqrt(max(len(wanted) - len(state), 1))
        with np.errstate(invalid="ignore"):  # terms that are alike; no error is no certainty
            error = spread * np.sqrt(np.diag(np.linalg.pinv(chosen.T @ chosen)))
        certain = np.abs(solution) / np.maximum(error, 1e-13 * np.max(np.abs(solution)))
        least = int(np.argmin(certain))
        if certain[least] > CERTAIN:
            break
        del state[least]
    if not 0 < len(state) <= 2 * MOST_TERMS:
        return []
    return [_fitted(transform, tuple(state), whole, wanted, atoms, target)]


def straight(y: np.ndarray, sigma: np.ndarray, columns: Sequence[Column]) -> list[Sum]:
    """Straight lines and polynomials: cheap to fit, and a reader's first thought.

    A constant and one variable, or its logarithm; all variables; every term of a polynomial, except
    uncertain ones.
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
    found = []
    for terms in polynomials(columns):
        found += _eliminated(TRANSFORMS[0], y * weights, weights, terms, y)
    for atoms in sets:
        whole = np.column_stack([atom.values * weights for atom in atoms])
        state = tuple(range(len(atoms)))
        found.append(_fitted(TRANSFORMS[0], state, whole, y * weights, atoms, y))
    return found


def _beam(
    transform: Transform,
    wanted: np.ndarray,
    weights: np.ndarray,
    pool: Sequence[Atom],
    terms: int,
    target: np.ndarray,
) -> list[Sum]:
    whole = _weighted(pool, weights)
    good = measurable(whole)
    pool = [atom for atom, use in zip(pool, good, strict=True) if use]
    whole = whole[:, good]
    rows = slice(0, None, max(1, len(wanted) // SCREENED_ROWS))
    columns, shown = whole[rows], wanted[rows]
    size = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(size > 0, size, 1.0)
    states: list[tuple[int, ...]] = [(j,) for j in np.argsort(-np.abs(shown @ columns))[:BEAM]]
    found = [_fitted(transform, each, whole, wanted, pool, target) for each in states[:1]]
    if not found:
        return []
    for count in range(2, terms + 1):
        ranked = _best_pairs(columns, shown) if count == 2 else _extended(states, columns, shown)
        states = [state for _, state in ranked[:BEAM]]
        if not states:
            break
        tried = [_fitted(transform, s, whole, wanted, pool, target) for s in states[:12]]
        tried = [each for each in tried if each.is_sound]
        before = min(each.mean_square for each in found)
        found += tried[:4]
        after = min((each.mean_square for each in tried), default=np.inf)
        if after < EXACT**2 or not worth(before, after, len(wanted)):
            break
    return found


def _weighted(atoms: Sequence[Atom], weights: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.column_stack([atom.values * weights for atom in atoms])


def _best_pairs(columns: np.ndarray, wanted: np.ndarray) -> list[tuple[float, tuple[int, ...]]]:
    """The best pairs, in closed form: all, or with many terms the best with all."""
    shared = wanted @ columns
    order = np.argsort(-np.abs(shared))
    columns, shared = columns[:, order], shared[order]
    total = columns.shape[1]
    best: list[tuple[float, tuple[int, ...]]] = []
    paired = total if total <= 2 * MOST_ATOMS else PAIRED
    for first in range(0, paired, 400):
        rows = slice(first, min(first + 400, paired))
        cosine = columns[:, rows].T @ columns[:, first:]
        gain = explained_by_pairs(shared[rows, None], shared[first:], cosine, TOO_ALIKE)
        most = min(2 * BEAM, gain.size)
        for place in np.argpartition(gain.ravel(), -most)[-most:]:
            i, j = divmod(int(place), gain.shape[1])
            if i < j:
                best.append(
                    (float(gain.flat[place]), (int(order[first + i]), int(order[first + j])))
                )
    best.sort(key=lambda item: -item[0])
    return best


def _extended(
    states: Sequence[tuple[int, ...]], columns: np.ndarray, wanted: np.ndarray
) -> list[tuple[float, tuple[int, ...]]]:
    """Every state with its best further terms, best first, each set of terms once."""
    best: dict[tuple[int, ...], float] = {}
    for state in states:
        basis, _ = np.linalg.qr(columns[:, state])
        rest = wanted - basis @ (basis.T @ wanted)
        left = 1 - np.sum((basis.T @ columns) ** 2, axis=0)
        with np.errstate(all="ignore"):
            gain = np.where(left > TOO_ALIKE, (rest @ columns) ** 2 / left, 0.0)
        explained = float(wanted @ wanted - rest @ rest)
        for j in np.argpartition(gain, -10)[-10:]:
            best[tuple(sorted((*state, int(j))))] = explained + float(gain[j])
    return sorted(((gain, state) for state, gain in best.items()), key=lambda item: -item[0])


def _fitted(
    transform: Transform, state: tuple[int, ...], columns: np.ndarray, wanted: np.ndarray,
    pool: Sequence[Atom], target: np.ndarray,
) -> Sum:  # fmt: skip
    coefficients, rest = solved(columns[:, list(state)], wanted)
    atoms = tuple(pool[j] for j in state)
    return Sum(transform, atoms, coefficients, float(np.mean(rest**2)), target)


def solved(columns: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of columns of any size by least squares, and (row,) residuals."""
    size = np.linalg.norm(columns, axis=0)
    size[size == 0] = 1.0
    solution, *_ = np.linalg.lstsq(columns / size, wanted, rcond=1e-14)
    return solution / size, wanted - columns / size @ solution
