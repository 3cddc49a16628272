"""Exact algebraic relations: A + B·y + C·y² = 0 with polynomials A, B, C, by a singular vector.

In such a table the columns m·y^k of all monomials m are dependent: of rows and columns of unit
length the smallest singular value is rounding, and its vector holds the coefficients, zero where
the relation has no term. So quotients, and roots beside polynomials, of nearly as many coefficients
as there are rows take one decomposition. Degrees rise, so that the first dependence is the relation
and no multiple of it: then no other singular value is small.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import sympy

from symreg.enumeration.model import FitTable
from symreg.enumeration.rational import exponents_up_to, monomials, scale_of
from symreg.formulas.numbers import is_simple, simple
from symreg.formulas.precision import FITTED, SAME, SOLVED
from symreg.formulas.watch import Watch

SPARE, SURPLUS = 3, 50
"""Rows more than coefficients, at least, and as many as a first look takes."""
INDEPENDENT, NEARLY = 1e-9, 3e-13
"""Least of the other singular values, over the largest: smooth functions make one small after the
other, and none of their vectors is the relation. The same before terms are left out."""
LEFT = 1e-9
"""Sine of the angle between what columns with y span and what others do, if they may be dependent;
and the length below which a column with y spans nothing."""
ROUNDED = 30
"""Roundings, over the least of the other singular values, that are a coefficient's error."""
MOST_NUMBERS, MOST_TERMS = 8, 40
"""Numbers of a relation that are no short ones, and coefficients: the square of a root beside a
polynomial has two dozen."""
DIGITS = 8
"""Of a short decimal: a product of two numbers of four."""

Degrees = tuple[int, ...]
"""Of A, B and C, as many as there are."""


