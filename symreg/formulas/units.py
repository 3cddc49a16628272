"""Dimensional analysis: what unit the constant of a law has, and whether that can be."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy

from orbits.command.near_misses import require_known

Powers = tuple[Fraction, Fraction, Fraction]
BASES = ("m", "kg", "s")


@dataclass(frozen=True)
class Unit:
    """A unit: its size in SI, and the powers of metre, kilogram and second.

    Source: the astronomical unit, IAU 2012 Resolution B2; the Julian year; GM of the Sun, IAU 2015
    Resolution B3, over CODATA 2018's G for its mass.
    """

    size: float
    powers: Powers

    def __mul__(self, other: "Unit") -> "Unit":
        added = (a + b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.size * other.size, _three(added))

    def __pow__(self, power: Fraction) -> "Unit":
        return Unit(self.size ** float(power), _three(a * power for a in self.powers))

    @property
    def text(self) -> str:
        """The dimension in SI's base units, as in `m^3 kg^-1 s^-2`."""
        parts = [
            base if power == 1 else f"{base}^{power}"
            for base, power in zip(BASES, self.powers, strict=True)
            if power
        ]
        return " ".join(parts) or "dimensionless"

    @property
    def si_text(self) -> str:
        """The dimension as Julia's DynamicQuantities reads it, as in `m^3*kg^-1*s^-2`."""
        parts = [
            f"{base}^({power})" if power.denominator > 1 else f"{base}^{power}"
            for base, power in zip(BASES, self.powers, strict=True)
            if power
        ]
        return "*".join(parts)


def _three(values) -> Powers:
    first, second, third = values
    return Fraction(first), Fraction(second), Fraction(third)


def _unit(size: float, length: int, mass: int, time: int) -> Unit:
    return Unit(size, _three((length, mass, time)))


ONE = _unit(1, 0, 0, 0)
UNITS = {
    "m": _unit(1, 1, 0, 0),
    "km": _unit(1e3, 1, 0, 0),
    "au": _unit(149_597_870_700.0, 1, 0, 0),
    "pc": _unit(3.0856775814913673e16, 1, 0, 0),
    "kg": _unit(1, 0, 1, 0),
    "g": _unit(1e-3, 0, 1, 0),
    "Msun": _unit(1.32712440018e20 / 6.67430e-11, 0, 1, 0),
    "M_sun": _unit(1.32712440018e20 / 6.67430e-11, 0, 1, 0),
    "Mearth": _unit(3.986004418e14 / 6.67430e-11, 0, 1, 0),
    "s": _unit(1, 0, 0, 1),
    "h": _unit(3600, 0, 0, 1),
    "d": _unit(86_400, 0, 0, 1),
    "day": _unit(86_400, 0, 0, 1),
    "yr": _unit(365.25 * 86_400, 0, 0, 1),
    "N": _unit(1, 1, 1, -2),
    "J": _unit(1, 2, 1, -2),
    "rad": ONE,
}
"""Units that are known by name."""
G_SI = 6.67430e-11
G_DIMENSION = _three((3, -1, -2))
GM_DIMENSION = _three((3, 0, -2))


def parse_unit(text: str) -> Unit:
    """A unit from text, as in `au/yr^2`, `Msun*au/yr**2` or `1`.

    Raises:
        ValueError: if it is not a product of powers of known units (names the near miss).
    """
    try:
        unit = _built(ast.parse(text.strip().replace("^", "**") or "1", mode="eval").body, text)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"the unit {text!r} cannot be read; write it as in au/yr^2.") from None
    except OverflowError:
        unit = Unit(math.inf, ONE.powers)
    if not 0 < unit.size < math.inf:
        raise ValueError(f"the unit {text!r} is too large or too small for a number.")
    return unit


def _built(node: ast.expr, text: str) -> Unit:
    if isinstance(node, ast.Name):
        return UNITS[require_known("unit", node.id, UNITS)]
    if isinstance(node, ast.Constant) and node.value == 1:
        return ONE
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _built(node.left, text) * _built(node.right, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _built(node.left, text) * _built(node.right, text) ** Fraction(-1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _built(node.left, text) ** _power(node.right, text)
    raise ValueError(f"the unit {text!r} cannot be read; write it as in au/yr^2.")


def _power(node: ast.expr, text: str) -> Fraction:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        value = float(node.value)
        if math.isfinite(value) and abs(value) <= 12:
            return sign * Fraction(value).limit_denominator(12)
    raise ValueError(f"the unit {text!r} has a power that is not a small number.")


def parse_units(texts: tuple[str, ...], names: tuple[str, ...]) -> dict[str, Unit]:
    """Units by column from `name=unit` texts.

    Args:
        texts: as in `F=Msun*au/yr^2`.
        names: of the target and the features: each must have one.

    Raises:
        ValueError: if a text is no `name=unit`, a name is not known, or one is missing.
    """
    units = {}
    for text in texts:
        name, equals, unit = text.partition("=")
        if not equals:
            raise ValueError(f"--units {text!r}: write name=unit, as in r=au.")
        units[require_known("column", name.strip(), names)] = parse_unit(unit)
    missing = [name for name in names if name not in units]
    if missing:
        raise ValueError(f"--units lacks {', '.join(missing)}; dimensionless columns have unit 1.")
    return units


def dimension(expression: sympy.Expr, units: Mapping[str, Unit]) -> Unit:
    """The unit of a formula whose numbers are dimensionless.

    Raises:
        ValueError: if it adds different dimensions, or takes a function of one (says which).
    """
    if expression.is_number:
        return ONE
    if expression.is_Symbol:
        return units.get(expression.name, ONE)
    if expression.is_Mul:
        unit = ONE
        for factor in expression.args:
            unit = unit * dimension(factor, units)
        return unit
    if expression.is_Pow and expression.exp.is_number:
        power = Fraction(float(expression.exp)).limit_denominator(12)
        return dimension(expression.base, units) ** power
    inner = [dimension(argument, units) for argument in expression.args]
    if expression.is_Add:
        if any(unit.powers != inner[0].powers for unit in inner):
            dimensions = " and ".join(sorted({unit.text for unit in inner}))
            raise ValueError(f"{expression} adds {dimensions}.")
        return inner[0]
    if any(any(unit.powers) for unit in inner):
        raise ValueError(f"{expression} takes a function of something that has a dimension.")
    return ONE


def strength_unit(shape: sympy.Expr, units: Mapping[str, Unit], target: str) -> Unit:
    """The unit that the constant in front of a shape must have: target over shape.

    Args:
        shape: the law without its strength, its own parameters as symbols of lengths (their unit
            is that of `r`).
        units: by column.
        target: name of the target.

    Raises:
        ValueError: if the shape itself adds different dimensions.
    """
    known = dict(units)
    if "r" in units:
        lengths = {"length": 1, "softening": 1, "b": 2}
        known |= {name: units["r"] ** Fraction(power) for name, power in lengths.items()}
    return units[target] * dimension(shape, known) ** Fraction(-1)


def gravitational_constant(unit: Unit) -> float:
    """G in a unit of its dimension."""
    return G_SI / unit.size
