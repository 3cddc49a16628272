"""The reference laws, as formulas with free constants to fit to samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from orbits.forces import GM_SYMBOL, LAWS, RADIUS, ForceLaw
from orbits.units import parse_unit
from symreg.formulas.expressions import constant_symbol, symbol

GRAVITATIONAL_PARAMETER = ("gm", "GM")
"""Features that are the attracting body's GM."""
MASSES = ("M", "m", "mass", "m1", "m2")
"""Features that a force is proportional to: their product is the law's source."""
COORDINATES = ("x", "y", "z")
"""Features whose ratio to r is a component's share of the force."""
LENGTHS = (0.1, 0.5, 2.0)
"""Times the middle of the distances: where the fit of a law's length starts."""


@dataclass(frozen=True)
class NamedForm:
    """A reference law over the features of a table.

    In the form `_c0` is the strength, and the rest are the law's own parameters, with (start,
    parameter) initial values for the fit.
    """

    name: str
    form: sympy.Expr
    parameters: tuple[str, ...]
    starts: tuple[tuple[float, ...], ...]


def named_forms(names: Sequence[str], X: np.ndarray) -> list[NamedForm]:
    """Every reference law that can be written in the features; none without `r`.

    Powers come with exponents fixed at each half-integer that has no name.
    """
    if "r" not in names:
        return []
    r = X[:, list(names).index("r")]
    middle = float(np.exp(np.mean(np.log(r)))) if np.all(r > 0) else 1.0
    strengths = sources(names)
    laws = [LAWS[name]() for name in sorted(LAWS)]
    named = {family(law) for law in laws}
    # from -4 to 4
    powers = [LAWS["power_law"](twice / 2) for twice in range(-8, 9)]  # type: ignore[call-arg]
    laws = [law for law in laws if not law.exponents]
    laws += [law for law in powers if family(law) not in named]
    return [
        form_of(law, source, middle)
        for law in laws
        for source in strengths
        if law.linear_in_gm or strengths != [sympy.Integer(1)]
    ]


def form_of(law: ForceLaw, source: sympy.Expr, middle: float) -> NamedForm:
    """A law with `source` for its GM, lengths to start near `middle`, au."""
    own = tuple(name for name in law.parameters if name not in (*law.scales, *law.exponents))
    constants = {symbol(name): constant_symbol(i + 1) for i, name in enumerate(own)}
    shape = family(law).subs(GM_SYMBOL, source).xreplace(constants)
    starts = [
        tuple((factor * middle) ** float(parse_unit(law.units[name]).powers[0]) for name in own)
        for factor in LENGTHS
    ]
    return NamedForm(law.name, constant_symbol(0) * shape, own, tuple(starts) if own else ((),))


def family(law: ForceLaw, strength: str = "") -> sympy.Expr:
    """The attraction with exponents as numbers, other parameters as symbols; those that only change
    its size are one, except the one that is the strength.
    """
    values = {symbol(name): sympy.Rational(repr(law.parameters[name])) for name in law.exponents}
    values |= {symbol(name): sympy.Integer(1) for name in law.scales if name != strength}
    return law.expression().subs(values)


def sources(names: Sequence[str]) -> list[sympy.Expr]:
    """What a law may be proportional to: GM, the mass, the masses' product or sum.

    If coordinates are features, the target is a component: each also times coordinate/r.
    """
    gm = [symbol(name) for name in names if name in GRAVITATIONAL_PARAMETER]
    masses = [symbol(name) for name in names if name in MASSES]
    whole: list[sympy.Expr] = [sympy.Integer(1)]
    if gm:
        whole = [gm[0]]
    elif len(masses) > 1:
        whole = [sympy.Mul(*masses), sympy.Add(*masses), sympy.Integer(1)]
    elif masses:
        whole = [masses[0], sympy.Integer(1)]
    coordinates = [symbol(name) for name in names if name in COORDINATES]
    return [s * c / RADIUS for s in whole for c in coordinates] if coordinates else whole
