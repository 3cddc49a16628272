"""Polynomials and quotients of polynomials: p(x) − y·q(x) = 0 is linear in all coefficients.

Of rows [monomials of p, −y · monomials of q] the smallest singular vector holds the coefficients.
With noise ε in y a row is off by ε·q, so rows are weighted by 1/q of the last step, a few times
(Sanathanan & Koerner, IEEE Trans. Autom. Control 8, 56, 1963). Terms that the description length
does not need are dropped one by one; what remains is fitted as p/q.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement

import numpy as np
import sympy

from symreg.enumeration.model import UNFIT, FitTable, FittedFormula
from symreg.formulas.numbers import exact, price, simple_near
from symreg.formulas.precision import SAME
from symreg.formulas.watch import Watch
from symreg.search.description import length
from symreg.search.polish import least_squares, projected
from symreg.search.scan import Scan

LARGEST_DEGREE = {1: 9, 2: 6, 3: 4}
"""Total degrees by number of variables; 2 beyond."""
SAME_NATS = 0.1
"""Nats within which two descriptions are one: what rounding moves."""
REWEIGHTED = 5
"""Steps of weights by 1/q: each gains about two digits where q is of one sign."""
MOST_NUMBERS, MOST_TERMS = 24, 7
"""Coefficients of a quotient, and terms of a sparse polynomial: beyond these a search of noisy rows
finds only what bends like them."""
BEAM, REDUCED, HANDED = 30, 6, 6
"""States to which a term is added; quotients whose terms are tried without, and handed over: each
costs some tens of fits."""


@dataclass(frozen=True)
class Quotient(FittedFormula):
    """p/q with one coefficient of q set to one.

    Attributes:
        above: (term, variable) exponents of p.
        below: the same of q.
        coefficients: of p, then of q.
        mean_square: of the residuals over the table's errors.
    """

    above: np.ndarray
    below: np.ndarray
    coefficients: np.ndarray
    mean_square: float = np.inf

    @property
    def fitted_numbers(self) -> int:
        """How many of its numbers are no simple ones."""
        return sum(not np.isfinite(price(float(c))) for c in self.coefficients)

    def description(self, rows: int) -> float:
        """Nats to write the residuals and the formula down."""
        # a term, its variables, and their exponents
        size = sum(
            1 + int(np.count_nonzero(e)) + int(np.count_nonzero(e > 1))
            for e in (*self.above, *self.below)
        )
        if len(self.below) == 1 and not np.any(self.below):
            size -= 1
        return length(self.mean_square, rows, size, map(float, self.coefficients))

    def expression(self, symbols: Sequence[sympy.Symbol]) -> sympy.Expr:
        """In sympy, whole numbers and simple fractions exactly."""
        count = len(self.above)
        above = _polynomial(self.above, self.coefficients[:count], symbols)
        below = _polynomial(self.below, self.coefficients[count:], symbols)
        return above / below


def _polynomial(
    exponents: np.ndarray, coefficients: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> sympy.Expr:
    terms = (
        exact(float(c)) * sympy.Mul(*(s ** int(e) for s, e in zip(symbols, row, strict=True)))
        for c, row in zip(coefficients, exponents, strict=True)
    )
    return sympy.Add(*terms)


def monomials(X: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """(row, term) of (term, variable) whole exponents."""
    powers = np.cumprod([np.ones_like(X), *[X] * int(np.max(exponents, initial=0))], axis=0)
    terms = np.ones((len(X), len(exponents)))
    for variable, own in enumerate(exponents.T):
        terms *= powers[own, :, variable].T
    return terms


@cache
def exponents_up_to(variables: int, degree: int, linear: int = 0) -> np.ndarray:
    """(term, variable) of all monomials of a total degree and below, of the last so many variables
    one at most; to be read alone."""
    exponents = [
        np.bincount(chosen, minlength=variables)
        for total in range(degree + 1)
        for chosen in combinations_with_replacement(range(variables), total)
    ]
    whole = np.array([np.zeros(variables, int) if not len(e) else e for e in exponents], dtype=int)
    whole = whole[np.sum(whole[:, variables - linear :], axis=1) <= 1]
    whole.setflags(write=False)
    return whole


def coefficients_of(variables: int, degrees: Sequence[int], linear: int = 0) -> int:
    """How many polynomials of these degrees have."""
    return sum(len(exponents_up_to(variables, each, linear)) for each in degrees)


def scale_of(X: np.ndarray) -> np.ndarray:
    """(variable,) largest values, over which powers are of order one."""
    scale = np.max(np.abs(X), axis=0)
    scale[scale == 0] = 1.0
    return scale


def search_quotients(table: FitTable, watch: Watch) -> list[Quotient]:
    """The best quotients, shortest description first."""
    rows, variables = table.X.shape
    scale = scale_of(table.X)
    scaled = replace(table, X=table.X / scale)
    whole: list[Quotient] = []
    for above, below in quotient_degrees(variables):
        p, q = exponents_up_to(variables, above), exponents_up_to(variables, below)
        count = len(p) + len(q)
        # as many numbers as half of the rows bend to any noise
        if count > min(rows // 2, MOST_NUMBERS) or watch.over:
            continue
        found = _null_vector(Quotient(p, q, np.zeros(count)), scaled)
        if found is not None:
            whole.append(_fitted(found, scaled) if below else found)
    whole.sort(key=lambda each: each.description(rows))
    polynomials = [each for each in whole if len(each.below) == 1]
    whole = whole[:REDUCED] + polynomials[: REDUCED // 2] + _sparse_polynomials(scaled)
    reduced = [_reduced(each, scaled) for each in whole]
    reduced.sort(key=lambda each: each.description(rows))
    back = [_simplified(_unscaled(each, scale), table) for each in reduced[:HANDED]]
    return sorted(back, key=lambda each: each.description(rows))


def _sparse_polynomials(table: FitTable) -> list[Quotient]:
    """Polynomials of few terms, the best of each number, where there are too many for all."""
    rows, variables = table.X.shape
    p = exponents_up_to(variables, LARGEST_DEGREE.get(variables, 2))
    columns = monomials(table.X, p).T / table.sigma
    wanted = table.y / table.sigma
    scan = Scan(columns, wanted)
    states, polynomials, one = scan.singles(BEAM), [], np.zeros((1, variables), dtype=int)
    # three rows for each number
    for _ in range(min(MOST_TERMS, rows // 3)):
        if not states:
            break
        terms = np.array(states)
        fits = projected(columns[terms].swapaxes(1, 2), wanted)
        squares = np.mean(fits.residuals**2, axis=1)
        order = np.argsort(squares, kind="stable")
        polynomials += [
            Quotient(p[terms[i]], one, np.append(fits.linear[i], 1.0), float(squares[i]))
            for i in order[:2]
        ]
        # four terms for each: the beam is chosen from all of these
        states = scan.extended([states[i] for i in order[:BEAM]], len(p), 4)
    polynomials.sort(key=lambda each: each.description(rows))
    return polynomials[:REDUCED]


def quotient_degrees(variables: int) -> list[tuple[int, int]]:
    """Degrees of p and q, those of few coefficients first."""
    largest = LARGEST_DEGREE.get(variables, 2)
    # in four variables a polynomial of degree three has 35 terms: denominators stop before
    every = [
        (p, q) for p in range(1, largest + 1) for q in range(largest + 1 if variables < 4 else 3)
    ]
    every += [(0, q) for q in range(1, largest + 1)]
    return sorted(every, key=lambda pair: coefficients_of(variables, pair))


def _null_vector(quotient: Quotient, table: FitTable) -> Quotient | None:
    """The coefficients, rows weighted by 1/q, and the error that p/q leaves.

    The first step is the smallest singular vector, which needs no coefficient to be nonzero. It
    takes the errors of every column for equal, though only those with y have any; so the steps
    that follow set the largest coefficient of q to one, and solve for the others.
    """
    count, y = len(quotient.above), table.y
    above, below = monomials(table.X, quotient.above), monomials(table.X, quotient.below)
    rows = np.column_stack([above, -y[:, None] * below])
    weight, pivot = 1 / table.sigma, -1
    best: Quotient | None = None
    for step in range(REWEIGHTED if len(quotient.below) > 1 else 2):
        weighted = rows * weight[:, None]
        size = np.linalg.norm(weighted, axis=0)
        if not np.all(np.isfinite(size)) or np.any(size == 0):
            return best
        if step == 0:
            _, _, vectors = np.linalg.svd(weighted / size, full_matrices=False)
            vector = vectors[-1] / size
            pivot = count + int(np.argmax(np.abs(vectors[-1][count:])))
        else:
            others = np.delete(np.arange(len(size)), pivot)
            # of exact rows every digit counts
            solution, *_ = np.linalg.lstsq(
                weighted[:, others] / size[others], -weighted[:, pivot], rcond=1e-14
            )
            vector = np.insert(solution / size[others], pivot, 1.0)
        denominator = below @ vector[count:]
        residuals = (above @ vector[:count] / denominator - y) / table.sigma
        square = float(np.mean(residuals**2))
        if not np.isfinite(square):
            return best
        if best is None or square < best.mean_square:
            best = replace(quotient, coefficients=vector, mean_square=square)
        if best.mean_square < SAME**2:
            break
        weight = 1 / (np.abs(denominator) * table.sigma)
    return best


def _reduced(best: Quotient, table: FitTable) -> Quotient:
    """Without the terms that the description does not need."""
    rows = len(table.y)
    while len(best.coefficients) > 2:
        # the size of each term's part in p − y·q says which to try without first
        parts = np.abs(best.coefficients) * np.concatenate([
            np.sqrt(np.mean(monomials(table.X, best.above) ** 2, axis=0)),
            np.sqrt(np.mean((table.y[:, None] * monomials(table.X, best.below)) ** 2, axis=0)),
        ])  # fmt: skip
        trials = []
        # exact quotients, and long ones, show which terms are superfluous
        for place in np.argsort(parts)[: 4 if best.mean_square < SAME**2 or len(parts) > 12 else 8]:
            trial = _without(best, int(place))
            trial = _null_vector(trial, table) if trial is not None else None
            if trial is not None:
                trials.append(trial)
        if not trials:
            break
        trial = min(trials, key=lambda each: each.description(rows))
        if trial.description(rows) >= best.description(rows):
            break
        best = trial
    return best


def _without(quotient: Quotient, place: int) -> Quotient | None:
    """Without one term; p and q keep one each."""
    count = len(quotient.above)
    coefficients = np.delete(quotient.coefficients, place)
    if place < count:
        above = np.delete(quotient.above, place, axis=0)
        return replace(quotient, above=above, coefficients=coefficients) if len(above) else None
    below = np.delete(quotient.below, place - count, axis=0)
    return replace(quotient, below=below, coefficients=coefficients) if len(below) else None


def _unscaled(quotient: Quotient, scale: np.ndarray) -> Quotient:
    """In the table's own units, the coefficient that makes most others whole set to one."""
    exponents = np.concatenate([quotient.above, quotient.below])
    coefficients = quotient.coefficients / np.prod(scale**exponents, axis=1)
    count = len(quotient.above)
    if len(quotient.below) == 1:
        return replace(quotient, coefficients=coefficients / coefficients[count])

    def whole(unit: float) -> int:
        # coefficients of an exact quotient have six digits at least
        return sum(abs(c / unit - round(c / unit)) < 1e-6 for c in coefficients)

    units = np.abs(coefficients[coefficients != 0])
    unit = max(units, key=lambda each: (whole(each), each))
    if whole(unit) < 2:
        unit = np.abs(coefficients[count])
    if np.sum(coefficients[count:] > 0) < len(quotient.below) / 2:
        unit = -unit
    return replace(quotient, coefficients=coefficients / unit)


