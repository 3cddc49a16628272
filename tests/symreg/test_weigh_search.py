"""The pair law is searched, not assumed: laws that no family holds, and what is no law at all."""

import numpy as np
import pandas as pd
import pytest
import sympy

import orbits
import symreg
from symreg.weighing.search import formula_of

R = sympy.Symbol("r", positive=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "constants", "noise"),
    [
        ("GM*(1/r**2+0.02*r)", (0.02,), 1e-6),
        ("GM*exp(-r/3)/r", (-1 / 3,), 1e-6),
        ("GM*(1+0.2*log(r))/r**2", (0.2,), 0.0),
    ],
)
def test_a_law_of_no_family_is_found_as_a_formula(law, constants, noise, world, noisy):
    data = world(law, planets=3, samples=3000)
    size = float(np.sqrt(np.mean(data["position"].values ** 2)))
    found = symreg.weigh(noisy(data, noise * size))
    assert found.central
    values = [estimate.value for estimate in found.parameters.values()]
    assert values == pytest.approx(constants, rel=2e-3)
    for mass, truth in zip(found.masses, data["mass"].values[0], strict=True):
        assert mass.value == pytest.approx(truth, rel=1e-3)
    read, r = orbits.parse_law(found.law), np.array([0.5, 1.0, 2.0])
    true = orbits.parse_law(law).radial_acceleration(r, 1.0)
    np.testing.assert_allclose(read.radial_acceleration(r, 1.0), true, rtol=1e-3)
    assert any(a.formula for a in found.alternatives)


def test_a_body_that_is_not_seen_is_no_formula(world):
    data = world(planets=3, samples=2000)
    position = data["position"].values[0]
    seen = (0, 1, 2)  # the third planet pulls, and is not in the table
    frame = pd.DataFrame(
        {"time": data["time"].values}
        | {f"{n}{k}": position[:, k, a] for k in seen for a, n in enumerate("xyz")}
    )
    found = symreg.weigh(orbits.from_table(frame, position=tuple(f"x{k},y{k},z{k}" for k in seen)))
    assert found.law == "none"
    assert not found.central
    assert found.drag.value is None
    assert "drag" not in found.explanation


def test_newtonian_bodies_have_no_drag():
    data = orbits.generate(
        law="newton", system="nbody", orbits=1, planets=2, samples=3000, dt=0.01, seed=4,
        dtype="float64", companion_mass=(3e-4, 1e-3), semi_major_axis=(5, 10), hill_spacing=5,
    )  # fmt: skip
    found = symreg.weigh(data)
    assert found.drag.low < 0 < found.drag.high
    assert found.law == "newton"


def test_nothing_is_searched_where_a_power_or_a_drag_explains_all(world, two_stars):
    for data in (world(samples=1500), two_stars(drag=0.03)):
        found = symreg.weigh(data)
        assert not any(alternative.formula for alternative in found.alternatives)


@pytest.mark.parametrize(
    ("expression", "form"),
    [
        (39.5 / R**2 + 0.79 * R, "k1*r + r**(-2)"),
        (39.5 * (1 + 0.02 * R**3) / R**2, "k1*r + r**(-2)"),
        (7.9 * sympy.log(148.413 * R) / R**2, "k1*log(r)/r**2 + r**(-2)"),
        (12.0 * sympy.exp(-0.5 * R) / R, "exp(k1*r)/r"),
    ],
)
def test_g_takes_the_place_of_the_constant_that_positions_do_not_tell(expression, form):
    shape = formula_of(expression, (0.3, 3.0))
    assert shape is not None
    assert set(shape.text.split()) == set(form.split())
    r = np.array([0.4, 1.0, 2.0])
    given = sympy.lambdify(R, expression)(r)
    ratio = shape.value(r, shape.begin) / given
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)
