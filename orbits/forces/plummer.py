"""Plummer's softened sphere."""

from dataclasses import dataclass
from typing import ClassVar

import sympy

from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, parameter


@dataclass(frozen=True)
class Plummer(ForceLaw):
    """Potential -GM/sqrt(r^2 + softening^2).

    Source: Binney & Tremaine, Galactic Dynamics (2nd ed., 2008), eq. 2.44a.
    """

    name: ClassVar[str] = "plummer"
    energy: ClassVar[sympy.Expr] = -GM_SYMBOL / sympy.sqrt(RADIUS**2 + parameter("softening") ** 2)
    units: ClassVar[dict[str, str]] = {"softening": "au"}
    positive: ClassVar[tuple[str, ...]] = ("softening",)
    softening: float = 0.1
