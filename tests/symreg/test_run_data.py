"""A run on a dataset of one's own comes to its end; what needs the law is left out, and said."""

import numpy as np
import pandas as pd
import pytest

import orbits
import symreg

TINY = {
    "d_model": 16, "n_layers": 1, "n_heads": 2, "steps": 60, "search_seeds": 1, "workers": 1,
    "engine": "rational",
    "null": False, "context_length": 2,
}  # fmt: skip


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """Forty orbits as somebody else would have them."""
    made = orbits.generate(orbits=40, samples=48, dtype="float64", seed=1)
    rows = [
        pd.DataFrame({"time": made["time"], "x": p[:, 0], "y": p[:, 1], "run": k})
        for k, p in enumerate(made["position"].values)
    ]
    path = tmp_path_factory.mktemp("own") / "mine.zarr"
    orbits.from_table(pd.concat(rows), path, orbit="run")
    return path


def test_imported_orbits_are_trained_on_probed_and_reported(imported, tmp_path):
    asked = {"controls": ("untrained",), "readouts": ("jacobian",)}
    found = symreg.run(data=str(imported), out=str(tmp_path / "run"), **TINY, **asked)
    assert found.law == "unknown"
    assert found.recovered is None
    assert set(found.sources) == {"orbit"}
    assert set(found.controls) == {"untrained"}
    assert found.sources["orbit"].r2 is None
    assert "not known" in found.words
    assert "kicked states" in found.words
    page = found.report.read_text()
    assert "mine.zarr" in page
    assert "not known" in page
    assert (found.folder / "figures" / "law.png").exists()
    # the network is asked on orbits that it did not train on
    table = orbits.ForceSamples.read(found.folder / "forces" / "orbit.parquet").table
    assert table["orbit"].min() >= 28
    assert "--data" in page
    assert "--law unknown" not in page
    assert np.isfinite(table["a_x"]).all()


def test_mistakes_are_one_line(imported, tmp_path, refused):
    many = tmp_path / "many.zarr"
    orbits.generate(many, orbits=8, samples=32, system="nbody", semi_major_axis=(1.0, 4.0))
    for words, message in (
        (["--data", str(imported), "--law", "hooke"], "nothing is simulated"),
        (["--data", str(imported), "--sources", "kicked"], "which needs a law"),
        (["--data", str(imported), "--controls", "injected"], "which needs a law"),
        (["--data", str(many)], "is a system nbody"),
        (["--data", str(tmp_path / "none.zarr")], "does not exist"),
    ):
        assert message in refused("symreg", "run", "--out", tmp_path / "run", *words)
    assert not (tmp_path / "run").exists()
