"""What every law of force offers: a potential, minus its gradient, and its sympy form."""

import dataclasses
import itertools
import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.expressions import MAX_NUMBER
from orbits.specs import Spec

RADIUS = sympy.Symbol("r", positive=True)
"""Separation, au, in every law's sympy form."""

GM_SYMBOL = sympy.Symbol("GM", positive=True)
"""Gravitational parameter, au^3/yr^2, in every law's sympy form."""


def exact(value: float) -> sympy.Expr:
    """A number for sympy: whole ones are integers."""
    return sympy.Float(value) if value % 1 else sympy.Integer(int(value))


@dataclasses.dataclass(frozen=True)
class ForceLaw(ABC):
    """A central attraction between two bodies, per unit of reduced mass.

    A law is a frozen dataclass; its fields are its parameters, each with a default. Strengths are
    scaled so that a law without parameters pulls with GM au/yr^2 at 1 au: 4 pi^2 for the Sun.
    """

    name: ClassVar[str]
    linear_in_gm: ClassVar[bool] = True
    """Whether attraction is proportional to GM (only then does the third law hold)."""
    positive: ClassVar[tuple[str, ...]] = ()
    """Parameters that must be above 0."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if field.type not in ("float", float):
                continue
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(
                    f"{self.name}: {field.name} is {value}; it must be a finite number."
                )
            if abs(value) > MAX_NUMBER:
                raise ValueError(
                    f"{self.name}: {field.name} is {value:g}; at most {MAX_NUMBER:g} is allowed."
                )
            if field.name in self.positive and value <= 0:
                raise ValueError(f"{self.name}: {field.name} is {value:g}; it must be above 0.")
            object.__setattr__(self, field.name, float(value))

    @property
    def parameters(self) -> dict[str, float]:
        """The law's parameters by name."""
        return dataclasses.asdict(self)

    @property
    def spec(self) -> str:
        """Canonical text of the law: `parse_law(law.spec) == law`."""
        return str(Spec(self.name, tuple(self.parameters.items())))

    @abstractmethod
    def potential(self, r: Any, gm: Any) -> Any:
        """Potential energy per unit mass, au^2/yr^2.

        Args:
            r: separation, au; any shape, float or array.
            gm: gravitational parameter, au^3/yr^2; broadcasts against `r`.
        """

    @abstractmethod
    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        """Minus the potential's derivative, au/yr^2: negative where the law attracts.

        Args:
            r: separation, au; any shape, float or array.
            gm: gravitational parameter, au^3/yr^2; broadcasts against `r`.
        """

    @abstractmethod
    def expression(self) -> sympy.Expr:
        """Magnitude of the attraction in positive symbols `r`, `GM` and the parameters' names."""

    def numeric_expression(self) -> sympy.Expr:
        """`expression()` with the parameters' values inserted: `r` and `GM` remain."""
        values = {sympy.Symbol(k, positive=True): exact(v) for k, v in self.parameters.items()}
        return self.expression().subs(values)

    def gm_unit(self) -> str | None:
        """Unit of GM for which the attraction is in au/yr^2; None where there is none.

        A power of r has its own; with lengths as parameters it is Newton's.
        """
        if not self.linear_in_gm:
            return None
        attraction = self.numeric_expression()
        power = sympy.simplify(RADIUS * attraction.diff(RADIUS) / attraction)
        lengths = 1 - float(power) if power.is_number else 3.0
        return "1/yr^2" if lengths == 0 else f"au^{lengths:g}/yr^2"

    def acceleration(self, position: np.ndarray, gm: Any) -> np.ndarray:
        """Acceleration of the relative position, towards the origin where the law attracts.

        Args:
            position: (..., axis) relative position, au.
            gm: (...) gravitational parameter, au^3/yr^2; broadcasts against the leading axes.

        Returns:
            (..., axis) acceleration, au/yr^2.
        """
        r = np.sqrt(np.sum(np.square(position), axis=-1))
        return position * (self.radial_acceleration(r, gm) / r)[..., None]

    def mutual_acceleration(self, position: np.ndarray, gm: np.ndarray) -> np.ndarray:
        """Accelerations of mutually attracting bodies.

        Args:
            position: (..., body, axis), au.
            gm: (..., body) G times each mass, au^3/yr^2.

        Returns:
            (..., body, axis) acceleration, au/yr^2.
        """
        found = np.zeros(position.shape)
        for i, j in itertools.permutations(range(position.shape[-2]), 2):
            apart = position[..., i, :] - position[..., j, :]
            found[..., i, :] += self.acceleration(apart, gm[..., j])
        return found

    def natural_range(self) -> tuple[float, float]:
        """Semi-major axes, au, where the law has bound orbits worth sampling."""
        return 0.3, 2.0
