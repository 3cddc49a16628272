"""The experiment at 13 million parameters, from end to end with 10⁵."""

import json
from itertools import count

import pytest
import thirteen_million

import worldmodel.training

SMALL = (
    "--orbits 60 --context 16 --width 64 --layers 2 --batch-tokens 256 --steps 20"
    " --read 8 --workers 1"
)


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    monkeypatch.setattr(thirteen_million, "KEPT", 10)
    monkeypatch.setattr(thirteen_million, "FAR", 100)


@pytest.mark.slow
def test_every_network_and_the_best_lookup_have_a_row(tmp_path):
    out = tmp_path / "results.json"
    thirteen_million.main([str(out), *SMALL.split(), "--seconds", "1000"])
    rows = json.loads(out.read_text())
    networks = [row for row in rows if "attention" in row]
    assert [(row["data"], row["target"], row["attention"]) for row in networks] == [
        (data, target, kind)
        for data in ("default", "published")
        for target in ("residual", "displacement")
        for kind in ("softmax", "lssar")
    ]
    assert [row["data"] for row in rows if "lookup" in row] == ["default", "published"]
    for row in rows:
        for states in ("held out", "kicked", "far"):
            assert 0 <= row[states]["right"] <= 1
            assert row[states]["states"] > 0
    assert {row["steps"] for row in networks} == {20}
    assert all(9e4 < row["parameters"] < 1.1e5 for row in networks)


def test_what_the_time_does_not_suffice_for_is_told(tmp_path):
    out = tmp_path / "results.json"
    thirteen_million.main([str(out), *SMALL.split(), "--seconds", "0.1"])
    (row,) = json.loads(out.read_text())
    assert row["attention"] == "softmax"
    assert "time was up" in row["not begun"]


def test_a_network_that_is_not_trained_in_time_is_read_as_it_stands(tmp_path, monkeypatch):
    out = tmp_path / "results.json"
    told = []

    calls = count()

    def clock():  # an hour for each step after the twelfth
        return 3600.0 * max(0, len(told) - 12) + 1e-6 * next(calls)

    lines = worldmodel.training.Log.advance

    def advance(log, step, loss):
        told.append(step)
        lines(log, step, loss)

    monkeypatch.setattr(worldmodel.training.Log, "advance", advance)
    monkeypatch.setattr(thirteen_million.time, "perf_counter", clock)
    thirteen_million.main([str(out), *SMALL.split(), "--data", "default", "--cells", "0"])
    (row,) = json.loads(out.read_text())
    assert row["steps"] == 10
    assert row["steps asked"] == 20
    assert row["far"]["states"] > 0
