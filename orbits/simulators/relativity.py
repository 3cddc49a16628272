"""The first post-Newtonian term of a heavy body, for numbers and symbols."""

from collections.abc import Sequence
from typing import Any

SPEED_OF_LIGHT = 63241.077
"""au/yr."""


def post_newtonian(x: Sequence[Any], v: Sequence[Any], gm: Any) -> list[Any]:
    """GM/(c^2 r^3) ((4 GM/r - v^2) x + 4 (x.v) v), of a body of small mass, au/yr^2.

    By axis, relative to the heavy body: x, au, and v, au/yr, are numbers, arrays or expressions.

    Source: Soffel, Relativity in Astrometry, Celestial Mechanics and Geodesy (1989), eq. 4.2.18.
    """
    square, speed, radial = _dot(x, x), _dot(v, v), _dot(x, v)
    front = gm * square**-1.5 / SPEED_OF_LIGHT**2  # GM/(c² r³), of a sum:
    along = 4.0 * gm * square**-0.5 - speed  # (4 GM/r - v²) x
    pairs = zip(x, v, strict=True)
    # and 4 (x·v) v
    return [front * (along * here + 4.0 * radial * there) for here, there in pairs]


def _dot(first: Sequence[Any], second: Sequence[Any]) -> Any:
    products = [a * b for a, b in zip(first, second, strict=True)]
    return sum(products[1:], products[0])
