"""The logarithmic potential: a flat rotation curve."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Logarithmic(ForceLaw):
    """GM/r (GM in au^2/yr^2): every circular orbit has the same speed."""

    name: ClassVar[str] = "logarithmic"

    def potential(self, r: Any, gm: Any) -> Any:
        return gm * np.log(r)

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm / r

    def expression(self) -> sympy.Expr:
        return GM_SYMBOL / RADIUS
