"""Runs that the tests of the probes look at; nobody writes to them."""

import pytest

from orbits.files import read_json
from orbits.force_samples import ForceSamples
from worldmodel import probe, train


@pytest.fixture(scope="session")
def trained(newton_orbits, tmp_path_factory):
    """A model that learned Newton's law in 500 steps: the residual target converges fastest."""
    run = tmp_path_factory.mktemp("runs") / "newton"
    train(newton_orbits, target="residual", d_model=32, steps=500, out=run)
    return str(run)


@pytest.fixture(scope="session")
def trained_on_coordinates(newton_orbits, tmp_path_factory):
    """The same of a network that is shown no distance: only training can bring it."""
    run = tmp_path_factory.mktemp("runs") / "coordinates"
    plain = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"}
    plain |= {"context_length": 8, "muon_lr": 0.02}
    train(newton_orbits, target="residual", d_model=32, steps=500, out=run, **plain)
    return str(run)


@pytest.fixture(scope="session")
def some_run(tmp_path_factory):
    """Makes a run of a few steps: enough for a probe to have something to look at."""

    def make(data, steps=2, **options):
        run = tmp_path_factory.mktemp("runs") / "some"
        defaults = {"target": "displacement", "d_model": 16, "n_layers": 1, "n_heads": 2}
        defaults |= {"batch_tokens": 256}
        train(data, out=run, steps=steps, **(defaults | options))
        return str(run)

    return make


@pytest.fixture
def probed(tmp_path):
    """Runs a read-out that writes force samples: its metrics, and the table and attributes kept."""

    def read(run, data, **options):
        forces = probe(run, data, **options)
        forces.write(tmp_path / "forces.parquet")
        kept = ForceSamples.read(tmp_path / "forces.parquet")
        return forces.metrics, kept.table, kept.attributes

    return read


@pytest.fixture
def read_json_of(tmp_path):
    """Runs a read-out that writes JSON and gives what it wrote."""

    def read(run, data, readout, **options):
        out = tmp_path / "reading.json"
        reading = probe(run, data, readout=readout, **options)
        reading.write(out)
        written = read_json(out)
        assert set(written["metrics"]) == set(reading.metrics)
        return written

    return read
