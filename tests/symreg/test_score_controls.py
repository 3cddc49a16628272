"""The score on worlds of a known kind: the law, a fitted ellipse, a copier, an untrained network.

Five seeds at contexts 8, 32 and 64: `tests/benchmarks/score_controls.py`.
"""

import pytest

from orbits.cli import main as orbits
from orbits.files import of_json, read_json
from symreg.cli import main as symreg
from symreg.experiments.verdict import (
    KEPLERIAN,
    LAW,
    NEITHER,
    PARROT,
    RunEvidence,
    world_model_kind,
)
from symreg.recovery.result import Recovery
from symreg.recovery.thresholds import Thresholds
from worldmodel.cli import main as worldmodel
from worldmodel.examiner.summary import Examination


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A model of context 32 and unseen orbits; the controls take the place of what it predicts."""
    folder = tmp_path_factory.mktemp("world")
    for name, seed in (("train", "0"), ("held_out", "1")):
        options = ["--orbits", "40", "--samples", "80", "--seed", seed, "--simulator", "kepler"]
        assert orbits(["generate", str(folder / f"{name}.zarr"), *options]) == 0
    data, run = str(folder / "train.zarr"), str(folder / "model")
    options = ["--context-length", "32", "--steps", "1", "--d-model", "16", "--n-heads", "2"]
    assert worldmodel(["train", data, run, *options]) == 0
    return folder


def evidence(world, control):
    """What `symreg run` gives to the score, with a control in the model's place."""

    def probe(out, *options):
        path = world / f"{control}-{out}"
        data = str(world / "held_out.zarr")
        common = ["--control", control]
        assert worldmodel(["probe", str(world / "model"), data, str(path), *common, *options]) == 0
        return path

    found = {}
    for states in ("orbit", "kicked"):
        forces, law = probe(f"{states}.parquet", "--states", states), world / f"{control}.json"
        options = ["--seeds", "1", "--no-null"]
        assert symreg(["recover", str(forces), str(law), "--engine", "rational", *options]) == 0
        found[states] = Recovery.read(law)
    far = read_json(probe("far.json", "--readout", "far", "--exam-seed", "1"))
    return found["orbit"], found["kicked"], of_json(Examination, far["examination"], "far")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("control", "kind"),
    [
        ("injected", LAW),
        ("keplerian", KEPLERIAN),
        ("parrot", PARROT),
        ("untrained", NEITHER),
    ],
)
def test_each_control_gets_its_word(world, control, kind):
    orbit, kicked, far = evidence(world, control)
    read = RunEvidence(orbit.metrics["r2"], kicked.metrics["kick_r2"], orbit.metrics, far=far)
    found = world_model_kind(kicked, read, Thresholds())
    assert found.kind == kind, found
    # the law alone would not do: on undisturbed orbits an ellipse yields Newton's too
    assert orbit.recovered == (control in ("injected", "keplerian")) or control == "parrot"
