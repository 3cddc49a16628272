"""Arguments of functions: monomials of the variables and of a few composites.

A composite is the difference of two variables of similar size, or the cosine or sine of an angle:
with one as a factor a monomial can be `r1 r2 cos(theta)` or `(x1 - x2) t`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import sympy

from symreg.formulas.precision import SAME

LARGEST_ANGLE = 4.2 * np.pi
"""Two turns, with room for their ends: columns beyond are seldom angles."""
SAME_SIZE = 30.0
"""Two variables may be subtracted if their medians are within this factor."""
WAVE_SIZE = 4.0
"""Size of a wave among exponents: as x^4, so that only 1 + u takes one as its argument."""
SINGLE = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)  # those of laws, as the pairs
PAIRS = (
    (1, 1), (1, -1), (2, 1), (2, -1), (1, 2), (1, -2), (2, 2), (2, -2), (0.5, 0.5), (0.5, -0.5),
    (1, 3), (1, -3), (3, 1), (3, -1), (3, -3), (1, 0.5), (1, -0.5), (0.5, 1), (0.5, -1), (1, 1.5),
    (1, -1.5), (1.5, 1), (1.5, -1),
)  # fmt: skip
"""Exponents of one variable and of two: those of the laws of physics that have a function, small
first."""
MOST_VARIABLES_OF_FOUR = 6
"""Of more variables arguments hold three: there are C(n, 4) products of four, 8 signs each."""


Powers = tuple[tuple["Column", float], ...]
"""A product of powers of columns: there are a hundred thousand, of which few are written."""


@dataclass(frozen=True)
class Entry:
    """What a dictionary holds.

    Attributes:
        values: (row,).
        form: in sympy, or to be written.
    """

    values: np.ndarray
    form: sympy.Expr | Powers

    @cached_property
    def expression(self) -> sympy.Expr:
        """In sympy."""
        if isinstance(self.form, tuple):
            return sympy.Mul(*(c.expression ** exponent_of(power) for c, power in self.form))
        return self.form

    @cached_property
    def holds(self) -> frozenset[str]:
        """The names of its variables."""
        if isinstance(self.form, tuple):
            return frozenset().union(*(column.holds for column, _ in self.form))
        return frozenset(map(str, self.form.free_symbols))


@dataclass(frozen=True)
class Argument(Entry):
    """A product of powers inside a function.

    Attributes:
        variables: how many it has.
        size: sum of the magnitudes of its exponents, a wave counted four times, so that only the
            widest function takes it as its argument.
        alone: whether it is itself a factor, not a function's argument.
        composite: whether it contains a difference or a wave.
    """

    variables: int
    size: float
    alone: bool = False
    composite: bool = False

    @cached_property
    def text(self) -> str:
        """As sympy writes it."""
        return str(self.expression)


@dataclass(frozen=True)
class Column(Entry):
    """A variable or a composite; `wave` marks the sine or cosine of an angle."""

    wave: bool = False

    @cached_property
    def _powers(self) -> dict[float, np.ndarray | None]:
        return {}

    def power(self, exponent: float) -> np.ndarray | None:
        """A power; None if it is not real or not finite."""
        if exponent not in self._powers:
            real = exponent % 1 == 0 or np.all(self.values >= 0)
            value = self.values**exponent
            self._powers[exponent] = value if real and np.all(np.isfinite(value)) else None
        return self._powers[exponent]


def varies(columns: np.ndarray) -> np.ndarray:
    """Whether a column, or each, is not constant."""
    return np.asarray(np.ptp(columns, axis=0) > SAME * np.max(np.abs(columns), axis=0))


def variables(X: np.ndarray, symbols: Sequence[sympy.Symbol]) -> list[Column]:
    """The columns of a table."""
    return list(map(Column, X.T, symbols))


def composites(columns: Sequence[Column], unit: float = 1.0) -> list[Column]:
    """Differences of similar variables; cosines and sines of angles and differences.

    Args:
        columns: the variables.
        unit: of angles, in radians.
    """
    differences = _differences(columns)
    scale = sympy.Integer(1) if unit == 1.0 else sympy.Float(unit)
    angles = [column for column in (*columns, *differences) if is_angle(unit * column.values)]
    waves = [
        Column(wave(unit * column.values), write(scale * column.expression), wave=True)
        for column in angles
        for wave, write in ((np.cos, sympy.cos), (np.sin, sympy.sin))
    ]
    return [column for column in (*differences, *waves) if varies(column.values)]


def _differences(columns: Sequence[Column]) -> list[Column]:
    return [
        Column(a.values - b.values, a.expression - b.expression)
        for a, b in combinations(columns, 2)
        if _of_one_size(a, b)
    ]


def is_angle(values: np.ndarray) -> bool:
    """Whether values may be radians: of order one, and not integers."""
    largest = float(np.max(np.abs(values)))
    whole = bool(np.all(values == np.round(values)))
    return 0.3 < largest < LARGEST_ANGLE and not whole  # below, a sine is its angle to 1.5 %


def exponent_of(value: float) -> sympy.Rational:
    """A half-integer in sympy."""
    return sympy.Rational(round(2 * value), 2)


def power_product(parts: Sequence[tuple[Column, float]]) -> tuple[np.ndarray, Powers] | None:
    """Values and form of a product of powers; None if its size is infinite or zero."""
    values = np.ones(len(parts[0][0].values))
    for column, exponent in parts:
        power = column.power(exponent)
        if power is None:
            return None
        values = values * power
    return (values, tuple(parts)) if measurable(values) else None


def measurable(columns: np.ndarray) -> np.ndarray:
    """Whether the size of a column, or of each, is finite and not zero: squares overflow."""
    size = np.sum(columns**2, axis=0)
    return np.isfinite(size) & (size > 0)


def _argument(values: np.ndarray, parts: Sequence[tuple[Column, float]]) -> Argument:
    size = sum(abs(exponent) * (WAVE_SIZE if c.wave else 1) for c, exponent in parts)
    composite = any(not column.expression.is_Symbol for column, _ in parts)
    return Argument(values, tuple(parts), len(parts), size, composite=composite)


def _exponents(columns: Sequence[Column]) -> Iterator[list[tuple[Column, float]]]:
    for column in columns:
        for p in SINGLE:
            yield [(column, p)]
    for a, b in combinations(columns, 2):
        for p, q in PAIRS:
            yield [(a, float(p)), (b, float(q))]
    chosen: tuple[Column, ...]
    # of three
    for chosen in combinations(columns, 3):
        # the first is positive
        for signs in product((1.0, -1.0), repeat=2):
            powers = (1.0, *signs)
            yield list(zip(chosen, powers, strict=True))
            # one of them squared
            for i in range(3):
                doubled = [p * (2 if i == j else 1) for j, p in enumerate(powers)]
                yield list(zip(chosen, doubled, strict=True))
            yield list(zip(chosen, (2 * p for p in powers), strict=True))
            yield list(zip(chosen, (0.5 * p for p in powers), strict=True))
            # one beside roots of the others, or with a root more
            for i in range(3):
                # exponents of it and of the others
                for one, others in ((1.0, 0.5), (1.5, 1.0)):
                    mixed = [p * (one if i == j else others) for j, p in enumerate(powers)]
                    yield list(zip(chosen, mixed, strict=True))
    if len(columns) <= MOST_VARIABLES_OF_FOUR:
        # of four
        for chosen in combinations(columns, 4):
            # the first is positive
            for signs in product((1.0, -1.0), repeat=3):
                yield list(zip(chosen, (1.0, *signs), strict=True))


def monomials(columns: Sequence[Column]) -> list[Argument]:
    """Monomials of up to four variables with small exponents; the first exponent is positive."""
    arguments = []
    for parts in _exponents(columns):
        product_of = power_product(parts)
        if product_of is not None and varies(product_of[0]):
            arguments.append(_argument(product_of[0], parts))
    return arguments


def with_composites(columns: Sequence[Column], others: Sequence[Column]) -> list[Argument]:
    """Every composite, alone, squared, or times powers of up to two variables."""
    beside: list[tuple[float, tuple[tuple[Column, float], ...]]] = [(1.0, ()), (2.0, ())]
    for column in columns:
        beside += [(e, ((column, p),)) for e in (1.0, 2.0) for p in (1.0, -1.0, 2.0, -2.0)]
    for a, b in combinations(columns, 2):
        beside += [(1.0, ((a, p), (b, q))) for p in (1.0, -1.0) for q in (1.0, -1.0)]
    powers = [[column.power(p) for column, p in parts] for _, parts in beside]
    real = [k for k, each in enumerate(powers) if all(power is not None for power in each)]
    nothing = np.ones(len(columns[0].values))
    first, second = (
        np.array([powers[k][n] if len(powers[k]) > n else nothing for k in real]) for n in (0, 1)
    )
    squared = np.array([beside[k][0] == 2.0 for k in real])[:, None]
    arguments = []
    for composite in others:
        values = np.where(squared, composite.values**2.0, composite.values) * first * second
        good = measurable(values.T) & varies(values.T)
        arguments += [
            _argument(values[n], ((composite, beside[k][0]), *beside[k][1]))
            for n, k in enumerate(real)
            if good[n]
        ]
    return arguments


def plain_factors(columns: Sequence[Column], others: Sequence[Column]) -> list[Argument]:
    """Factors without constants: composites, sums, 1 ± x, and the same of squares.

    Also the cosine of an angle plus or minus its sine.
    """
    one = Column(np.ones(len(columns[0].values)), sympy.Integer(1))
    factors = [Argument(c.values, c.expression, len(c.holds), 1.0, alone=True) for c in others]
    waves = [column for column in others if column.wave]
    for a, b in combinations(waves, 2):
        if a.expression.args == b.expression.args:
            for sign in (1, -1):
                form = a.expression + sign * b.expression
                values = a.values + sign * b.values
                factors.append(Argument(values, form, len(a.holds), 2.0, alone=True))
    pairs = [(a, b) for a, b in combinations(columns, 2) if _of_one_size(a, b)]
    pairs += [(one, c) for c in columns if _of_one_size(one, c)]
    for a, b in pairs:
        for power in (1, 2):
            for sign in (1, -1):
                values = a.values**power + sign * b.values**power
                form = a.expression**power + sign * b.expression**power
                factors.append(Argument(values, form, len(a.holds | b.holds), 2.0, alone=True))
    return [argument for argument in factors if np.all(argument.values != 0)]


def _of_one_size(a: Column, b: Column) -> bool:
    """Whether two columns can be added without losing one in the other."""
    ratio = float(np.median(np.abs(a.values)) / np.median(np.abs(b.values)))
    return 1 / SAME_SIZE < ratio < SAME_SIZE


def distances(columns: Sequence[Column]) -> list[Argument]:
    """Sums of squares: of variables, of differences, of two or three coordinates."""
    sums = []
    # a vector of three; a distance in a plane and in space
    for pool, sizes in ((columns, (3,)), (_differences(columns), (2, 3))):
        for size in sizes:
            for chosen in combinations(pool, size):
                held = frozenset().union(*(column.holds for column in chosen))
                if len(held) < sum(len(column.holds) for column in chosen):
                    continue
                values = np.sum([column.values**2 for column in chosen], axis=0)
                expression = sympy.Add(*(column.expression**2 for column in chosen))
                sums.append(Argument(values, expression, len(held), 2.0 * size, alone=True))
    # the law of cosines: the third side of a triangle
    for angle in columns:
        if not is_angle(angle.values):
            continue
        for a, b in combinations([c for c in columns if c is not angle], 2):
            values = a.values**2 + b.values**2 - 2 * a.values * b.values * np.cos(angle.values)
            expression = (
                a.expression**2
                + b.expression**2
                - 2 * a.expression * b.expression * sympy.cos(angle.expression)
            )
            # two sides and an angle, squares of two
            sums.append(Argument(values, expression, 3, 4.0, alone=True))
    return [argument for argument in sums if np.all(argument.values > 0)]
