"""Far states, told by family, by distance and outside the distances of training."""

import numpy as np
import pytest

import orbits
import worldmodel
from symreg.experiments.far_field import FarField
from symreg.experiments.verdict_words import OUTSIDE, far_table
from worldmodel.probes.states import FAR

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
    assert set(found["families"]) == set(FAR)
    for family in found["families"].values():
        assert family["right"] == family["answered"] == 1
        assert family["r2"] > 0.99  # a rule of second order, at 0.3 au
    assert found["closed_loop_right"] == 1
    assert found["outside"]["closer"]["error"] < 0.05  # where a step is coarse
    assert found["outside"]["farther"]["error"] < 0.01


def test_a_force_that_ends_where_training_did_is_wrong_outside_alone(data):
    radius = np.linalg.norm(data["position"].to_numpy(), axis=-1)
    found = metrics(Law(radius.min(), radius.max()), data)
    assert found["error"] < 0.01
    # all of the acceleration is missing there
    assert found["outside"]["closer"]["error"] == pytest.approx(1, abs=0.05)
    assert found["outside"]["farther"]["error"] == pytest.approx(1, abs=0.01)


def test_a_model_that_does_not_answer_somewhere_is_not_wrong_there(data):
    class Silent(Law):
        def predict(self, positions):
            said = super().predict(positions)
            r = np.linalg.norm(positions, axis=-1, keepdims=True)
            return np.where((r > 0.4) & (r < 2.0), said, np.nan)

    reading = worldmodel.probe(Silent(), data, readout="far")
    found = reading.metrics
    assert found["right"] == 1
    assert 0.5 < found["answered"] < 0.95
    assert found["outside"]["farther"] == {
        "error": None, "right": None, "answered": 0.0, "states": 120
    }  # fmt: skip
    assert all(error is None or error < 0.05 for error in reading.details["states"]["error"])


def test_a_force_that_the_models_own_predictions_switch_off_is_seen(data):
    class Forgetful(Law):
        def __init__(self):
            super().__init__()
            self.memory = set()

        def predict(self, positions):
            said = super().predict(positions)
            own = np.array([[at.tobytes() in self.memory for at in orbit] for orbit in positions])
            self.memory |= {at.tobytes() for orbit in said for at in orbit}
            straight = np.full(positions.shape, np.nan)
            straight[:, 1:] = 2 * positions[:, 1:] - positions[:, :-1]
            return np.where(own[..., None], straight, said)

    found = metrics(Forgetful(), data)
    assert found["right"] == 1
    assert found["closed_loop_right"] < 0.1


def test_cells_and_places_say_where_a_model_is_wrong(data):
    reading = worldmodel.probe(Law(farthest=1.0), data, readout="far")
    far = FarField.of(reading.to_dict())
    assert sum(cell.states for cell in far.cells) == far.all.states
    for cell in far.cells:
        if cell.stop < 1.0:
            assert cell.right == 1
        if cell.start > 1.0:
            assert cell.right == 0
    assert reading.details["places"][0]["right"] == 1
    rows = far_table(far, {})
    for name in (*FAR, *OUTSIDE.values()):
        (row,) = (row for row in rows if row[0] == name)
        assert row[3].endswith("%")
