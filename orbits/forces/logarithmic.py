"""The logarithmic potential: a flat rotation curve."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Logarithmic(ForceLaw):
    """GM/r (GM in au^2/yr^2): every circular orbit has the same speed."""

    name: ClassVar[str] = "logarithmic"
    energy: ClassVar[sympy.Expr] = GM_SYMBOL * sympy.log(RADIUS)
