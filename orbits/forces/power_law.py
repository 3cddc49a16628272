"""Any power of the separation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.expressions import MAX_EXPONENT
from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw


@dataclass(frozen=True)
class PowerLaw(ForceLaw):
    """GM/r^n. For n >= 3 no stable bound orbit exists (Bertrand's effective potential)."""

    name: ClassVar[str] = "power_law"
    n: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self.n) > MAX_EXPONENT:
            raise ValueError(f"{self.name}: n is {self.n:g}; at most {MAX_EXPONENT} is allowed.")

    def potential(self, r: Any, gm: Any) -> Any:
        if self.n == 1:
            return gm * np.log(r)
        return -gm / (self.n - 1) * r ** (1 - self.n)

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        return -gm * r**-self.n

    def expression(self) -> sympy.Expr:
        return GM_SYMBOL / RADIUS ** sympy.Symbol("n", positive=True)