def _simplified(quotient: Quotient, table: FitTable) -> Quotient:
    """Fitted as p/q, its coefficients set to simple numbers where that is shorter."""
    rows, best = len(table.y), _fitted(quotient, table)
    fixed: frozenset[int] = frozenset()
    for place in range(len(best.coefficients)):
        for near in simple_near(float(best.coefficients[place])):
            changed = best.coefficients.copy()
            changed[place] = near
            trial = _fitted(replace(best, coefficients=changed), table, fixed | {place})
            # a number that costs nothing to set is set: equal up to rounding
            if trial.description(rows) <= best.description(rows) + SAME_NATS:
                best, fixed = trial, fixed | {place}
                break
    return best


def _fitted(quotient: Quotient, table: FitTable, fixed: frozenset[int] = frozenset()) -> Quotient:
    """The coefficients fitted to y, apart from those that are set and the largest of q."""
    count, start = len(quotient.above), quotient.coefficients
    held = set(fixed)
    if not held & set(range(count, len(start))):
        held.add(count + int(np.argmax(np.abs(start[count:]))))
    free = [i for i in range(len(start)) if i not in held]

    above, below = monomials(table.X, quotient.above), monomials(table.X, quotient.below)

    def residuals(steps: np.ndarray, _: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # d(p/q) is m/q for a term m of p, and -(p/q)·m/q for one of q
        coefficients = at(steps[0])
        denominator = below @ coefficients[count:]
        ratio = (above @ coefficients[:count]) / denominator
        slopes = np.column_stack([above, -ratio[:, None] * below])[:, free]
        slopes = slopes * start[free] / (denominator * table.sigma)[:, None]
        return ((ratio - table.y) / table.sigma)[None], slopes[None]

    def at(step: np.ndarray) -> np.ndarray:
        moved = start.copy()
        moved[free] = start[free] * step
        return moved

    step = np.ones((1, len(free)))
    if len(free) < len(table.y):
        step = least_squares(residuals, step)
    left = np.where(np.isfinite(error := residuals(step, step)[0]), error, UNFIT)
    return replace(quotient, coefficients=at(step[0]), mean_square=float(np.mean(left**2)))
