"""Textbook laws, recognised by form and units, whatever the names of the columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import sympy

from orbits.expressions import parse_expression
from orbits.units import Unit, parse_unit
from symreg.fit.refine import Law
from symreg.formulas.expressions import merged, skeleton, with_floats

_unit = cache(parse_unit)


@dataclass(frozen=True)
class TextbookLaw:
    """A law: its name, formula, and the units of its value and variables.

    Every other symbol in the formula is a constant.
    """

    name: str
    formula: str
    target: str
    variables: Mapping[str, str]


LAWS = tuple(
    TextbookLaw(name, formula, target, dict(pair.split(":") for pair in variables.split()))
    for name, formula, target, variables in (
        ("Newton's law of gravitation", "G*m*M/r**2", "N", "m:kg M:kg r:m"),
        ("Newton's law of gravitation", "G*M/r**2", "m/s^2", "M:kg r:m"),
        ("Newton's law of gravitation about one mass", "k/r**2", "m/s^2", "r:m"),
        ("the gravitational energy of two masses", "G*m*M/r", "J", "m:kg M:kg r:m"),
        ("Coulomb's law", "k*q*Q/r**2", "N", "q:C Q:C r:m"),
        ("Hooke's law", "k*x", "N", "x:m"),
        ("Newton's second law", "m*a", "N", "m:kg a:m/s^2"),
        ("Kepler's third law", "c*a**(3/2)", "s", "a:m"),
        ("Kepler's third law", "c*sqrt(a**3/M)", "s", "a:m M:kg"),
        ("the speed of a circular orbit", "c*sqrt(M/r)", "m/s", "M:kg r:m"),
        ("the ideal gas law", "R*n*T/V", "Pa", "n:mol T:K V:m^3"),
        ("the ideal gas law", "k*rho*T", "Pa", "rho:1/m^3 T:K"),
        ("the Stefan-Boltzmann law", "s*T**4", "W/m^2", "T:K"),
        ("the Stefan-Boltzmann law", "s*A*T**4", "W", "A:m^2 T:K"),
        ("Planck's law", "a*f**3/(exp(b*f/T) - 1)", "W*s/m^2", "f:1/s T:K"),
        ("Planck's law", "a/(l**5*(exp(b/(l*T)) - 1))", "W/m^3", "l:m T:K"),
        ("Wien's displacement law", "b/T", "m", "T:K"),
        ("Ohm's law", "R*I", "V", "R:V/A I:A"),
        ("Joule's law", "R*I**2", "W", "R:V/A I:A"),
        ("the energy of motion", "m*v**2/2", "J", "m:kg v:m/s"),
        ("the energy of a mass in a uniform field", "g*m*h", "J", "m:kg h:m"),
        ("the energy of a spring", "k*x**2/2", "J", "k:N/m x:m"),
        ("the centripetal force", "m*v**2/r", "N", "m:kg v:m/s r:m"),
        ("the drag of a fast body", "c*rho*A*v**2", "N", "rho:kg/m^3 A:m^2 v:m/s"),
        ("Stokes' law", "c*eta*r*v", "N", "eta:Pa*s r:m v:m/s"),
        ("the dynamic pressure", "rho*v**2/2", "Pa", "rho:kg/m^3 v:m/s"),
        ("the hydrostatic pressure", "g*rho*h", "Pa", "rho:kg/m^3 h:m"),
        ("Poiseuille's law", "c*p*r**4/(eta*L)", "m^3/s", "p:Pa r:m eta:Pa*s L:m"),
        ("Fourier's law", "k*A*T/L", "W", "A:m^2 T:K L:m"),
        ("the barometric formula", "p*exp(-k*m*h/T)", "Pa", "p:Pa m:kg h:m T:K"),
        ("Arrhenius' law", "A*exp(-k*E/T)", "1/s", "E:J/mol T:K"),
        ("the charge of a capacitor", "C*U", "C", "C:F U:V"),
        ("the energy of a capacitor", "C*U**2/2", "J", "C:F U:V"),
        ("the magnetic force", "q*v*B", "N", "q:C v:m/s B:T"),
        ("the field of a straight wire", "k*I/r", "T", "I:A r:m"),
        ("the energy of a photon", "h*f", "J", "f:1/s"),
        ("the energy of a photon", "k/l", "J", "l:m"),
        ("de Broglie's wavelength", "h/p", "m", "p:kg*m/s"),
        ("Rydberg's formula", "R*(1/n**2 - 1/m**2)", "1/m", "n:1 m:1"),
        ("the period of a pendulum", "c*sqrt(L)", "s", "L:m"),
        ("the period of a mass on a spring", "c*sqrt(m/k)", "s", "m:kg k:N/m"),
        ("the lens equation", "a*b/(a + b)", "m", "a:m b:m"),
        ("resistors side by side", "a*b/(a + b)", "V/A", "a:V/A b:V/A"),
        ("Hubble's law", "H*D", "m/s", "D:m"),
        ("the equivalence of mass and energy", "k*m", "J", "m:kg"),
    )
)  # fmt: skip


def recognised_laws(
    law: Law, names: Sequence[str], target: str, units: Mapping[str, Unit]
) -> tuple[str, ...]:
    """Names of the textbook laws with a formula's form, and its units if known."""
    used = sorted({s.name for s in law.form.free_symbols} & set(names))
    # without units a short form means nothing: c*x*y is that of every other law
    if not used or (not units and law.nodes < 8):
        return ()
    symbols = {s.name: s for s in law.form.free_symbols}
    matches: list[str] = []
    for known in LAWS:
        if len(known.variables) != len(used) or known.name in matches:
            continue
        if units and units[target].powers != _unit(known.target).powers:
            continue
        wanted = [_unit(text).powers for text in known.variables.values()]
        for order in permutations(used):
            if units and [units[name].powers for name in order] != wanted:
                continue
            mapping = dict(zip(known.variables, (symbols[name] for name in order), strict=True))
            if str(law.form) in _forms(known.formula, mapping):
                matches.append(known.name)
                break
    return tuple(matches) if units or len(matches) <= 3 else ()


def _forms(formula: str, mapping: Mapping[str, sympy.Symbol]) -> set[str]:
    """The skeletons of a formula with a table's own symbols, a constant in front or not."""
    parsed = parse_expression(formula)
    # no simple numbers, and all different
    numbers = {
        s: mapping.get(s.name, sympy.Float(1.25 + 0.1 * i))
        for i, s in enumerate(sorted(parsed.free_symbols, key=str))
    }
    own = with_floats(parsed.xreplace(numbers))
    return {str(skeleton(merged(own * front))[0]) for front in (sympy.Integer(1), sympy.Float(1.7))}
