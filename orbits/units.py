"""Units: astronomical unit, year and solar mass in every file and number, and other units."""

import ast
import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

from orbits.data_files import rows_of
from orbits.options import require_known

G = 4 * math.pi**2
"""Newton's constant, au^3 yr^-2 M_sun^-1: 2 pi radians a year at 1 au around 1 M_sun."""

GM_SUN = G
"""Gravitational parameter of the Sun, au^3/yr^2."""

JULIAN_YEAR_DAYS = 365.25
"""Days in the year used here."""

UNITS = {
    "length": "au",
    "time": "yr",
    "mass": "M_sun",
    "velocity": "au/yr",
    "acceleration": "au/yr^2",
    "gm": "au^3/yr^2",
}


Powers = tuple[Fraction, ...]
BASES = ("m", "kg", "s", "K", "A", "mol")


@dataclass(frozen=True)
class Unit:
    """A unit: its size in SI, and the powers of SI's base units, candela left out.

    `names` are those of the base units that its text is written in, SI's own by default; `factors`
    the named units that it is a product of, with their powers.

    Source: the astronomical unit, IAU 2012 Resolution B2; the Julian year; GM of the Sun, IAU 2015
    Resolution B3, over CODATA 2018's G for its mass.
    """

    size: float
    powers: Powers
    names: tuple[str, ...] = field(default=BASES, compare=False)
    factors: Mapping[str, Fraction] = field(default_factory=dict, compare=False)

    def __mul__(self, other: "Unit") -> "Unit":
        added = (a + b for a, b in zip(self.powers, other.powers, strict=True))
        names = other.names if self.names == BASES else self.names
        factors = dict(self.factors)
        for name, power in other.factors.items():
            factors[name] = factors.get(name, Fraction(0)) + power
        return Unit(self.size * other.size, powers(added), names, factors)

    def __pow__(self, power: Fraction) -> "Unit":
        try:
            size = self.size ** float(power)
        except (OverflowError, ZeroDivisionError):  # of a formula with high powers: not comparable
            size = math.inf
        factors = {name: own * power for name, own in self.factors.items()}
        return Unit(size, powers(a * power for a in self.powers), self.names, factors)

    @property
    def text(self) -> str:
        """The dimension in its base units, as in `m^3 kg^-1 s^-2` or `au^(-3/2) yr`."""
        return " ".join(_factors(self.names, self.powers)) or "dimensionless"

    @property
    def as_given(self) -> str:
        """The same, or the named units whose product it is, as in `km h^-1`, where it is none of
        SI's; one without a dimension has none that have one."""
        angles = all(not any(_named(name).powers) for name, power in self.factors.items() if power)
        if math.isclose(self.size, 1) or not (any(self.powers) or angles):
            return self.text
        return " ".join(_factors(self.factors, self.factors.values())) or self.text

    @property
    def si_text(self) -> str:
        """The dimension as read by Julia's DynamicQuantities, as in `m^3*kg^-1*s^-2`."""
        return "*".join(_factors(BASES, self.powers, one="^1"))


def _factors(names: Iterable[str], powers: Iterable[Fraction], one: str = "") -> Iterator[str]:
    for base, power in zip(names, powers, strict=True):
        if power.denominator > 1:
            yield f"{base}^({power})"
        elif power:
            yield f"{base}{one if power == 1 else f'^{power}'}"


def powers(values: Iterable[float | Fraction]) -> Powers:
    exponents = [Fraction(value) for value in values]
    return tuple(exponents + [Fraction(0)] * (len(BASES) - len(exponents)))


CONSTANTS = {row["name"]: row for row in rows_of("orbits", "constants.csv")}
"""Constants of physics by name: `value`, in SI's `unit`, and how a number `without_unit` is called
that has this value.

Source: CODATA 2018 for G, 2022 for the others; DE421 and IAU 2015 Resolution B3 for the products
GM of the Sun and the Earth, which that resolution rounds to 1.3271244e20 and 3.986004e14 m³/s².
"""
G_SI = float(CONSTANTS["G"]["value"])
"""m³/(kg s²)."""
ONE = Unit(1, powers(()))
NAMED_UNITS = {each: Unit(1.0, powers(each == other for other in BASES)) for each in BASES}
"""Units known by name: SI's base units, and those of `units.csv`, each so many of one above it.
There the mass of a body is its GM over G."""
PREFIXES = {
    "f": 1e-15, "p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2,
    "d": 1e-1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12,
}  # fmt: skip
"""SI's prefixes."""
PREFIXED = frozenset("m g s N J Hz W Pa bar L K A mol C V ohm F T Wb H eV pc yr".split())
"""Units that are written with SI's prefixes, as in kPa; a name of its own, as min, comes first."""


SUPERSCRIPT = re.compile("[⁻⁰¹²³⁴-⁹]+")


