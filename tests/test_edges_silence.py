"""Long work is never silent for long: lines by the clock, where no terminal shows a bar."""

import itertools
import time

import pytest

import worldmodel
from orbits import generate
from orbits.config import GenerateConfig
from orbits.generation import generate as generation
from orbits.generation.recipe import resolve
from symreg.experiments import study
from symreg.experiments.cache import Cache
from symreg.formulas.watch import EVERY
from worldmodel import training


@pytest.fixture
def minutes(monkeypatch):
    """Let a clock that a module reads be a minute later whenever it is read."""

    def let(module):
        clock = itertools.count(0.0, 61.0)
        monkeypatch.setattr(module, "time", Clock(clock.__next__))

    return let


class Clock:
    """The module `time`, with another monotonic clock."""

    def __init__(self, monotonic):
        self.monotonic = monotonic

    def __getattr__(self, name):
        return getattr(time, name)


def test_every_shard_is_told(tmp_path, minutes):
    minutes(generation)
    said = []
    config = GenerateConfig(orbits=64, samples=4, shard_orbits=16, workers=1, simulator="kepler")
    generation.write(tmp_path / "x.zarr", resolve(config), said.append)
    assert [line.split(",")[0] for line in said[1:]] == [f"{k} of 4 shards" for k in (1, 2, 3, 4)]


def test_a_slow_step_of_training_is_told(minutes):
    minutes(training)
    said = []
    small = {"steps": 30, "d_model": 8, "n_layers": 1, "n_heads": 1, "batch_tokens": 8}
    worldmodel.train(generate(orbits=8, samples=12), progress=said.append, **small)
    assert len([line for line in said if line.startswith("step")]) == 30


def test_a_slow_step_of_a_run_is_told(tmp_path):
    said = []
    with Cache(tmp_path / "run", 1, said.append, silence=0.05) as keep:
        keep("a", "think", slowly).result()
        between = len(said)
        time.sleep(0.2)  # nothing is at work
    assert len([line for line in said if "still at work: think" in line]) >= 3
    assert len(said) == between


def slowly(out):
    time.sleep(0.5)
    out.write_text("thought")
    return "done"


def test_searches_and_studies_tell_within_a_minute():
    assert max(EVERY, study.EVERY) <= 60
