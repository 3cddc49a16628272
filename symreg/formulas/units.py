"""Dimensional analysis: what unit the constant of a law has, and whether that can be."""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import sympy

from orbits.options import require_known

Powers = tuple[Fraction, ...]
BASES = ("m", "kg", "s", "K", "A", "mol")


@dataclass(frozen=True)
class Unit:
    """A unit: its size in SI, and the powers of SI's base units, candela left out.

    Source: the astronomical unit, IAU 2012 Resolution B2; the Julian year; GM of the Sun, IAU 2015
    Resolution B3, over CODATA 2018's G for its mass.
    """

    size: float
    powers: Powers

    def __mul__(self, other: "Unit") -> "Unit":
        added = (a + b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.size * other.size, _powers(added))

    def __pow__(self, power: Fraction) -> "Unit":
        return Unit(self.size ** float(power), _powers(a * power for a in self.powers))

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


def _powers(values) -> Powers:
    given = [Fraction(value) for value in values]
    return tuple(given + [Fraction(0)] * (len(BASES) - len(given)))


def _unit(
    size: float, length: int, mass: int, time: int, heat: int = 0, current: int = 0, amount: int = 0
) -> Unit:
    return Unit(size, _powers((length, mass, time, heat, current, amount)))


G_SI = 6.67430e-11
GM_SUN_SI, GM_EARTH_SI = 1.32712440018e20, 3.986004418e14
ONE = _unit(1, 0, 0, 0)
UNITS = {
    "m": _unit(1, 1, 0, 0),
    "km": _unit(1e3, 1, 0, 0),
    "au": _unit(149_597_870_700.0, 1, 0, 0),
    "pc": _unit(3.0856775814913673e16, 1, 0, 0),
    "kg": _unit(1, 0, 1, 0),
    "g": _unit(1e-3, 0, 1, 0),
    "Msun": _unit(GM_SUN_SI / G_SI, 0, 1, 0),
    "M_sun": _unit(GM_SUN_SI / G_SI, 0, 1, 0),
    "Mearth": _unit(GM_EARTH_SI / G_SI, 0, 1, 0),
    "s": _unit(1, 0, 0, 1),
    "h": _unit(3600, 0, 0, 1),
    "d": _unit(86_400, 0, 0, 1),
    "day": _unit(86_400, 0, 0, 1),
    "yr": _unit(365.25 * 86_400, 0, 0, 1),
    "N": _unit(1, 1, 1, -2),
    "J": _unit(1, 2, 1, -2),
    "Mpc": _unit(3.0856775814913673e22, 1, 0, 0),
    "kpc": _unit(3.0856775814913673e19, 1, 0, 0),
    "ly": _unit(9.4607304725808e15, 1, 0, 0),
    "cm": _unit(1e-2, 1, 0, 0),
    "mm": _unit(1e-3, 1, 0, 0),
    "nm": _unit(1e-9, 1, 0, 0),
    "Mjup": _unit(1.2668653e17 / G_SI, 0, 1, 0),
    "min": _unit(60, 0, 0, 1),
    "ms": _unit(1e-3, 0, 0, 1),
    "Hz": _unit(1, 0, 0, -1),
    "W": _unit(1, 2, 1, -3),
    "Pa": _unit(1, -1, 1, -2),
    "bar": _unit(1e5, -1, 1, -2),
    "L": _unit(1e-3, 3, 0, 0),
    "K": _unit(1, 0, 0, 0, 1),
    "A": _unit(1, 0, 0, 0, 0, 1),
    "mol": _unit(1, 0, 0, 0, 0, 0, 1),
    "C": _unit(1, 0, 0, 1, 0, 1),
    "V": _unit(1, 2, 1, -3, 0, -1),
    "ohm": _unit(1, 2, 1, -3, 0, -2),
    "F": _unit(1, -2, -1, 4, 0, 2),
    "T": _unit(1, 0, 1, -2, 0, -1),
    "Wb": _unit(1, 2, 1, -2, 0, -1),
    "H": _unit(1, 2, 1, -2, 0, -2),
    "eV": _unit(1.602176634e-19, 2, 1, -2),
    "rad": ONE,
    "deg": Unit(math.pi / 180, _powers(())),
}
"""Units that are known by name."""
G_DIMENSION = _powers((3, -1, -2))
GM_DIMENSION = _powers((3, 0, -2))


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


