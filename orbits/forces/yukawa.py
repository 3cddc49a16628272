"""Yukawa's screened potential."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class Yukawa(ForceLaw):
    """Potential -GM exp(-r/length)/r.

    Circular orbits are stable only inside r/length < (1 + sqrt 5)/2, where
    3 + d ln F/d ln r = (1 + x - x^2)/(1 + x) changes sign.
    """

    name: ClassVar[str] = "yukawa"
    energy: ClassVar[sympy.Expr] = -GM_SYMBOL * sympy.exp(-RADIUS / parameter("length")) / RADIUS
    units: ClassVar[dict[str, str]] = {"length": "au"}
    positive: ClassVar[tuple[str, ...]] = ("length",)
    length: float = 1.0

    def natural_range(self) -> tuple[float, float]:
        inner, outer = super().natural_range()
        outer = min(outer, (1 + 5**0.5) / 2 * self.length)  # where circular orbits are stable
        return min(inner, 0.2 * outer), outer  # a range of five at least
