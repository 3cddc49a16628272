"""The read-out of far states: where a model is wrong, and where it says nothing."""

import numpy as np
import pytest

import orbits
import worldmodel
from orbits.files import of_json
from worldmodel.examiner.states import DENSITY, FAMILIES
from worldmodel.examiner.summary import BEYOND, Examination

DT = 0.008
FEW = "far(count=600)"


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


def read(model, data):
    reading = worldmodel.probe(model, data, readout=FEW, exam_seed=1)
    return reading, of_json(Examination, reading.details["examination"], "far")


def test_the_law_is_right_everywhere(data):
    _, far = read(Law(), data)
    assert set(FAMILIES) - {DENSITY} <= set(far.families)
    for share in (far.all, *far.families.values(), *far.pasts.values(), *far.outside.values()):
        assert share.right == share.answered == 1
    assert far.rolled.right == 1
    assert far.horizon == 8  # twice its context, and four


def test_a_force_that_ends_where_training_did_is_wrong_outside_alone(data):
    radius = np.linalg.norm(data["position"].to_numpy(), axis=-1)
    _, far = read(Law(radius.min(), radius.max()), data)
    assert far.all.error < 0.01
    # all of the acceleration is missing there
    for share in far.outside.values():
        assert share.error == pytest.approx(1, abs=0.01)


def test_a_model_that_does_not_answer_somewhere_is_not_wrong_there(data):
    class Silent(Law):
        def predict(self, positions):
            said = super().predict(positions)
            r = np.linalg.norm(positions, axis=-1, keepdims=True)
            return np.where((r > 0.4) & (r < 2.0), said, np.nan)

    reading, far = read(Silent(), data)
    assert far.all.right == 1
    assert 0.5 < far.answered < 0.95
    assert far.all.answered == 1
    assert 0.4 < far.closest < far.farthest < 2.0
    assert not far.outside["farther"].known
    assert all(error < 0.1 for error in reading.details["map"]["error"])


def test_cells_say_where_a_model_is_wrong(data):
    _, far = read(Law(farthest=1.0), data)
    assert sum(cell.share.states for cell in far.cells) == far.all.states == far.states
    for cell in far.cells:
        if cell.stop < 1.0:
            assert cell.share.right == 1
        if cell.start > 1.0:
            assert cell.share.right == 0
    rows = far.table()
    for name in ("at rest", *BEYOND.values()):
        (row,) = (row for row in rows if row[0] == name)
        assert row[3].endswith("%")


def test_a_control_of_a_run_is_asked_the_same_first_states(data):
    whole, _ = read(Law(), data)
    part = worldmodel.probe(Law(), data, readout="far(count=600, beside=false)", exam_seed=1)
    asked, own = part.details["answers"], whole.details["answers"]
    assert set(asked["family"]) == {DENSITY}
    assert asked["position"] == own["position"][:600]