@cache
def parse_unit(text: str) -> Unit:
    """A unit from text, as in `au/yr^2`, `Msun*au/yr**2`, `1`, or as units are written.

    Without a `/`, behind which it would be a part of the quotient or not, a space is a product.

    Raises:
        ValueError: if it is not a product of powers of known units (names the near miss).
    """
    plain = SUPERSCRIPT.sub(lambda power: f"^{unicodedata.normalize('NFKC', power[0])}", text)
    for sign, plainly in (("\N{MINUS SIGN}", "-"), ("·", "*"), ("M☉", "Msun"), ("^", "**")):
        plain = plain.replace(sign, plainly)
    if "/" not in re.sub(r"\(.*?\)", "", plain):
        plain = re.sub(r"(?<=[\w)])\s+(?=\w)", "*", plain)
    try:
        unit = _built(ast.parse(plain.strip() or "1", mode="eval").body, text)
    except (SyntaxError, RecursionError, MemoryError, UnicodeError):  # half a surrogate pair
        raise ValueError(f"the unit {text!r} cannot be read; write it as in au/yr^2.") from None
    if not 0 < unit.size < math.inf:
        raise ValueError(f"the unit {text!r} is too large or too small for a number.")
    return unit


def _built(node: ast.expr, text: str) -> Unit:
    if isinstance(node, ast.Name):
        return _named(node.id)
    if isinstance(node, ast.Constant) and node.value == 1:
        return ONE
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return _built(node.left, text) * _built(node.right, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return _built(node.left, text) * _built(node.right, text) ** Fraction(-1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _built(node.left, text) ** _power(node.right, text)
    raise ValueError(f"the unit {text!r} cannot be read; write it as in au/yr^2.")


def _named(name: str) -> Unit:
    prefix, rest = name[:1], name[1:]
    one, size = {name: Fraction(1)}, 1.0
    if name not in NAMED_UNITS and prefix in PREFIXES and rest in PREFIXED:
        size, name = PREFIXES[prefix], rest
    unit = NAMED_UNITS[require_known("unit", name, NAMED_UNITS)]
    return Unit(size * unit.size, unit.powers, factors=one)


def _power(node: ast.expr, text: str) -> Fraction:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_power(node.operand, text)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        below = _power(node.right, text)
        if below:
            return _power(node.left, text) / below
    most = 1000  # far above any unit's, and soon reckoned with
    value = node.value if isinstance(node, ast.Constant) else None
    if type(value) is int and value <= most:
        return Fraction(value)
    if isinstance(value, float) and value <= most:  # 0.333 is a third
        return Fraction(value).limit_denominator(12)
    raise ValueError(f"the unit {text!r} has a power that is not a small number.")


for _row in rows_of("orbits", "units.csv"):
    _unit = parse_unit(_row["unit"])
    NAMED_UNITS[_row["name"]] = Unit(float(_row["size"]) * _unit.size, _unit.powers)


def _ratios(names: str, own: str) -> dict[str, float]:
    """The size of each named unit in our own."""
    return {name: parse_unit(name).size / parse_unit(own).size for name in names.split()}


YEARS = _ratios("yr d h min s", "yr")
"""Units of time in years of 365.25 days."""
LENGTHS = _ratios("au km m cm pc", "au")
"""Units of length in au."""


class GivenUnits:
    """The units of length and time in which positions came, and the unit of mass beside them.

    `attributes` are those of a dataset or of force samples; without a note there, our own units.
    Masses are in kg beside metres and their multiples, otherwise in solar masses; in au and yr
    those of which G is 4 pi^2, as in our own files.
    """

    def __init__(self, attributes: Mapping[Any, Any]) -> None:
        self.length = str(attributes.get("length_unit", "au"))
        self.time = str(attributes.get("time_unit", "yr"))
        self.mass = "kg" if self.length in ("m", "km", "cm") else "M☉"

    def unit(self, length: int, time: int) -> Unit:
        """The unit with these powers of length and time."""
        size = parse_unit(self.length).size ** length * parse_unit(self.time).size ** time
        names = (self.length, "kg", self.time, *BASES[3:])
        factors = {self.length: Fraction(length), self.time: Fraction(time)}
        return Unit(size, powers((length, 0, time)), names, factors)

    def factor(self, length: float, time: float) -> float:
        """By which numbers in powers of au and yr become those in these units."""
        return float(LENGTHS[self.length] ** -length * YEARS[self.time] ** -time)

    @property
    def mass_factor(self) -> float:
        """By which masses of which G is 4 pi^2 become the unit of mass: in au and yr such a mass
        itself, a 26 000th heavier than the Sun, otherwise the Sun's or kg."""
        if (self.length, self.time) == ("au", "yr"):
            return 1.0
        au, year = parse_unit("au").size, parse_unit("yr").size
        kilograms = G * au**3 / year**2 / G_SI
        return kilograms if self.mass == "kg" else kilograms / parse_unit("Msun").size

    @property
    def newton(self) -> float:
        """Newton's constant in these units."""
        return G * self.factor(3, -2) / self.mass_factor
