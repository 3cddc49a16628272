"""Newton's law of gravitation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Newton(ForceLaw):
    """GM/r^2."""

    name: ClassVar[str] = "newton"

    def potential(self, r: Any, gm: Any) -> Any:
        return -gm / r

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm / (r * r)

    def expression(self) -> sympy.Expr:
        return GM_SYMBOL / RADIUS**2
