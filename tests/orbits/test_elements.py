"""Kepler elements and exact propagation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orbits.elements import (
    Elements,
    elements_from_state,
    period,
    propagate_kepler,
    solve_kepler,
    state_from_elements,
)
from orbits.units import GM_SUN

angle = st.floats(0.0, 2 * np.pi, exclude_max=True)


@given(st.floats(-1e3, 1e3), st.floats(0.0, 0.999999))
def test_keplers_equation_is_solved_to_rounding(mean, e):
    anomaly = solve_kepler(np.array([mean]), np.array([e]))[0]
    # One rounding of the mean anomaly, up to 1e3 (2e-13), is all that can be asked for.
    assert abs(anomaly - e * np.sin(anomaly) - mean) < 1e-12


@settings(deadline=None)
@given(
    a=st.floats(0.05, 50.0),
    e=st.floats(1e-3, 0.95),
    inclination=st.floats(0.01, 3.13),
    node=angle,
    argument=angle,
    mean=angle,
    gm=st.floats(0.1, 200.0),
)
def test_elements_to_state_and_back(a, e, inclination, node, argument, mean, gm):
    given_ones = Elements(*(np.array([v]) for v in (a, e, inclination, node, argument, mean)))
    back = elements_from_state(*state_from_elements(given_ones, np.array([gm])), np.array([gm]))
    # Angles are as well defined as the vectors they come from: rounding (2e-16) over e >= 1e-3,
    # over sin(inclination) >= 0.01, and, for the energy near perihelion, over 1 - e >= 0.05.
    assert back.semi_major_axis[0] == pytest.approx(a, rel=1e-13)
    assert back.eccentricity[0] == pytest.approx(e, abs=1e-14)
    assert back.inclination[0] == pytest.approx(inclination, abs=1e-12)
    for found, wanted in (
        (back.longitude_of_node, node),
        (back.argument_of_perihelion, argument),
        (back.mean_anomaly, mean),
    ):
        assert abs(np.sin(0.5 * (found[0] - wanted))) < 1e-10


def test_propagation_returns_after_a_period_and_obeys_newton():
    rng = np.random.default_rng(1)
    count = 200
    elements = Elements(
        rng.uniform(0.3, 30, count),
        rng.uniform(0, 0.95, count),
        *(rng.uniform(0, high, count) for high in (np.pi, 6.28, 6.28, 6.28)),
    )
    gm = rng.uniform(10, 80, count)
    position, velocity = state_from_elements(elements, gm)
    for i in range(count):
        one = slice(i, i + 1)
        turn = period(elements.semi_major_axis[one], gm[one])[0]
        # Mean motion times a period of rounding 2e-16, magnified by dE/dM = 1/(1 - e) <= 20,
        # times speed over separation near perihelion.
        x, v = propagate_kepler(position[one], velocity[one], gm[one], np.array([0.0, turn]))
        np.testing.assert_array_equal(x[0, 0], position[i])
        assert np.linalg.norm(x[0, 1] - x[0, 0]) < 1e-12 * elements.semi_major_axis[i] * 20
    h = 1e-4
    times = np.array([0.0, h, 2 * h])
    x, v = propagate_kepler(position, velocity, gm, times)
    middle = x[:, 1]
    r = np.linalg.norm(middle, axis=-1, keepdims=True)
    pull = -gm[:, None] * middle / r**3
    difference = (v[:, 2] - v[:, 0]) / (2 * h)
    # Truncation h^2/6 d3v/dt3, with d/dt ~ sqrt(gm/r^3) <= 6e2/yr at r = 0.015 au.
    rate = np.sqrt(gm[:, None] / r**3)
    assert np.all(
        np.abs(difference - pull)
        < (rate * h) ** 2 * np.linalg.norm(pull, axis=-1, keepdims=True) + 1e-9
    )


@pytest.mark.parametrize(
    ("position", "velocity", "message"),
    [
        ([1.0, 0.0], [0.0, 20.0], "unbound"),
        ([1.0, 0.0], [1.0, 0.0], "fall into each other"),
        ([0.0, 0.0], [0.0, 1.0], "separation is 0"),
    ],
)
def test_states_without_an_ellipse_are_refused(position, velocity, message):
    with pytest.raises(ValueError, match=message):
        elements_from_state(np.array([position]), np.array([velocity]), np.array([GM_SUN]))
