"""Objects in, objects out: the same numbers from memory as from files."""

import dataclasses
import json

import pytest
import torch

import worldmodel
from orbits.dataset import open_dataset
from orbits.force_samples import ForceSamples
from worldmodel.cli import main
from worldmodel.source import DatasetSource

SMALL = {"d_model": 16, "n_layers": 1, "steps": 6, "batch_tokens": 64, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def run(few_orbits, tmp_path_factory):
    """A run of a few steps on disk."""
    folder = tmp_path_factory.mktemp("api") / "run"
    trained = worldmodel.train(few_orbits, **SMALL, out=folder)
    assert trained.fingerprint == worldmodel.WorldModel.load(folder).fingerprint
    assert trained.run == str(folder)
    return folder


@pytest.fixture(scope="module")
def model(few_orbits):
    """The same, trained in memory."""
    return worldmodel.train(open_dataset(few_orbits).load(), **SMALL)


def same_weights(one, other):
    states = one.network.state_dict(), other.network.state_dict()
    return all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def test_a_model_trained_in_memory_is_the_one_trained_on_disk(run, model, few_orbits):
    loaded = worldmodel.WorldModel.load(run)
    assert same_weights(loaded, model)
    assert loaded.fingerprint == model.fingerprint
    assert loaded.record.identity == model.record.identity
    assert loaded.step == model.step == 6
    assert (
        DatasetSource(open_dataset(few_orbits)).facts.fingerprint
        == DatasetSource(few_orbits).facts.fingerprint
    )


def test_what_is_saved_is_loaded(model, run, tmp_path):
    model.save(tmp_path / "saved")
    assert worldmodel.WorldModel.load(tmp_path / "saved").fingerprint == model.fingerprint
    fresh = model.untrained(7)
    fresh.save(tmp_path / "fresh")
    loaded = worldmodel.WorldModel.load(tmp_path / "fresh")
    assert same_weights(loaded, fresh)
    assert loaded.step == 0
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds no run \(there is fresh\)"):
        model.save(tmp_path)


def test_force_samples_are_those_of_the_command(run, model, few_orbits, tmp_path):
    out = tmp_path / "forces.parquet"
    assert main(["probe", str(run), few_orbits, str(out), "--states", "kicked"]) == 0
    written = ForceSamples.read(out)
    forces = worldmodel.probe(model, open_dataset(few_orbits), states="kicked")
    assert isinstance(forces, ForceSamples)
    assert forces.table.equals(written.table)
    for name in ("readout", "states", "model", "law", "dt", "metrics"):
        assert written.attributes[name] == json.loads(json.dumps(forces.attributes[name])), name


def test_a_reading_is_what_the_command_writes(run, model, few_orbits, tmp_path):
    out, text = tmp_path / "linear.json", "linear(states=60)"
    flags = ["--readout", text]
    assert main(["probe", str(run), few_orbits, str(out), "--orbits", "10", *flags]) == 0
    reading = worldmodel.probe(model, few_orbits, readout=text, orbits=10)
    assert isinstance(reading, worldmodel.Reading)
    written = json.loads(out.read_text())
    assert written["metrics"] == reading.metrics
    assert set(written) == set(reading.to_dict())
    assert "R²" in reading._repr_html_()
    with pytest.raises(ValueError, match="no force samples"):
        _ = reading.forces
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.metrics = {}


def test_the_threads_of_a_call_end_with_it(model, few_orbits):
    before = torch.get_num_threads()
    worldmodel.probe(model, few_orbits, readout="evaluate", threads=before + 1)
    worldmodel.train(few_orbits, **SMALL, threads=before + 1)
    assert torch.get_num_threads() == before
