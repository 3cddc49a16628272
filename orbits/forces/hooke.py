"""The isotropic harmonic oscillator."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class Hooke(ForceLaw):
    """GM*r (GM in 1/yr^2): ellipses around their centre, all of one period."""

    name: ClassVar[str] = "hooke"
    energy: ClassVar[sympy.Expr] = GM_SYMBOL * RADIUS**2 / 2
