"""Newton plus the inverse fourth power that makes perihelia advance."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class NewtonGR(ForceLaw):
    """GM/r^2 + GM*b/r^4, b in au^2.

    The Schwarzschild geodesic has b = 3 h^2/c^2 (1.1e-8 au^2 for Mercury), h the angular momentum;
    here b is a parameter of the law. The perihelion advances by 2 pi b/p^2 per revolution to first
    order in b/p^2, p = a(1 - e^2): with b = 3 GM p/c^2 that is Einstein's 6 pi GM/(c^2 p).

    Source: Misner, Thorne & Wheeler, Gravitation (1973), eq. 40.17 (the advance).
    """

    name: ClassVar[str] = "newton_gr"
    energy: ClassVar[sympy.Expr] = -GM_SYMBOL / RADIUS - GM_SYMBOL * parameter("b") / (
        3 * RADIUS**3
    )
    units: ClassVar[dict[str, str]] = {"b": "au^2"}
    positive: ClassVar[tuple[str, ...]] = ("b",)
    b: float = 1e-3

    def natural_range(self) -> tuple[float, float]:
        inner, outer = super().natural_range()
        # The innermost stable circular orbit lies at r = sqrt(b): keep well outside.
        inner = max(inner, 4 * float(np.sqrt(self.b)))
        return inner, max(outer, 4 * inner)  # a range of four at least
