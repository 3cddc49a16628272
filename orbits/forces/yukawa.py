"""Yukawa's screened potential."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw

GOLDEN_RATIO = (1 + 5**0.5) / 2


@dataclass(frozen=True)
class Yukawa(ForceLaw):
    """Potential -GM exp(-r/length)/r.

    Circular orbits are stable only inside r/length < (1 + sqrt 5)/2, where
    3 + d ln F/d ln r = (1 + x - x^2)/(1 + x) changes sign.
    """

    name: ClassVar[str] = "yukawa"
    positive: ClassVar[tuple[str, ...]] = ("length",)
    length: float = 1.0

    def potential(self, r: Any, gm: Any) -> Any:
        return -gm * np.exp(-r / self.length) / r

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm * np.exp(-r / self.length) * (1 / (r * r) + 1 / (self.length * r))

    def expression(self) -> sympy.Expr:
        length = sympy.Symbol("length", positive=True)
        screening = sympy.exp(-RADIUS / length)
        return GM_SYMBOL * screening * (1 / RADIUS**2 + 1 / (length * RADIUS))

    def natural_range(self) -> tuple[float, float]:
        outer = min(2.0, GOLDEN_RATIO * self.length)
        return min(0.3, 0.2 * outer), outer
