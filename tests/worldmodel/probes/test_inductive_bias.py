"""Inductive bias: of the true state itself, of a model that sees no more, and of noise."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import worldmodel
from orbits.forces import parse_law
from worldmodel.probes import readouts
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.states import read_orbits, undisturbed
from worldmodel.source import DatasetSource

SMALL = "inductive_bias(datasets=4, examples=60, tests=80, steps=40)"
FOLDER = Path(__file__).parents[3] / "notebooks" / "examples" / "referee" / "readouts"


@pytest.fixture(autouse=True)
def bias(monkeypatch):
    """The referee's read-out, as if its folder were ours."""
    monkeypatch.setattr(readouts, "__path__", [*readouts.__path__, str(FOLDER)])
    return import_module("worldmodel.probes.readouts.inductive_bias")


def test_answers_by_the_state_respect_and_distinguish_it(bias):
    random = np.random.default_rng(0)
    oracle = random.normal(size=(5, 4)) @ random.normal(size=(4, 60))
    r_ib, d_ib, curve = bias.biases(np.stack((oracle, oracle), axis=1), oracle)
    assert (r_ib, d_ib) == (1, pytest.approx(1))
    np.testing.assert_allclose(curve["model"], curve["oracle"])


def test_random_answers_do_neither(bias):
    random = np.random.default_rng(1)
    oracle = random.normal(size=(20, 4)) @ random.normal(size=(4, 200))
    r_ib, d_ib, _ = bias.biases(random.normal(size=(20, 2, 200)), oracle)
    # Two answers to one state are as far apart as two answers to any: 200 pairs of 20 sets.
    assert r_ib == pytest.approx(0, abs=0.1)
    assert abs(d_ib) < 0.1
    assert bias.biases(np.ones((20, 2, 200)), oracle)[:2] == (1, 0), "silence distinguishes nothing"


def test_another_past_ends_in_the_same_state(few_orbits, bias):
    source, dt, law = DatasetSource(few_orbits), 0.008, parse_law("newton")
    arcs = undisturbed(read_orbits(source, np.arange(10)), 8)
    orbit, time = np.arange(10), np.full(10, 12)
    random = np.random.default_rng(0)
    shown = arcs.contexts(orbit, time, 8)
    other = bias.other_pasts(arcs, orbit, time, 8, law, dt, random, ProbeConfig())
    np.testing.assert_allclose(other[:, -2:], shown[:, -2:], atol=1e-12)
    assert (np.abs(other[:, :-2] - shown[:, :-2]).max(axis=(1, 2, 3)) > 1e-3).all()
    # The other past obeys the law as well: second differences differ from it by a'' dt²/12.
    past = other[:, :-1, 0]
    bend = np.diff(past, n=2, axis=1) / dt**2
    true = law.acceleration(past[:, 1:-1], arcs.gm[:, None])
    np.testing.assert_allclose(bend, true, atol=0.02 * np.abs(true).max())


def test_the_true_state_has_both(trained, newton_orbits, read_json_of):
    metrics = read_json_of(trained, newton_orbits, SMALL, control="injected")["metrics"]
    assert metrics["r_ib"] == 1
    assert metrics["d_ib"] == pytest.approx(1, abs=1e-6)


def test_too_few_orbits_are_refused(trained, newton_orbits):
    with pytest.raises(ValueError, match="give 4 or more"):
        worldmodel.probe(trained, newton_orbits, readout="inductive_bias", orbits=3)


def test_trained_and_untrained_stand_side_by_side(some_run, newton_orbits, read_json_of):
    run = some_run(newton_orbits, context_length=6)
    found = read_json_of(run, newton_orbits, SMALL)
    metrics = found["metrics"]
    assert metrics["states"] == 80
    for name in ("r_ib", "r_ib_untrained"):
        assert 0 < metrics[name] < 1
    assert metrics["d_ib"] < 0.9, "two steps of training make no state"
    assert set(found["curves"]) == {"trained", "untrained"}
