"""A law written by a user: any attraction that depends on the separation alone."""

import ast
import dataclasses
import unicodedata
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import sympy

from orbits.expressions import algebra, parse_expression, shown, syntax_of
from orbits.forces.base import GM_SYMBOL, RADIUS, ForceLaw, exact, is_proportional, parameter
from orbits.options import require_known


@dataclasses.dataclass(frozen=True)
class Formula(ForceLaw):
    """Magnitude of the attraction as a formula in `r`, `GM` and constants.

    `GM` is the strength that may vary from orbit to orbit. In a formula without `GM` that is
    proportional to one constant without a value, such as `k*r**-2.5`, that constant is GM.

    Args:
        text: the formula, `GM*exp(-r/b)/r**2`.
        constants: names and values of the other constants, `(("b", 0.5),)`.

    Raises:
        ValueError: if the formula cannot be read or does not depend on r, or a constant has no
            value.
    """

    name: ClassVar[str] = "formula"
    text: str
    constants: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", ast.unparse(syntax_of(self.text)))
        values = tuple(sorted((name, float(value)) for name, value in self.constants))
        for name, value in values:
            if not np.isfinite(value):
                raise ValueError(f"law {self.spec!r}: {name} is {value}; it must be finite.")
        object.__setattr__(self, "constants", values)
        formula = self.expression()
        if RADIUS not in formula.free_symbols:
            raise ValueError(
                f"law {self.text!r} does not depend on r; a law of force is a formula of the "
                "separation r, as in k*r**-2.5."
            )
        # with their values in place, constants may be exponents too
        parse_expression(self.text, {s.name: s for s in parse_expression(self.text).free_symbols}
                         | {name: exact(value) for name, value in values})  # fmt: skip

    @property
    def parameters(self) -> dict[str, float]:
        return dict(self.constants)

    @property
    def spec(self) -> str:
        values = (f"{name}={repr(value).removesuffix('.0')}" for name, value in self.constants)
        return "; ".join([self.text, *values])

    @property
    def linear_in_gm(self) -> bool:
        return algebra(self.text, lambda: super(Formula, self).linear_in_gm)

    @property
    def scales(self) -> tuple[str, ...]:
        return algebra(self.text, lambda: super(Formula, self).scales)

    def gm_unit(self) -> None:
        """None: the units of its constants are unknown."""
        return None

    def expression(self) -> sympy.Expr:
        return _expression(self.text, tuple(name for name, _ in self.constants))

    def numeric_expression(self) -> sympy.Expr:
        return algebra(self.text, super().numeric_expression)

    def potential(self, r: Any, gm: Any) -> Any:
        """Work against the attraction from 1 au to `r`; zero at 1 au."""
        nodes, weights = np.polynomial.legendre.leggauss(32)  # in log r: exact to degree 63
        half = 0.5 * np.log(np.asarray(r, dtype=float))[..., None]
        points = np.exp(half * (1 + nodes))
        push = self.radial_acceleration(points, np.asarray(gm, dtype=float)[..., None]) * points
        return -np.sum(weights * push * half, axis=-1)


def parse_formula(text: str) -> Formula:
    """The law written as `FORMULA` or `FORMULA; constant=value; ...`.

    Raises:
        ValueError: if it cannot be read, or a constant has no value.
    """
    formula, *assignments = (part.strip() for part in text.split(";"))
    constants: dict[str, float] = {}
    for assignment in assignments:
        name, equals, value = (part.strip() for part in assignment.partition("="))
        name = unicodedata.normalize("NFKC", name)  # as names in the formula are read
        if name in constants:
            raise ValueError(f"law {shown(text)} gives {name} twice; give it one value.")
        try:
            constants[name] = float(value)
        except ValueError:
            equals = ""
        if not equals or not name.isidentifier() or name in ("r", "GM"):
            raise ValueError(
                f"law {shown(text)}: {shown(assignment)} gives no constant a value; write as in "
                "'GM*exp(-r/b)/r**2; b=0.5'."
            )
    law = Formula(formula, tuple(constants.items()))
    for name in constants:
        used = law.expression().free_symbols - {RADIUS, GM_SYMBOL}
        require_known(f"constant of {formula}", name, [symbol.name for symbol in used])
    return law


@lru_cache
def _expression(text: str, named: tuple[str, ...]) -> sympy.Expr:
    formula = parse_expression(text)
    known = {RADIUS, GM_SYMBOL, *map(parameter, named)}
    open_ones = sorted(formula.free_symbols - known, key=str)
    if GM_SYMBOL not in formula.free_symbols:
        strengths = algebra(text, lambda: [s for s in open_ones if is_proportional(formula, s)])
        if len(strengths) == 1:
            formula = formula.subs(strengths[0], GM_SYMBOL)
            open_ones.remove(strengths[0])
    if open_ones:
        values = "; ".join(f"{symbol}=1.0" for symbol in open_ones)
        raise ValueError(
            f"law {text!r}: {', '.join(map(str, open_ones))} has no value; give one, as in "
            f"'{text}; {values}' (r is the separation, GM the strength)."
        )
    return formula
