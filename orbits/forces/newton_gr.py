"""Newton plus the inverse fourth power that makes perihelia advance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class NewtonGR(ForceLaw):
    """GM/r^2 + GM*b/r^4, b in au^2.

    The Schwarzschild geodesic has b = 3 h^2/c^2 (1.1e-8 au^2 for Mercury), h the angular momentum;
    here b is a parameter of the law. The perihelion advances by 2 pi b/p^2 per revolution to first
    order in b/p^2, p = a(1 - e^2): with b = 3 GM p/c^2 that is Einstein's 6 pi GM/(c^2 p).

    Source: Misner, Thorne & Wheeler, Gravitation (1973), eq. 40.17 (the advance).
    """

    name: ClassVar[str] = "newton_gr"
    positive: ClassVar[tuple[str, ...]] = ("b",)
    b: float = 1e-3

    def potential(self, r: Any, gm: Any) -> Any:
        return -gm / r - gm * self.b / (3 * r**3)

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        square = r * r
        return -gm / square * (1 + self.b / square)

    def expression(self) -> sympy.Expr:
        b = sympy.Symbol("b", positive=True)
        return GM_SYMBOL / RADIUS**2 + GM_SYMBOL * b / RADIUS**4

    def natural_range(self) -> tuple[float, float]:
        # The innermost stable circular orbit lies at r = sqrt(b): keep well outside.
        inner = max(0.3, 4 * float(np.sqrt(self.b)))
        return inner, max(2.0, 4 * inner)
