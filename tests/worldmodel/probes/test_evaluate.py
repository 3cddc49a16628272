"""Errors of the next position and of roll-outs, for any predictor."""

import numpy as np
import pytest

import orbits
import worldmodel
from orbits.units import GM_SUN
from worldmodel.own_predictor import FunctionPredictor

DT = 0.008


def stoermer(x):
    """A step under Newton's law, from the last two positions."""
    following = np.full(x.shape, np.nan)
    here, moved = x[:, 1:], x[:, 1:] - x[:, :-1]
    pull = -GM_SUN * here / np.linalg.norm(here, axis=-1, keepdims=True) ** 3
    following[:, 1:] = here + moved + DT**2 * pull
    return following


def test_roll_outs_of_any_predictor():
    held_out = orbits.generate(orbits=30, samples=64, simulator="kepler", seed=5)
    exact = worldmodel.probe(FunctionPredictor(stoermer, 2), held_out, readout="evaluate").metrics
    straight = worldmodel.probe(worldmodel.StraightLine(), held_out, readout="evaluate").metrics
    assert exact["error_1"] < 1e-4 < straight["error_1"]
    assert exact["error_16"] < straight["error_16"]
    assert "loss" not in straight  # which is a network's
    assert straight["error"] == pytest.approx(straight["straight_line_error"])
