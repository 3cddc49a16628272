"""The reference laws, as formulas with free constants to fit to samples."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy

from orbits.forces import GM_SYMBOL, LAWS, RADIUS, ForceLaw
from symreg.formulas.expressions import constant_symbol, symbol

GRAVITATIONAL_PARAMETER = ("gm", "GM")
"""Features that are the attracting body's GM."""
MASSES = ("M", "m", "mass", "m1", "m2")
"""Features that a force is proportional to: their product is the law's source."""
COORDINATES = ("x", "y", "z")
"""Features whose ratio to r is a component's share of the force."""


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

    Power laws come with exponents fixed at each half-integer from -4 to 4 that has no name.
    """
    if "r" not in names:
        return []
    r = X[:, list(names).index("r")]
    middle = float(np.exp(np.mean(np.log(r)))) if np.all(r > 0) else 1.0
    strengths = sources(names)
    forms = []
    for name, law in sorted(LAWS.items()):
        default = law()
        if name == "power_law" or (name == "deep_mond" and strengths == [sympy.Integer(1)]):
            continue
        own = [key for key in default.parameters if key != "a0"]
        for source in strengths:
            forms.append(_form(name, default, own, source, middle))
    for twice in range(-8, 9):
        power = sympy.Rational(twice, 2)
        if power not in (-1, 1, 2):
            forms += [
                NamedForm("power_law", constant_symbol(0) * source * RADIUS**-power, (), ((),))
                for source in strengths
            ]
    return forms


def _form(name: str, law: ForceLaw, own: list[str], source: sympy.Expr, middle: float) -> NamedForm:
    expression = law.expression().subs(symbol("a0"), 1).subs(GM_SYMBOL, source)
    constants = {symbol(key): constant_symbol(i + 1) for i, key in enumerate(own)}
    shape = expression.xreplace(constants)
    lengths = [middle * factor for factor in (0.1, 0.5, 2.0)]
    if name == "newton_gr":
        lengths = [length**2 for length in lengths]
    starts = tuple((value,) for value in lengths) if own else ((),)
    return NamedForm(name, constant_symbol(0) * shape, tuple(own), starts)


def sources(names: Sequence[str]) -> list[sympy.Expr]:
    """What a law may be proportional to: GM, the mass, the masses' product or sum.

    If coordinates are features, the target is a component: each also times coordinate/r.
    """
    gm = [symbol(name) for name in names if name in GRAVITATIONAL_PARAMETER]
    masses = [symbol(name) for name in names if name in MASSES]
    found: list[sympy.Expr] = [sympy.Integer(1)]
    if gm:
        found = [gm[0]]
    elif len(masses) > 1:
        found = [sympy.Mul(*masses), sympy.Add(*masses), sympy.Integer(1)]
    elif masses:
        found = [masses[0], sympy.Integer(1)]
    coordinates = [symbol(name) for name in names if name in COORDINATES]
    return [s * c / RADIUS for s in found for c in coordinates] if coordinates else found
