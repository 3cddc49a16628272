"""Simple numbers: which they are, what one costs to write down, and those near a fitted one.

A number p/q in lowest terms, as 3, 7/2 or 0.1. About p·q fractions are as simple, so that one takes
log p + log q nats; a number with n rows behind it takes half log n (`enumeration.model`).
"""

import math
from fractions import Fraction
from functools import lru_cache

import sympy

from symreg.formulas.precision import SAME

LARGEST, LARGEST_DENOMINATOR = 1000, 12
"""Of simple numbers."""
SIGN = 0.5
"""Nats for a number beside its size: its sign, and that it is simple."""


def simple(
    value: float, denominator: int = LARGEST_DENOMINATOR, largest: int = LARGEST
) -> Fraction:
    """The nearest fraction of so small numbers, or whole number; zero if there is none."""
    near = Fraction(value).limit_denominator(denominator)
    if abs(near.numerator) > largest:
        near = Fraction(round(value)) if abs(value) < largest else Fraction(0)
    return near


def is_simple(value: float, tolerance: float = SAME) -> bool:
    """Whether a number is a simple one, up to a relative difference."""
    return math.isfinite(value) and abs(float(simple(value)) - value) <= tolerance * abs(value)


def exact(value: float) -> sympy.Expr:
    """A simple number exactly, any other as a float."""
    return sympy.Rational(simple(value)) if is_simple(value) else sympy.Float(value)


def simple_near(value: float) -> list[float]:
    """One, and the nearest whole number, half, third, tenth and twelfth, cheapest first."""
    if not math.isfinite(value) or not 1e-2 < abs(value) < LARGEST:
        return []
    # whole numbers, halves, thirds and twelfths
    near = {simple(value, denominator) for denominator in (1, 2, 3, LARGEST_DENOMINATOR)}
    near |= {Fraction(round(10 * value), 10), Fraction(int(math.copysign(1, value)))}
    return sorted((float(number) for number in near if number), key=price)


@lru_cache(maxsize=4096)
def price(value: float) -> float:
    """Nats for a simple number; infinite for others."""
    if not is_simple(value):
        return math.inf
    number = simple(value)
    return SIGN + (math.log(abs(number.numerator * number.denominator)) if number else 0.0)
