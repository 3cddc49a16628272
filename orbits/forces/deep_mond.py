"""Modified Newtonian dynamics far below its acceleration scale."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class DeepMOND(ForceLaw):
    """sqrt(GM*a0)/r, a0 in au/yr^2; not proportional to GM.

    The default a0 = 4 pi^2 makes the Sun's pull 4 pi^2 au/yr^2 at 1 au, which gives orbits of the
    usual size and period; the physical value, 1.2e-10 m/s^2, is 8.0e-7 au/yr^2.

    Source: Milgrom, ApJ 270, 365 (1983), the limit a << a0.
    """

    name: ClassVar[str] = "deep_mond"
    positive: ClassVar[tuple[str, ...]] = ("a0",)
    linear_in_gm: ClassVar[bool] = False
    a0: float = float(4 * np.pi**2)

    def potential(self, r: Any, gm: Any) -> Any:
        return np.sqrt(gm * self.a0) * np.log(r)

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -np.sqrt(gm * self.a0) / r

    def expression(self) -> sympy.Expr:
        return sympy.sqrt(GM_SYMBOL * sympy.Symbol("a0", positive=True)) / RADIUS
