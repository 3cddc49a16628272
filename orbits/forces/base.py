"""What a law of force is: one formula, its potential energy, from which all else follows."""

import dataclasses
import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.expressions import TYPED
from orbits.specs import Spec

RADIUS = sympy.Symbol("r", positive=True)
"""Separation, au, in every law's sympy form."""

GM_SYMBOL = sympy.Symbol("GM", positive=True)
"""Gravitational parameter, au^3/yr^2, in every law's sympy form."""


def parameter(name: str) -> sympy.Symbol:
    """A law's own parameter in its sympy form."""
    return sympy.Symbol(name, positive=True)


def is_proportional(formula: sympy.Expr, symbol: sympy.Symbol) -> bool:
    """Whether a formula is a symbol times something without it."""
    ratio = sympy.powsimp(sympy.expand(formula / symbol))
    return symbol in formula.free_symbols and symbol not in ratio.free_symbols


def exact(value: float) -> sympy.Expr:
    """A number for sympy: whole ones are integers."""
    return sympy.Float(value) if value % 1 else sympy.Integer(int(value))


@dataclasses.dataclass(frozen=True)
class ForceLaw:
    """A central attraction between two bodies, per unit of reduced mass.

    A law is a frozen dataclass; its fields are its parameters, each with a default. Strengths are
    scaled so that a law without parameters pulls with GM au/yr^2 at 1 au: 4 pi^2 for the Sun.
    """

    name: ClassVar[str]
    energy: ClassVar[sympy.Expr]
    """Potential energy per unit mass, au^2/yr^2, in `RADIUS`, `GM_SYMBOL` and `parameter`s."""
    units: ClassVar[dict[str, str]] = {}
    """Units of the parameters; those not named are pure numbers."""
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
            if abs(value) > TYPED.number:
                raise ValueError(
                    f"{self.name}: {field.name} is {value:g}; at most {TYPED.number:g} is allowed."
                )
            if field.name in self.positive and value <= 0:
                raise ValueError(f"{self.name}: {field.name} is {value:g}; it must be above 0.")
            object.__setattr__(self, field.name, float(value))

    @property
    def parameters(self) -> dict[str, float]:
        """The law's parameters by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @property
    def spec(self) -> str:
        """Canonical text of the law: `parse_law(law.spec) == law`."""
        return str(Spec(self.name, tuple(self.parameters.items())))

    @property
    def linear_in_gm(self) -> bool:
        """Whether attraction is proportional to GM (only then does the third law hold)."""
        return is_proportional(self.expression(), GM_SYMBOL)

    @property
    def scales(self) -> tuple[str, ...]:
        """Parameters that change the size of the attraction and not its dependence on distance."""
        logarithm = sympy.expand_log(sympy.log(self.expression()))
        return tuple(
            name for name in self.parameters if logarithm.diff(parameter(name)).diff(RADIUS) == 0
        )

    @property
    def exponents(self) -> tuple[str, ...]:
        """Parameters in exponents of the distance: the law's structure, as the 2 of Newton's is."""
        powers = [p.exp for p in self.expression().atoms(sympy.Pow) if p.base.has(RADIUS)]
        return tuple(
            name for name in self.parameters if any(p.has(parameter(name)) for p in powers)
        )

    def expression(self) -> sympy.Expr:
        """Magnitude of the attraction in positive symbols `r`, `GM` and the parameters' names."""
        return _slope(self.energy)

    def potential(self, r: Any, gm: Any) -> Any:
        """Potential energy per unit mass, au^2/yr^2.

        Args:
            r: separation, au; any shape, float or array.
            gm: gravitational parameter, au^3/yr^2; broadcasts against `r`.
        """
        return _compiled(self.energy, tuple(self.parameters))(r, gm, *self.parameters.values())

    def radial_acceleration(self, r: Any, gm: Any) -> Any:
        """Minus the potential's derivative, au/yr^2: negative where the law attracts.

        Args:
            r: separation, au; any shape, float or array.
            gm: gravitational parameter, au^3/yr^2; broadcasts against `r`.
        """
        values = self.parameters
        return -_compiled(self.expression(), tuple(values))(r, gm, *values.values())

    def numeric_expression(self) -> sympy.Expr:
        """`expression()` with the parameters' values inserted: `r` and `GM` remain."""
        return self.expression().subs({parameter(k): exact(v) for k, v in self.parameters.items()})

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
        accelerations = np.zeros(position.shape)
        for i, j in itertools.permutations(range(position.shape[-2]), 2):
            apart = position[..., i, :] - position[..., j, :]
            accelerations[..., i, :] += self.acceleration(apart, gm[..., j])
        return accelerations

    def natural_range(self) -> tuple[float, float]:
        """Semi-major axes, au, where the law has bound orbits worth sampling."""
        return 0.3, 2.0


@lru_cache
def _slope(energy: sympy.Expr) -> sympy.Expr:
    return sympy.powsimp(energy.diff(RADIUS))


@lru_cache
def _compiled(formula: sympy.Expr, names: tuple[str, ...]) -> Callable[..., Any]:
    """A formula as a function of r, GM and the parameters, in numpy's terms."""
    arguments = (RADIUS, GM_SYMBOL, *map(parameter, names))
    return sympy.lambdify(arguments, formula, modules="numpy")