class Relation(NamedTuple):
    """Terms: (term, variable) exponents, (term,) powers of y, and coefficients."""

    exponents: np.ndarray
    powers: np.ndarray
    coefficients: np.ndarray

    def polynomial(self, power: int, symbols: Sequence[sympy.Symbol]) -> sympy.Expr:
        """In front of a power of y, with exact numbers where they are simple or short decimals."""
        terms = zip(self.exponents, self.powers, self.coefficients, strict=True)
        return sympy.Add(
            *(
                _number(float(c))
                * sympy.Mul(*(s ** int(e) for s, e in zip(symbols, row, strict=True)))
                for row, own, c in terms
                if own == power
            )
        )

    @property
    def odd(self) -> int:
        """How many numbers are neither simple nor short, equal ones once: an expansion has many."""
        numbers = (_number(abs(float(c))) for c in self.coefficients)
        return len({round(np.log(float(n)) / FITTED) for n in numbers if n.is_Float})

    def solved(self, scale: np.ndarray, symbols: Sequence[sympy.Symbol]) -> Iterator[sympy.Expr]:
        """y: a quotient, whole and divided, or either root.

        Args:
            scale: (variable,) largest values.
            symbols: (variable,).
        """
        a, b, c = (self.polynomial(power, symbols) for power in range(3))
        if c == 0:
            yield -a / b
            yield from _divided(-a, b, scale, symbols)
            return
        square = _without_rounding(b**2 - 4 * a * c, scale, symbols)
        front, factors = sympy.Integer(1), [(sympy.Poly(square, *symbols), 1)]
        if len(square.args) <= MOST_TERMS:  # more, of long decimals, take sympy minutes
            front, factors = factors[0][0].sqf_list()
        outside = sympy.Mul(*(part.as_expr() ** (times // 2) for part, times in factors))
        inside = sympy.Mul(front, *(part.as_expr() for part, times in factors if times % 2))
        root = sympy.Dummy()
        for sign in (1, -1):
            whole = sympy.expand(sympy.cancel((sign * outside * root - b) / (2 * c)))
            yield whole.xreplace({root: sympy.sqrt(inside)})
            if c.free_symbols:  # where the denominator changes its sign
                yield sympy.cancel(-b / (2 * c)) + sign * sympy.sqrt(
                    sympy.cancel(square / (4 * c**2))
                )


def exact_relation(
    table: FitTable, degrees: Sequence[Degrees], watch: Watch, linear: int = 0
) -> Relation | None:
    """The exact relation of the lowest degrees, None if there is none.

    Args:
        table: whose errors do not count.
        degrees: that are tried, those of few coefficients first.
        watch: may end it.
        linear: of the last columns, of which a term has one at most, and no power.
    """
    scale = scale_of(table.X)
    unit = float(np.median(np.abs(table.y))) or 1.0
    scaled = FitTable(table.X / scale, table.y / unit, table.sigma)

    def terms(each: Degrees) -> tuple[np.ndarray, np.ndarray]:
        parts = [exponents_up_to(table.X.shape[1], degree, linear) for degree in each]
        return np.concatenate(parts), np.repeat(range(len(parts)), [len(part) for part in parts])

    def may_depend(each: Degrees) -> bool:
        # by the angle between what is spanned with y and without: monomials alone may be alike
        exponents, powers = terms(each)
        some = np.linspace(0, len(table.y) - 1, min(len(table.y), len(powers) + SURPLUS)).astype(
            int
        )
        few = FitTable(scaled.X[some], scaled.y[some], scaled.sigma[some])
        columns, _ = _unit_columns(few, exponents, powers)
        without, _ = np.linalg.qr(columns[:, powers == 0])
        spanned, sizes, _ = np.linalg.svd(columns[:, powers > 0], full_matrices=False)
        spanned = spanned[:, sizes > LEFT]
        rest = spanned - without @ (without.T @ spanned)
        return bool(np.linalg.svd(rest, compute_uv=False)[-1] < LEFT)

    # where the largest have none, those within have none
    largest = [each for each in degrees if not any(_within(each, other) for other in degrees)]
    hopeful = [each for each in largest if not watch.over and may_depend(each)]
    crowded: list[Degrees] = []
    for each in degrees:
        part = any(_within(each, other) for other in hopeful)
        if any(_within(other, each) for other in crowded):
            continue
        if each not in hopeful and not (part and may_depend(each)):
            continue
        if watch.over:
            break
        least, second, _ = _dependence(scaled, *terms(each))
        if second < NEARLY:
            crowded.append(each)
        elif least < SAME and (found := _only_dependence(scaled, *terms(each))) is not None:
            sizes = np.prod(scale**found.exponents, axis=1) * unit**found.powers
            found = found._replace(coefficients=_in_simple(found.coefficients / sizes))
            if found.odd <= MOST_NUMBERS:
                return found
    return None


def _within(one: Degrees, other: Degrees) -> bool:
    """Whether one is a part of the other."""
    return one != other and len(one) <= len(other) and all(map(int.__le__, one, other))


def _unit_columns(
    table: FitTable, exponents: np.ndarray, powers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(row, term) of terms, rows of unit length, which errors of y move alike; then columns, and
    (term,) the lengths that these had."""
    columns = monomials(table.X, exponents) * table.y[:, None] ** powers
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    size = np.linalg.norm(columns, axis=0)
    return columns / size, size


def _dependence(
    table: FitTable, exponents: np.ndarray, powers: np.ndarray
) -> tuple[float, float, np.ndarray]:
    """The two smallest singular values, over the largest, and the vector of the smallest."""
    columns, _ = _unit_columns(table, exponents, powers)
    _, values, vectors = np.linalg.svd(columns, full_matrices=False)
    least, second = values[-1], values[max(len(values) - 2, 0)]
    return float(least / values[0]), float(second / values[0]), vectors[-1]


def _only_dependence(table: FitTable, exponents: np.ndarray, powers: np.ndarray) -> Relation | None:
    """The one dependence of some terms, without those that it does not have."""
    while True:
        least, second, vector = _dependence(table, exponents, powers)
        if least > SAME:
            return None
        own = np.abs(vector)
        kept = own > ROUNDED * np.finfo(float).eps / second * np.max(own)
        if np.all(kept):
            break
        exponents, powers = exponents[kept], powers[kept]
    if second < INDEPENDENT or len(kept) > MOST_TERMS or not np.any(powers):
        return None
    _, size = _unit_columns(table, exponents, powers)
    return Relation(exponents, powers, vector / size)


def _number(value: float) -> sympy.Number:
    """A simple number or a short decimal if it is one; else as it is."""
    if is_simple(value, SOLVED):
        return sympy.Rational(simple(value))
    short = sympy.Rational(f"{value:.{DIGITS}g}")
    return short if abs(float(short) - value) <= SOLVED * abs(value) else sympy.Float(value)


def _in_simple(coefficients: np.ndarray) -> np.ndarray:
    """Over the one that makes most of them simple or short."""

    def told(unit: float) -> tuple[int, int]:
        ratios = [float(c / unit) for c in coefficients]
        return sum(_number(c).is_Rational for c in ratios), sum(map(is_simple, ratios))

    return np.asarray(coefficients / max(map(float, coefficients), key=told))


def _divided(
    above: sympy.Expr, below: sympy.Expr, scale: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> Iterator[sympy.Expr]:
    """A quotient as a polynomial and a rest over the denominator, one for each variable whose
    powers lead: with numbers that are no decimals sympy's own ways miss x + 2/(14.7 − 5·x)."""
    # of floats the leading terms would not cancel
    both = [
        each.xreplace({number: sympy.Rational(number) for number in each.atoms(sympy.Float)})
        for each in (above, below)
    ]
    for k in range(len(symbols) if below.free_symbols else 0):
        order = (*symbols[k:], *symbols[:k])
        (whole,), rest = sympy.reduced(both[0], [both[1]], *order, order="grlex")
        if whole != 0:
            first, last = (_without_rounding(each, scale, symbols) for each in (whole, rest))
            yield first + last / below


def _without_rounding(
    polynomial: sympy.Expr, scale: np.ndarray, symbols: Sequence[sympy.Symbol]
) -> sympy.Expr:
    """Without the terms that are left where others cancel."""
    largest = dict(zip(symbols, scale, strict=True))
    parts = [part.as_coeff_Mul() for part in sympy.Add.make_args(sympy.expand(polynomial))]
    sizes = [abs(float(number * part.xreplace(largest))) for number, part in parts]
    return sympy.Add(
        *(
            _number(float(number)) * part
            for (number, part), size in zip(parts, sizes, strict=True)
            if size > FITTED * max(sizes)
        )
    )
