"""Plummer's softened sphere."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Plummer(ForceLaw):
    """GM*r/(r^2 + softening^2)^(3/2).

    Source: Binney & Tremaine, Galactic Dynamics (2nd ed., 2008), eq. 2.44a.
    """

    name: ClassVar[str] = "plummer"
    positive: ClassVar[tuple[str, ...]] = ("softening",)
    softening: float = 0.1

    def potential(self, r: Any, gm: Any) -> Any:
        return -gm / np.sqrt(r * r + self.softening**2)

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm * r * (r * r + self.softening**2) ** -1.5

    def expression(self) -> sympy.Expr:
        softening = sympy.Symbol("softening", positive=True)
        return GM_SYMBOL * RADIUS / (RADIUS**2 + softening**2) ** sympy.Rational(3, 2)
