"""Any power of the separation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.expressions import TYPED
from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class PowerLaw(ForceLaw):
    """GM/r^n. For n >= 3 no stable bound orbit exists (Bertrand's effective potential)."""

    name: ClassVar[str] = "power_law"
    energy: ClassVar[sympy.Expr] = GM_SYMBOL * RADIUS ** (1 - parameter("n")) / (1 - parameter("n"))
    n: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(self.n) > TYPED.exponent:
            raise ValueError(f"{self.name}: n is {self.n:g}; at most {TYPED.exponent} is allowed.")

    def potential(self, r: Any, gm: Any) -> Any:
        # the limit n -> 1, less a constant that diverges
        return gm * np.log(r) if self.n == 1 else super().potential(r, gm)
