"""Modified Newtonian dynamics far below its acceleration scale."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class DeepMOND(ForceLaw):
    """sqrt(GM*a0)/r, a0 in au/yr^2; not proportional to GM.

    The default a0 = 4 pi^2 makes the Sun's pull 4 pi^2 au/yr^2 at 1 au, which gives orbits of the
    usual size and period; the physical value, 1.2e-10 m/s^2, is 8.0e-7 au/yr^2.

    Source: Milgrom, ApJ 270, 365 (1983), the limit a << a0.
    """

    name: ClassVar[str] = "deep_mond"
    energy: ClassVar[sympy.Expr] = sympy.sqrt(GM_SYMBOL * parameter("a0")) * sympy.log(RADIUS)
    units: ClassVar[dict[str, str]] = {"a0": "au/yr^2"}
    positive: ClassVar[tuple[str, ...]] = ("a0",)
    a0: float = float(4 * np.pi**2)
