"""Units: what is written is read back."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import constants as si

from orbits.units import (
    CONSTANTS,
    G_SI,
    LENGTHS,
    ONE,
    YEARS,
    GivenUnits,
    Unit,
    parse_unit,
    powers,
)

POWERS = st.fractions(-12, 12, max_denominator=12)
BASE_NAMES = st.tuples(
    st.sampled_from(list(LENGTHS)), st.just("kg"), st.sampled_from(list(YEARS)),
    *(st.just(name) for name in ("K", "A", "mol")),
)  # fmt: skip


@given(st.tuples(*[POWERS] * 6), BASE_NAMES)
@settings(deadline=None)
def test_what_a_unit_writes_is_read_as_that_unit(exponents, names):
    unit = Unit(1.0, powers(exponents), names)
    assert parse_unit(unit.text).powers == unit.powers
    assert parse_unit(unit.si_text).powers == unit.powers
    size = math.prod(
        parse_unit(name).size ** float(p) for name, p in zip(names, exponents, strict=True)
    )
    # a float's power of a large number has an error of its logarithm times 2e-16
    assert parse_unit(unit.text).size == pytest.approx(size, rel=1e-12)


@given(st.sampled_from(list(LENGTHS)), st.sampled_from(list(YEARS)), POWERS, POWERS)
@settings(deadline=None)
def test_units_of_trajectories_are_read_back_with_their_sizes(length, time, first, second):
    unit = GivenUnits({"length_unit": length, "time_unit": time}).unit(first, second)
    again = parse_unit(unit.text)
    assert again.powers == unit.powers
    assert again.size == pytest.approx(unit.size, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("m^-1.5 s", "m^(-3/2)*s"), ("m^(1/2)", "m^0.5"), ("dimensionless", "1"),
        ("m^0.333", "m^(1/3)"),
        ("au³/yr²", "au^3/yr^2"), ("kg m s⁻²", "N"), ("au³/yr²/M☉", "au^3/yr^2/Msun"),
        ("kg·m·s^−2", "N"), ("  m  s ", "m*s"), ("m**-(1/2)", "m^-0.5"), ("J / (kg*K)", "J/kg/K"),
        ("m^13", "m^12*m"), ("kPa", "N/mm/m"), ("mN/m²", "uN/mm/m"), ("Myr", "kyr*km/m"),
        ("µm", "um"), ("mmol/L", "mol/m^3"), ("GHz^-1", "ns"),
    ],
)  # fmt: skip
def test_units_are_read_as_people_write_them(text, same):
    assert parse_unit(text) == parse_unit(same)


@pytest.mark.parametrize(
    "text",
    ["J/kg K", "m^(1/0)", "m^(s)", "m^1e9", "m^" + "9" * 5000, "m^(2^3)", "m^True", "2*m", "m^3/2"],
)
def test_what_is_no_unit_or_could_be_two_is_refused(text):
    with pytest.raises(ValueError, match="the unit"):
        parse_unit(text)


def test_no_dimension_has_a_word_that_is_read():
    assert parse_unit(ONE.text) == ONE
    assert Unit(1.0, powers((Fraction(-3, 2), 0, 1))).text == "m^(-3/2) s"


NAMED = st.sampled_from(["h", "min", "km", "kPa", "L", "deg", "Msun", "eV", "mas", "s", "m", "kg"])


@given(st.lists(st.tuples(NAMED, st.integers(-3, 3)), min_size=1, max_size=4))
@settings(deadline=None)
def test_a_product_of_named_units_is_written_in_these(parts):
    unit = math.prod((parse_unit(name) ** Fraction(power) for name, power in parts), start=ONE)
    assume(0 < unit.size < math.inf)
    again = parse_unit(unit.as_given)
    assert again.powers == unit.powers
    if any(unit.powers):
        assert again.size == pytest.approx(unit.size, rel=1e-12)


def test_units_of_one_name_are_named():
    hours = parse_unit("km") * parse_unit("km/h") ** Fraction(-1)
    assert [parse_unit(t).as_given for t in ("h", "km/h", "N", "deg", "min/h", "min*km/h")] == [
        "h", "km h^-1", "m kg s^-2", "deg", "dimensionless", "min km h^-1",
    ]  # fmt: skip
    assert hours.as_given == "h"


def test_constants_of_physics_are_those_of_their_source():
    value = {name: float(row["value"]) for name, row in CONSTANTS.items()}
    assert all(parse_unit(row["unit"]).size == 1 for row in CONSTANTS.values()), "in SI"
    e, k, h, c = si.e, si.k, si.h, si.c
    expected = {
        "G": si.G, "standard gravity g": si.g, "speed of light c": c, "1/c": 1 / c, "c²": c**2,
        "1/c²": c**-2, "Planck constant h": h, "ħ": si.hbar, "hc": h * c, "h/k": h / k,
        "Boltzmann constant k": k, "3k/2": 1.5 * k, "hc/k": h * c / k, "e/k": e / k, "h/e": h / e,
        "Wien's constant": si.Wien, "Stefan-Boltzmann constant σ": si.sigma,
        "Avogadro constant": si.N_A, "gas constant R": si.R, "3R/2": 1.5 * si.R,
        "Faraday constant": e * si.N_A, "elementary charge e": e,
        "electric constant ε0": si.epsilon_0, "1/(4πε0)": 1 / (4 * math.pi * si.epsilon_0),
        "magnetic constant μ0": si.mu_0, "μ0/(2π)": si.mu_0 / (2 * math.pi),
        "μ0/(4π)": si.mu_0 / (4 * math.pi), "Rydberg constant": si.Rydberg,
        "Bohr radius": si.physical_constants["Bohr radius"][0], "mass of the electron": si.m_e,
        "mass of the proton": si.m_p, "GM of the Sun": 1.3271244e20, "GM of the Earth": 3.986004e14,
        "4π²/GM of the Sun": 4 * math.pi**2 / value["GM of the Sun"],
        "4π²": 4 * math.pi**2, "2π": 2 * math.pi, "π": math.pi, "π²": math.pi**2,
        "G (km²/s² pc per solar mass)": si.G * 1.98841e30 / si.parsec / 1e6,
    }  # fmt: skip
    # editions of CODATA differ in the tenth digit, roundings of GM in the eighth, of the last G
    # in the sixth
    assert value == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize(("body", "gm"), [("Msun", "GM of the Sun"), ("Mearth", "GM of the Earth")])
def test_a_mass_is_its_gm_over_g(body, gm):
    assert parse_unit(body).size == pytest.approx(float(CONSTANTS[gm]["value"]) / G_SI, rel=1e-15)
