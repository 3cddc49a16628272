"""Far states, told by family, by distance and outside the distances of training."""

import numpy as np
import pytest

import orbits
import worldmodel
from orbits.printing import table
from symreg.experiments.verdict_words import FAMILIES, OUTSIDE, about_far_states

DT = 0.008


class Law:
    """Störmer's rule under Newton's force, which ends at some distances."""

    context_length = 2

    def __init__(self, nearest=0.0, farthest=np.inf):
        self.ends = nearest, farthest

    def predict(self, positions):
        said = np.full(positions.shape, np.nan)
        x, before = positions[:, 1:], positions[:, :-1]
        r = np.linalg.norm(x, axis=-1, keepdims=True)
        pull = np.where((r >= self.ends[0]) & (r <= self.ends[1]), orbits.GM_SUN / r**3, 0.0)
        said[:, 1:] = 2 * x - before - DT**2 * pull * x
        return said


@pytest.fixture(scope="module")
def data():
    return orbits.generate(orbits=40, dt=DT, simulator="kepler", seed=5)


def metrics(model, data):
    return worldmodel.probe(model, data, readout="far").metrics


def test_the_law_is_right_everywhere(data):
    found = metrics(Law(), data)
    for stem in (name.replace(" ", "_") for name in FAMILIES):
        assert found[f"{stem}_right"] == 1
        assert found[f"{stem}_r2"] > 0.99  # a rule of second order, at 0.3 au
    assert found["closer_error"] < 0.05  # where a step is coarse
    assert found["farther_error"] < 0.01


def test_a_force_that_ends_where_training_did_is_wrong_outside_alone(data):
    radius = np.linalg.norm(data["position"].to_numpy(), axis=-1)
    found = metrics(Law(radius.min(), radius.max()), data)
    assert found["error"] < 0.01
    # all of the acceleration is missing there
    assert found["closer_error"] == pytest.approx(1, abs=0.05)
    assert found["farther_error"] == pytest.approx(1, abs=0.01)


def test_the_tables_name_every_family_with_its_numbers(data):
    found = metrics(Law(farthest=1.0), data)
    lines = table(about_far_states(found).errors).splitlines()
    for name in (*FAMILIES, *OUTSIDE):
        stem = OUTSIDE.get(name, name.replace(" ", "_"))
        (line,) = (line for line in lines if line.startswith(f"{name} "))
        assert f"{found[f'{stem}_error']:.1%}" in line
        if name in FAMILIES:
            assert f"{found[f'{stem}_right']:.0%}" in line
            assert f"{found[f'{stem}_r2']:.3f}" in line
