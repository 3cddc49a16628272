"""Functions of the target: y is an outer function of a sum or a product, whose inverse is searched.

With z = T(y), an error of y is one of z times the slope of T.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy

OfRows = Callable[[np.ndarray], np.ndarray]
InSympy = Callable[[sympy.Expr], sympy.Expr]
Allowed = Callable[[np.ndarray], bool]

NEAR_ONE = 1e3
"""Targets farther than this from one are not near one less a product."""
CURVED_ABOVE = 0.3
"""Smaller angles equal their sines."""
LARGEST_LOG = 300.0
"""Larger targets are not logarithms of float64 numbers."""
LARGEST_OF_SUMS = 20.0
"""The same where sums are searched: an exponential over more is a number of one row."""
DEGREE = float(np.pi / 180)
FULL = 2 * np.pi
"""Angles that stay below are not in degrees."""


@dataclass(frozen=True)
class Outer:
    """A function of the target that equals a sum or a product z.

    Attributes:
        forward: z of y.
        slope: of `forward` at y.
        written: y of z, in sympy.
        allowed: whether targets (row,) may be such a y.
        backward: y of z, in numpy, where it is needed.
        symbols: that it adds.
        logarithm: whether y is a logarithm: its errors are then equal, not relative.
        unit: of angles, y and those inside, in radians.
    """

    forward: OfRows
    slope: OfRows
    written: InSympy
    allowed: Allowed = lambda y: True
    backward: OfRows = lambda z: z
    symbols: int = 1
    logarithm: bool = False
    unit: float = 1.0

    def weighted(self, y: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row,) weights of z where y has errors sigma (row,), and z times these."""
        weights = 1 / np.abs(self.slope(y) * sigma)
        return weights, self.forward(y) * weights


def _positive(y: np.ndarray) -> bool:
    return bool(np.all(y > 0))


def _nonzero(y: np.ndarray) -> bool:
    return bool(np.all(y > 0) or np.all(y < 0))


def _near_one(y: np.ndarray) -> bool:
    """Whether targets may be 1 ± a product."""
    return 1 / NEAR_ONE < float(np.median(np.abs(y))) < NEAR_ONE


def _logarithm(base: float, largest: float) -> Allowed:
    """Whether targets may be logarithms: of so large numbers, over a factor of three."""
    return lambda y: bool(np.max(np.abs(y)) * np.log(base) < largest and np.ptp(y) > 1)


def _exponential(base: float, largest: float) -> Outer:
    log = float(np.log(base))
    number = sympy.Float(1 / log) if base != np.e else sympy.Integer(1)
    return Outer(
        lambda y: base**y, lambda y: log * base**y, lambda z: number * sympy.log(z),
        _logarithm(base, largest), lambda z: np.log(z) / log, logarithm=True,
    )  # fmt: skip


def _angles(unit: float) -> tuple[Outer, ...]:
    """Angles, in radians or degrees, of their sines, cosines and tangents."""
    number = sympy.Integer(1) if unit == 1.0 else sympy.Float(1 / unit)

    def angle(wave: OfRows, slope: OfRows, inverse: InSympy, low: float, high: float) -> Outer:
        def allowed(y: np.ndarray) -> bool:
            inside = np.all((low < unit * y) & (unit * y < high))
            curved = np.max(np.abs(unit * y)) > CURVED_ABOVE
            return bool(inside and curved and (unit == 1.0 or np.max(np.abs(y)) > FULL))

        return Outer(
            lambda y: wave(unit * y), lambda y: unit * slope(unit * y),
            lambda z: number * inverse(z), allowed, unit=unit,
        )  # fmt: skip

    half = np.pi / 2
    return (
        angle(np.sin, np.cos, sympy.asin, -half, half),
        angle(np.cos, np.sin, sympy.acos, 0.0, np.pi),
        angle(np.tan, lambda u: np.cos(u) ** -2.0, sympy.atan, -half, half),
    )


IDENTITY = Outer(lambda y: y, np.ones_like, lambda z: z, symbols=0)
POWERS = (
    Outer(lambda y: 1 / y, lambda y: y**-2.0, lambda z: 1 / z, _nonzero, lambda z: 1 / z),
    Outer(np.square, lambda y: 2 * y, sympy.sqrt, _positive, np.sqrt),
    Outer(np.log, lambda y: 1 / y, sympy.exp, _positive, np.exp),
    Outer(np.sqrt, lambda y: 0.5 / np.sqrt(y), lambda z: z**2, _positive, np.square),
    Outer(
        lambda y: y**-2.0, lambda y: 2 * y**-3.0, lambda z: 1 / sympy.sqrt(z), _positive,
        lambda z: z**-0.5, symbols=2,
    ),
)  # fmt: skip
"""Around sums: y is a power or an exponential of one."""
OUTER = (*POWERS, _exponential(float(np.e), LARGEST_OF_SUMS))
"""The same, and a logarithm."""
LOGARITHMS = (_exponential(float(np.e), LARGEST_LOG), _exponential(10.0, LARGEST_LOG))
"""Logarithmic targets, base e and 10."""
AROUND_PRODUCTS = (
    Outer(lambda y: y - 1, np.ones_like, lambda z: 1 + z, _near_one),
    Outer(lambda y: y + 1, np.ones_like, lambda z: z - 1, _near_one),
    Outer(lambda y: y**2 - 1, lambda y: 2 * y, lambda z: sympy.sqrt(1 + z), _near_one),
    Outer(lambda y: 1 - y**2, lambda y: 2 * y, lambda z: sympy.sqrt(1 - z), _near_one),
    Outer(lambda y: 1 / y - 1, lambda y: y**-2.0, lambda z: 1 / (1 + z), _near_one),
    Outer(lambda y: y**-2.0 - 1, lambda y: 2 * y**-3.0, lambda z: 1 / sympy.sqrt(1 + z), _near_one),
    *_angles(1.0),
    *_angles(DEGREE),
    *LOGARITHMS,
)
"""One more step around a product of powers."""
