"""Jacobians of what is known: inertia, Hooke's law, Newton's law, an ellipse, an untrained net."""

import numpy as np
import pytest

from orbits.forces import parse_law
from orbits.units import GM_SUN
from worldmodel.controls.law import law_jacobians
from worldmodel.own_predictor import OfPositions
from worldmodel.probes.readouts.jacobian import gradient, locality
from worldmodel.probes.states import read_orbits, undisturbed
from worldmodel.source import DatasetSource
from worldmodel.world_model import WorldModel

DT = 0.008


def test_a_spring_has_the_jacobians_of_its_cosine():
    """Under Hooke's law x(t+1) + x(t−1) = 2 cos(ω dt) x(t), exactly."""
    law, gm = parse_law("hooke"), np.array([GM_SUN])
    found = law_jacobians(np.array([[1.0, 0.3]]), np.array([[2.0, 5.0]]), gm, law, DT)
    angle = DT * np.sqrt(-law.radial_acceleration(1.0, GM_SUN))
    # Differences of 1e-4 leave rounding of 1e-12; the Runge-Kutta flow is exact to 1e-13 here.
    np.testing.assert_allclose(found[0, 0], -np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found[0, 1], 2 * np.cos(angle) * np.eye(2), atol=1e-9)


def test_inertia_is_local_and_standing_still_is_not():
    stay = np.zeros((1, 6, 2, 2))
    stay[:, -1] = np.eye(2)
    inertia = stay.copy()
    inertia[:, -1] *= 2
    inertia[:, -2] = -np.eye(2)
    spread = np.broadcast_to(np.eye(2) / 6, (1, 6, 2, 2))
    np.testing.assert_allclose(locality(np.concatenate((inertia, stay, spread))), [1, 0, 0])


def test_a_misjudged_velocity_does_not_show_as_a_force():
    """x̂ = x + 0.9 (x − x₋): the last step is taken for too short, and no force acts."""
    jacobians = np.stack((-0.9 * np.eye(2), 1.9 * np.eye(2)))[None]
    direction = np.array([[0.6, 0.8]])
    np.testing.assert_allclose(gradient(jacobians, direction, np.ones((1, 1)), DT), 0, atol=1e-9)


@pytest.mark.parametrize("attention", ["softmax", "lssar"])
def test_the_model_s_jacobians_are_its_derivatives(some_run, few_orbits, attention):
    model = WorldModel.load(some_run(few_orbits, attention=attention, context_length=4))
    arcs = undisturbed(read_orbits(DatasetSource(few_orbits), np.arange(3)), 4)
    found, _ = OfPositions(model).jacobians(arcs, np.array([0, 2]), np.array([5, 9]))
    assert found.shape == (2, 4, 2, 2)
    contexts = np.stack((arcs.seen[0, 2:6], arcs.seen[2, 6:10])).astype(np.float64)
    model.network.double()
    step = 1e-5
    for time in range(4):
        for axis in range(2):
            ends = []
            for sign in (1, -1):
                moved = contexts.copy()
                moved[:, time, 0, axis] += sign * step
                ends.append(model.predict(moved)[:, -1, 0])
            difference = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(found[:, time, :, axis], difference, atol=1e-7)


def test_the_law_in_place_of_the_model_is_local_and_has_its_gradients(
    trained, newton_orbits, read_json_of
):
    metrics = read_json_of(trained, newton_orbits, "jacobian", control="injected")["metrics"]
    assert metrics["locality"] > 0.999
    assert metrics["older_sum"] == 0
    # Of order (ω dt)²: the median orbit turns by 0.05 rad in a step.
    assert metrics["radial_error"] < 0.01
    assert metrics["tangential_error"] < 0.01


def test_an_ellipse_is_not_local(some_run, newton_orbits, read_json_of):
    run = some_run(newton_orbits, context_length=16)
    options = {"control": "keplerian", "orbits": 10}
    found = read_json_of(run, newton_orbits, "jacobian", **options)
    assert found["metrics"]["locality"] < 0.1
    assert found["metrics"]["older_sum"] > 1
    assert len(found["norm_by_lag"]) == 16
    low, middle, high = found["quartiles"]["older_sum"]
    assert low <= middle <= high
    assert middle == found["metrics"]["older_sum"]


def test_a_trained_model_has_the_law_s_gradients_and_an_untrained_one_has_not(
    trained, newton_orbits, some_run, read_json_of
):
    metrics = read_json_of(trained, newton_orbits, "jacobian", states="kicked")["metrics"]
    assert metrics["locality"] > 0.99
    assert metrics["radial_error"] < 0.3
    for run in (trained, some_run(newton_orbits)):
        nothing = read_json_of(run, newton_orbits, "jacobian", control="untrained")["metrics"]
        assert nothing["radial_error"] > 0.8
    assert nothing["locality"] < 0.5, "the displacement has no inertia in its architecture"
