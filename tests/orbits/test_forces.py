"""Laws of force: minus the gradient of their potentials, and equal to their sympy forms."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from orbits.forces import GM_SYMBOL, LAWS, RADIUS, parse_law
from orbits.units import GM_SUN

SPECS = [*LAWS, "power_law(n=1)", "power_law(n=2.5)", "power_law(n=-1)", "yukawa(length=0.4)"]

separations = st.floats(0.05, 40.0)
parameters = st.floats(1e-3, 64.0, allow_nan=False)


@pytest.mark.parametrize("spec", SPECS)
@given(r=separations, gm=st.floats(0.1, 200.0))
def test_force_is_minus_the_gradient_of_the_potential(spec, r, gm):
    law = parse_law(spec)
    h = 1e-4 * r
    # Fourth-order central difference: truncation (h/r)^4 ~ 1e-16 times the law's own scale,
    # rounding ~ 1e-16 |phi| / h.
    phi = law.potential(r + h * np.array([-2.0, -1.0, 1.0, 2.0]), gm)
    slope = (phi[0] - 8 * phi[1] + 8 * phi[2] - phi[3]) / (12 * h)
    force = law.radial_acceleration(r, gm)
    rounding = 1e-15 * np.max(np.abs(phi)) / h
    assert force == pytest.approx(-slope, rel=1e-9, abs=4 * rounding)


@pytest.mark.parametrize("spec", SPECS)
def test_every_law_attracts_towards_the_origin(spec):
    rng = np.random.default_rng(0)
    position = rng.normal(size=(50, 4, 3))
    gm = np.full((50, 1), GM_SUN)
    acceleration = parse_law(spec).acceleration(position, gm)
    r = np.linalg.norm(position, axis=-1)
    cosine = np.sum(acceleration * position, axis=-1) / r / np.linalg.norm(acceleration, axis=-1)
    np.testing.assert_allclose(cosine, -1, atol=1e-14)


@pytest.mark.parametrize("spec", SPECS)
def test_sympy_form_is_the_magnitude_of_the_attraction(spec):
    law = parse_law(spec)
    r = np.geomspace(0.05, 40, 30)
    for expression in (law.numeric_expression(), _with_values(law)):
        assert expression.free_symbols <= {RADIUS, GM_SYMBOL}
        magnitude = sympy.lambdify((RADIUS, GM_SYMBOL), expression)(r, 2.5)
        np.testing.assert_allclose(magnitude, -law.radial_acceleration(r, 2.5), rtol=1e-12)


def _with_values(law):
    values = {sympy.Symbol(name, positive=True): v for name, v in law.parameters.items()}
    return law.expression().subs(values)


@pytest.mark.parametrize("spec", SPECS)
def test_gm_in_its_unit_gives_an_acceleration_in_another_unit_of_length(spec):
    """In units of 0.1 au all lengths are 10 times as large, GM by its power, accelerations by 1."""
    law = parse_law(spec)
    unit = law.gm_unit()
    if unit is None:
        assert not law.linear_in_gm
        return
    lengths = float(unit.removeprefix("au^").removesuffix("/yr^2")) if unit[0] == "a" else 0.0
    powers = {"au": 1, "au^2": 2}
    scaled = {
        name: value * 10.0 ** powers.get(law.units.get(name, ""), 0)
        for name, value in law.parameters.items()
    }
    other = type(law)(**scaled).radial_acceleration(7.0, 2.5 * 10**lengths)
    assert other == pytest.approx(10 * law.radial_acceleration(0.7, 2.5), rel=1e-12)


@pytest.mark.parametrize("name", ["newton", "power_law", "logarithmic", "hooke"])
def test_the_sun_pulls_four_pi_squared_at_one_au(name):
    assert parse_law(name).radial_acceleration(1.0, GM_SUN) == pytest.approx(-4 * np.pi**2)


@given(st.sampled_from(sorted(LAWS)), parameters)
def test_spec_reads_back_as_the_same_law(name, value):
    law = parse_law(name)
    changed = type(law)(**dict.fromkeys(law.parameters, value))
    assert parse_law(changed.spec) == changed
