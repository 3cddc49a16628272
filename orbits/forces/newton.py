"""Newton's law of gravitation."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Newton(ForceLaw):
    """GM/r^2."""

    name: ClassVar[str] = "newton"
    energy: ClassVar[sympy.Expr] = -GM_SYMBOL / RADIUS
