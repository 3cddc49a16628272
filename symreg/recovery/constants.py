"""Constants of physics that a fitted number with a unit may be: proposed, never substituted."""

import math
from functools import cache

from scipy import constants as si

from orbits.units import GM_EARTH_SI, GM_SUN_SI, Unit, parse_unit
from symreg.fit.uncertainty import KnownConstant, nearest_known

KNOWN: dict[str, tuple[float, str]] = {
    "G": (si.G, "m^3/kg/s^2"),
    "GM of the Sun": (GM_SUN_SI, "m^3/s^2"),
    "GM of the Earth": (GM_EARTH_SI, "m^3/s^2"),
    "4π²/GM of the Sun": (4 * math.pi**2 / GM_SUN_SI, "s^2/m^3"),
    "standard gravity g": (si.g, "m/s^2"),
    "speed of light c": (si.c, "m/s"),
    "1/c": (1 / si.c, "s/m"),
    "c²": (si.c**2, "m^2/s^2"),
    "1/c²": (si.c**-2, "s^2/m^2"),
    "Planck constant h": (si.h, "J*s"),
    "ħ": (si.hbar, "J*s"),
    "hc": (si.h * si.c, "J*m"),
    "Boltzmann constant k": (si.k, "J/K"),
    "3k/2": (1.5 * si.k, "J/K"),
    "h/k": (si.h / si.k, "s*K"),
    "hc/k": (si.h * si.c / si.k, "m*K"),
    "Wien's constant": (si.Wien, "m*K"),
    "Stefan-Boltzmann constant σ": (si.sigma, "W/m^2/K^4"),
    "Avogadro constant": (si.N_A, "1/mol"),
    "gas constant R": (si.R, "J/mol/K"),
    "3R/2": (1.5 * si.R, "J/mol/K"),
    "Faraday constant": (si.e * si.N_A, "C/mol"),
    "elementary charge e": (si.e, "C"),
    "electric constant ε0": (si.epsilon_0, "F/m"),
    "1/(4πε0)": (1 / (4 * math.pi * si.epsilon_0), "m/F"),
    "magnetic constant μ0": (si.mu_0, "H/m"),
    "μ0/(2π)": (si.mu_0 / (2 * math.pi), "H/m"),
    "μ0/(4π)": (si.mu_0 / (4 * math.pi), "H/m"),
    "e/k": (si.e / si.k, "C*K/J"),
    "h/e": (si.h / si.e, "J*s/C"),
    "Rydberg constant": (si.Rydberg, "1/m"),
    "Bohr radius": (si.physical_constants["Bohr radius"][0], "m"),
    "mass of the electron": (si.m_e, "kg"),
    "mass of the proton": (si.m_p, "kg"),
}
"""Value and unit in SI.

Source: CODATA, from scipy; IAU 2015 Resolution B3 for the products GM.
"""


_unit = cache(parse_unit)


def recognised(value: float, low: float, high: float, unit: Unit) -> KnownConstant | None:
    """The nearest constant, in the number's own unit, if it lies in the interval and within 3 %."""
    alike = {
        name: size / unit.size
        for name, (size, own) in KNOWN.items()
        if _unit(own).powers == unit.powers
    }
    return nearest_known(value, low, high, alike)
