"""Outputs in a dataset, results changed by hand, and what is no number, model or readable orbit."""

import json

import numpy as np
import pandas as pd
import pytest

import orbits
import symreg
import worldmodel
from orbits.files import read_yaml
from symreg.cli import main

TINY = {"steps": 1, "d_model": 8, "n_layers": 1, "n_heads": 1, "context_length": 2}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "d.zarr"
    orbits.generate(path, orbits=12, samples=16, simulator="kepler")
    return path


@pytest.mark.parametrize("place", ["model", "new/model", "position/model"])
def test_nothing_is_written_into_a_dataset(data, place):
    before = sorted(data.rglob("*"))
    with pytest.raises(ValueError, match="lies in the dataset"):
        worldmodel.train(data, out=data / place, **TINY)
    with pytest.raises(ValueError, match=r"lies in the dataset"):
        orbits.measure_forces(data).write(data / place / "f.parquet")
    assert sorted(data.rglob("*")) == before


def test_more_steps_after_a_kick_than_any_orbit_has_are_refused(data):
    with pytest.raises(ValueError, match="kick_steps is 1000000000"):
        worldmodel.probe(worldmodel.StraightLine(), data, states="kicked", kick_steps=1_000_000_000)


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64", "boolean"])
def test_a_target_that_is_no_quantity_is_refused_by_name(kind):
    x = np.linspace(0.1, 1, 30)
    days = pd.to_timedelta(x, unit="D")
    y = {"datetime64": pd.Timestamp("2020-01-01") + days, "timedelta64": days, "boolean": x < 0.5}
    with pytest.raises(ValueError, match=f"y holds values of type {kind}"):
        symreg.LawRegressor().fit(pd.DataFrame({"x": x}), y[kind])


def test_a_result_that_was_changed_by_hand_is_noticed(tmp_path):
    table = pd.DataFrame({"r": np.linspace(1, 2, 40)}).assign(F=lambda t: 3 / t.r**2)
    path = tmp_path / "law.json"
    symreg.recover(table, target="F", features="r", form="k/r**2").write(path)
    assert symreg.Recovery.read(path).coefficients["k"].value == pytest.approx(3)
    stored = json.loads(path.read_text())
    stored["coefficients"]["k"]["value"] = 4.0
    path.write_text(json.dumps(stored))
    with pytest.raises(ValueError, match="was changed after it was written"):
        symreg.Recovery.read(path)


@pytest.mark.parametrize("text", ["1:30", "1:30.5", "-2:00:00"])
def test_a_time_of_day_is_no_number(text, tmp_path):
    (tmp_path / "o.yaml").write_text(f"a: {text}\nb: 90\nc: 1.5e3\n")
    assert read_yaml(tmp_path / "o.yaml") == {"a": text, "b": 90, "c": 1500.0}


def test_what_is_no_model_is_refused_before_anything_is_simulated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("NOT_A_MODEL = 3\n")
    assert main("run --model mine.py:NOT_A_MODEL --out run --quiet".split()) == 2
    assert "int is no predictor" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_circles_of_one_size_are_refused_before_training(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    angle = 2 * np.pi * (0.05 * np.arange(40) + np.linspace(0, 1, 16)[:, None])
    circles = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    orbits.from_arrays(circles, 0.05, law="newton", gm=4 * np.pi**2, out="c.zarr")
    assert main("run --data c.zarr --out run --quiet".split()) == 2
    told = capsys.readouterr().err
    assert "no state can be read" in told
    assert "several sizes" in told
    assert not (tmp_path / "run").exists()
