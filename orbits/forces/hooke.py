"""The isotropic harmonic oscillator."""

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Hooke(ForceLaw):
    """GM*r (GM in 1/yr^2): ellipses around their centre, all of one period."""

    name: ClassVar[str] = "hooke"

    def potential(self, r: Any, gm: Any) -> Any:
        return 0.5 * gm * r * r

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm * r

    def expression(self) -> sympy.Expr:
        return GM_SYMBOL * RADIUS
