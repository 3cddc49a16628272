"""The functions that a law may contain: their values, their notation, where to look."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy

from symreg.formulas.functions import FUNCTIONS

STEPS_PER_RADIAN = 3.0
"""Frequencies tried per radian of the argument's range."""
MOST_RADIANS = 40.0
"""Six turns over the rows; three times that for one variable, where a grid is short."""
LARGEST_SIMPLE = 1e4
"""Radians up to which frequencies 1/2, 1 and 2 are tried, however fast the wave."""
LARGEST_EXPONENT = 300.0
"""Larger arguments of exponentials exceed float64."""


@dataclass(frozen=True)
class Shape:
    """A function g of one argument u = s·h.

    Attributes:
        name: of the function.
        value: numpy, any array to an array of its shape.
        write: sympy.
        slope: numpy, the derivative of log|g| with respect to u.
        scales: the constants s to try for an argument h, (row,) of a size, to (scale,).
        grows: whether its argument may be a sum of several terms.
        largest: size of the largest argument, see `Argument.size`.
        least: below this argument it is just its leading term: a power, or one.
    """

    name: str
    value: Callable[[np.ndarray], np.ndarray]
    slope: Callable[[np.ndarray], np.ndarray]
    write: Callable[[sympy.Expr], sympy.Expr]
    scales: Callable[[np.ndarray, float], np.ndarray]
    grows: bool = False
    # a product of three variables; below a thousandth the next term is a millionth
    largest: float = 3.0
    # of the leading one
    least: float = 1e-3


def _around(low: float, high: float, count: int, signs: tuple[float, ...]) -> Callable:
    """From `low` at the largest argument to `high` at the median one, either sign."""

    def scales(h: np.ndarray, size: float) -> np.ndarray:
        size, largest = float(np.median(np.abs(h))), float(np.max(np.abs(h)))
        if not 0 < size <= largest < np.inf:
            return np.empty(0)
        grid = np.geomspace(low / largest, high / size, count)
        return np.concatenate([sign * grid for sign in signs])

    return scales


def _binomial(h: np.ndarray, size: float) -> np.ndarray:
    """Of 1 + s·h: a wide grid, 1, and values near the pole of 1 - s·h."""
    largest, middle = float(np.max(np.abs(h))), float(np.median(np.abs(h)))
    if not 0 < middle <= largest < np.inf:
        return np.empty(0)
    # as near as a row may come: each step a half to a third of the way that was left
    pole = np.array([0.3, 0.6, 0.8, 0.9, 0.97, 0.99, 0.999]) / largest
    # beyond six decades 1 + h is 1 or h
    one = np.array([1.0, -1.0]) if 1e-6 < largest < 1e6 else np.empty(0)
    # of 1 + u either term is a thousandth of the other at the ends; a polish covers a factor of two
    wide = np.geomspace(1e-3, 1e3, 22) / middle
    return np.concatenate([one, wide, -wide, -pole, pole])


def _waves(h: np.ndarray, size: float) -> np.ndarray:
    """Of sin and cos: from a third of a radian over the range to many."""
    top, span = float(np.max(np.abs(h))), float(np.ptp(h))
    if not 0 < top < np.inf:
        return np.empty(0)
    radians = MOST_RADIANS * (3 if size <= 2 else 1)  # a grid is short for one variable
    simple = np.array([0.5, 1.0, 2.0])
    simple = simple[simple * top <= LARGEST_SIMPLE]
    # a third of a radian is still seen to bend; a short range far from zero has no end of turns
    grid = np.linspace(0.3, radians, int(STEPS_PER_RADIAN * radians)) / max(span, 1e-3 * top)
    return np.concatenate([simple, grid])


def _logarithms(h: np.ndarray, size: float) -> np.ndarray:
    """Of log(s h): a grid, and 1: no grid hits its zero by chance."""
    # five steps a decade: its zero is within a factor of 1.3 of one of them
    return np.append(_around(1e-3, 1e3, 30, (1.0,))(h, size), 1.0)


def _below_one(h: np.ndarray, size: float) -> np.ndarray:
    # of asin, defined up to one, where it is steep
    return np.array([0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.999]) / float(np.max(np.abs(h)))


def _of(name: str, scales: Callable[[np.ndarray, float], np.ndarray]) -> Shape:
    """A function of the table: of its logarithm the derivative is g'/g."""
    value, slope, write, _ = FUNCTIONS[name]
    return Shape(name, value, lambda u: slope(u, v := value(u)) / v, write, scales)


def _limited(u: np.ndarray) -> np.ndarray:
    return np.clip(u, -LARGEST_EXPONENT, LARGEST_EXPONENT)


# sizes: 1 + u takes what is widest; u to 1e-7, where 1 + u is one to half of the digits
BINOMIAL = Shape(
    "1 + u", lambda u: 1 + u, lambda u: 1 / (1 + u), lambda u: 1 + u, _binomial,
    grows=True, largest=9.0, least=1e-7,
)  # fmt: skip
# as wide as 1 + u
IDENTITY = Shape(
    "u", lambda u: u, lambda u: 1 / u, lambda u: u, lambda h, size: np.ones(1), largest=9.0,
    least=0.0,
)  # fmt: skip
"""For arguments that are themselves factors; its scale is part of the constant in front."""
# six: three variables squared, as in a Gaussian of three
EXPONENTIAL = Shape(
    "exp", lambda u: np.exp(_limited(u)), np.ones_like, sympy.exp,
    lambda h, size: 1 / np.max(np.abs(h), keepdims=True), largest=6.0, least=0.0,
)  # fmt: skip
"""In logarithms its scale is a coefficient: one suffices."""
# grids: from where a function is its leading term to where it is flat, two to four steps a decade,
# between which a polish finds its way; sizes: exp ∓ 1 have arguments such as h·f/(k·T), five
SHAPES = (
    BINOMIAL,
    IDENTITY,
    EXPONENTIAL,
    Shape(
        "exp - 1", lambda u: np.expm1(_limited(u)), lambda u: -1 / np.expm1(-_limited(u)),
        lambda u: sympy.exp(u) - 1, _around(0.003, 30, 20, (1.0, -1.0)), largest=5.0,
    ),
    Shape(
        "exp + 1", lambda u: 1 + np.exp(_limited(u)), lambda u: 1 / (1 + np.exp(-_limited(u))),
        lambda u: sympy.exp(u) + 1, _around(0.03, 30, 14, (1.0,)), largest=5.0,
    ),
    _of("sin", _waves),
    _of("cos", _waves),
    _of("tanh", _around(0.1, 10, 10, (1.0,))),
    Shape(
        "log(1 + u)", lambda u: np.log1p(u), lambda u: 1 / ((1 + u) * np.log1p(u)),
        lambda u: sympy.log(1 + u), _around(0.01, 1e3, 16, (1.0,)),
    ),
    Shape(
        "log", lambda u: np.log(np.abs(u)), lambda u: 1 / (u * np.log(np.abs(u))), sympy.log,
        _logarithms, least=0.0,
    ),
    _of("asin", _below_one),
)  # fmt: skip