def strength_unit(shape: sympy.Expr, units: Mapping[str, Unit], target: str) -> Unit:
    """The unit that the constant in front of a shape must have: target over shape.

    Args:
        shape: the law without its strength, its own parameters as symbols of lengths (their unit
            is that of `r`).
        units: by column.
        target: name of the target.

    Raises:
        ValueError: if the shape itself adds different dimensions, or takes a function of one.
    """
    known = dict(units)
    if "r" in units:
        lengths = {"length": 1, "softening": 1, "b": 2}
        known |= {name: units["r"] ** Fraction(power) for name, power in lengths.items()}
    known |= {s.name: ONE for s in shape.free_symbols if s.name not in known}
    unit = _assigned(shape, None, known, {})
    if unit is None:
        raise ValueError(f"{shape} has a power that is no number, of something with a dimension.")
    return units[target] * unit ** Fraction(-1)


def constant_units(form: sympy.Expr, units: Mapping[str, Unit], target: Unit) -> dict[str, Unit]:
    """Units that the free constants of a formula must have, for it to have the target's.

    Args:
        form: a skeleton; symbols without a unit are its constants.
        units: by column.
        target: of the formula.

    Returns:
        A unit by constant; a constant whose unit nothing decides is left out.

    Raises:
        ValueError: if no units make it consistent: it adds different dimensions, or takes a
            function of one (says which).
    """
    found: dict[str, Unit] = {}
    unit = _assigned(form, target, units, found)
    if unit is not None and unit.powers != target.powers:
        raise ValueError(f"{form} has the dimension {unit.text}, not {target.text}.")
    return found


def _assigned(
    form: sympy.Expr, wanted: Unit | None, units: Mapping[str, Unit], found: dict[str, Unit]
) -> Unit | None:
    """The unit of a part, its constants' units noted; None where a constant may give it any."""
    if form.is_number:
        return ONE
    if form.is_Symbol:
        if form.name in units:
            return units[form.name]
        if wanted is not None:
            found[form.name] = wanted
        return found.get(form.name)
    if form.is_Mul:
        return _assigned_product(form, wanted, units, found)
    if form.is_Add:
        inner = {part: _assigned(part, None, units, found) for part in form.args}
        known = [unit for unit in inner.values() if unit is not None]
        known += [wanted] if wanted is not None else []
        if any(unit.powers != known[0].powers for unit in known):
            dimensions = " and ".join(sorted({unit.text for unit in known}))
            raise ValueError(f"{form} adds {dimensions}.")
        for part, unit in inner.items():
            if unit is None and known:
                _assigned(part, known[0], units, found)
        return known[0] if known else None
    if form.is_Pow and form.exp.is_number:
        power = Fraction(float(form.exp)).limit_denominator(12)
        inverse = wanted ** (1 / power) if wanted is not None and power else None
        unit = _assigned(form.base, inverse, units, found)
        return None if unit is None else unit**power
    if form.is_Pow:
        # a fitted exponent: what stands in front takes whatever dimension that gives
        base = _assigned(form.base, None, units, found)
        return ONE if base is not None and not any(base.powers) else None
    if isinstance(form, sympy.Abs):
        return _assigned(form.args[0], wanted, units, found)
    for part in form.args:
        unit = _assigned(part, ONE, units, found)
        if unit is not None and any(unit.powers):
            raise ValueError(f"{form} takes a function of something that has a dimension.")
    return ONE


def _assigned_product(
    form: sympy.Expr, wanted: Unit | None, units: Mapping[str, Unit], found: dict[str, Unit]
) -> Unit | None:
    known, open_parts = ONE, []
    for part in form.args:
        unit = _assigned(part, None, units, found)
        if unit is None:
            open_parts.append(part)
        else:
            known = known * unit
    if not open_parts:
        return known
    if wanted is None:
        return None
    # the constant in front takes what is missing, the others none; beside a fitted power of
    # something that has a dimension nothing says what is missing
    open_parts.sort(key=lambda part: not part.is_Symbol)
    powers = [part for part in open_parts if part.is_Pow and not part.exp.is_number]
    if not powers:
        _assigned(open_parts[0], wanted * known ** Fraction(-1), units, found)
    for part in open_parts[1:]:
        if part not in powers:
            _assigned(part, ONE, units, found)
    return wanted


def gravitational_constant(unit: Unit) -> float:
    """G in a unit of its dimension."""
    return G_SI / unit.size
