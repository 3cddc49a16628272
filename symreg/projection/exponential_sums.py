"""Sums of one term and an exponential: y = a·m + b·x·exp(s·h), as in 0.4 + 0.3·2^n.

The scale s is on a grid; for every exponential the best partner has a closed form; for the best
pairs only the scale is improved, the coefficients solved inside (variable projection).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy
from scipy.optimize import least_squares

from symreg.formulas.expressions import rounded
from symreg.projection.bases import Argument, Column, measurable, monomials
from symreg.projection.product_search import explained_by_pairs
from symreg.projection.sums import TOO_ALIKE, TRANSFORMS, Atom, Sum, one, solved

REACHES = np.geomspace(0.1, 30.0, 18)
"""Largest arguments of the exponential to try, of either sign."""
MOST_EXPONENTIALS = 8000
LARGEST_SIZE = 3.0
"""Size of the largest argument, see `Argument.size`."""
PARTNERS = 400
"""Terms that may accompany it, simplest first."""
POLISHED = 12
ROWS = 150
WORST = 1e6


@dataclass(frozen=True)
class Exponential:
    """A term f·exp(s·h)."""

    argument: Argument
    factor: Atom
    scale: float

    def at(self, scale: float) -> np.ndarray:
        """(row,) with another scale."""
        return np.asarray(np.exp(scale * self.argument.values) * self.factor.values)


def exponentials(columns: Sequence[Column]) -> list[Exponential]:
    """The terms to try, simplest first."""
    factors = [
        one(len(columns[0].values)),
        *(Atom(column.values, column.expression) for column in columns),
    ]
    found: list[Exponential] = []
    arguments = [h for h in monomials(columns) if h.variables <= 2 and h.size <= LARGEST_SIZE]
    for factor in factors:
        for h in sorted(arguments, key=lambda h: h.size):
            scales = REACHES / float(np.max(np.abs(h.values)))
            found += [Exponential(h, factor, float(s)) for s in (*scales, *-scales)]
    return found[:MOST_EXPONENTIALS]


def search_exponential_sums(
    y: np.ndarray, sigma: np.ndarray, columns: Sequence[Column], atoms: Sequence[Atom]
) -> list[Sum]:
    """The best sums of a term and an exponential, for errors of a given size, best first."""
    weights = 1 / sigma
    partners = list(atoms[:PARTNERS])
    tried = exponentials(columns)
    if not partners or not tried:  # a column that does not vary
        return []
    rows = slice(0, None, max(1, len(y) // ROWS))
    with np.errstate(all="ignore"):
        plain = np.column_stack([a.values * weights for a in partners])
        bent = np.column_stack([e.at(e.scale)[rows] * weights[rows] for e in tried])
    usable, tame = measurable(plain), measurable(bent)
    partners = [a for a, good in zip(partners, usable, strict=True) if good]
    tried = [e for e, good in zip(tried, tame, strict=True) if good]
    plain, bent = plain[:, usable], bent[:, tame]
    if not partners or not tried:
        return []
    wanted = y * weights
    gains = _gains(plain[rows], bent, wanted[rows])
    best = np.argsort(-np.max(gains, axis=0))[:POLISHED]
    found = []
    for j in best:
        i = int(np.argmax(gains[:, j]))
        found.append(_polished(partners[i], plain[:, i], tried[j], wanted, weights, y))
    found.sort(key=lambda each: each.mean_square)
    # neighbours on the grid of scales end at one place
    return list({sympy.sstr(rounded(each.expression(), 6)): each for each in found}.values())


def _gains(plain: np.ndarray, bent: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(partner, exponential) squares explained by a pair."""
    plain, bent = plain / np.linalg.norm(plain, axis=0), bent / np.linalg.norm(bent, axis=0)
    return explained_by_pairs((wanted @ plain)[:, None], wanted @ bent, plain.T @ bent, TOO_ALIKE)


def _polished(
    partner: Atom, column: np.ndarray, term: Exponential, wanted: np.ndarray, weights: np.ndarray,
    y: np.ndarray,
) -> Sum:  # fmt: skip
    def at(step: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            values = term.at(term.scale * float(np.exp(step[0]))) * weights
        design = np.column_stack([column, values])
        if not np.all(measurable(design)):
            return np.zeros(2), wanted * WORST
        return solved(design, wanted)

    found = least_squares(
        lambda step: at(step)[1], np.zeros(1), method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    scale = term.scale * float(np.exp(found.x[0]))
    coefficients, rest = at(found.x)
    form = sympy.exp(sympy.Float(scale) * term.argument.expression) * term.factor.expression
    atoms = partner, Atom(term.at(scale), form)
    return Sum(TRANSFORMS[0], atoms, coefficients, float(np.mean(rest**2)), y)
