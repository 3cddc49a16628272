"""Parrot, straight line and autoregression: what each is exact for, and what it is not."""

import numpy as np
import pytest

import orbits
import worldmodel
from worldmodel.predictor import circles
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment


@pytest.fixture(scope="module")
def held_out():
    return orbits.generate(orbits=30, samples=80, simulator="kepler", seed=5)


def errors(predictor, positions):
    said = predictor.predict(positions)
    first = predictor.context_length - 1
    return np.abs(said[:, first:-1] - positions[:, first + 1 :]).max()


def test_a_circle_is_copied_exactly():
    x = circles(40)[:, :, 0]
    assert errors(worldmodel.Parrot(8), x) < 1e-12
    assert errors(worldmodel.Autoregression(8), x) < 1e-6  # the ridge that a circle needs
    assert errors(worldmodel.StraightLine(), x) > 1e-4


def test_turning_and_scaling_commute_with_a_fitted_parrot(held_out):
    x = held_out.position.values[:4].astype(float)
    turn = 3 * np.array([[0.6, 0.8], [-0.8, 0.6]])
    said = worldmodel.Parrot(12).predict(x)
    np.testing.assert_allclose(worldmodel.Parrot(12).predict(x @ turn), said @ turn, atol=1e-9)


def test_training_orbits_are_remembered():
    memory = orbits.generate(orbits=20, samples=60, simulator="kepler", seed=6).position.values
    x = memory[:3].astype(float)
    # float32 data: what was seen is said again
    assert errors(worldmodel.Parrot(memory=memory), x) < 1e-6
    with pytest.raises(ValueError, match="more than 6 times"):
        worldmodel.Parrot(memory=memory[:, :6])


def test_hooke_is_linear():
    data = orbits.generate(law="hooke", orbits=5, samples=40, seed=1, dtype="float64")
    assert errors(worldmodel.Autoregression(8), data.position.values) < 1e-8


def test_a_parrot_is_right_before_a_kick_and_lost_after_it(held_out):
    orbit = worldmodel.probe(worldmodel.Parrot(32), held_out)
    kicked = worldmodel.probe(worldmodel.Parrot(32), held_out, states="kicked")
    assert orbit.metrics["r2"] > 0.8
    assert kicked.metrics["kick_r2"]["1"] < 0.5
    # it is the copier that it is compared with
    assert orbit.metrics["copier"]["gain"] == 0
    assert orbit.metrics["copier"]["likeness"] == pytest.approx(1)


def test_a_parrot_of_the_training_orbits_stands_beside_one(held_out, tmp_path):
    train = orbits.generate(orbits=300, samples=80, simulator="kepler", seed=6)
    parrot = worldmodel.Parrot(8, memory=train.position.values)
    for states in ("orbit", "kicked"):
        found = worldmodel.probe(parrot, held_out, states=states, trained_on=train)
        assert found.metrics["training_copier"]["gain"] == 0
        assert found.metrics["training_copier"]["likeness"] == pytest.approx(1)
        unknown = worldmodel.probe(parrot, held_out, states=states)
        assert "training_copier" not in unknown.metrics
        if states == "orbit":  # kicked states are those within the distances of training
            assert unknown.metrics["copier"] == found.metrics["copier"]
    # another kind of model, or another memory, is not it
    other = worldmodel.Parrot(8, memory=held_out.position.values[:, ::-1])
    for model, control in ((parrot, "keplerian"), (parrot, "injected"), (other, "none")):
        told = {"trained_on": train, "control": control}
        apart = worldmodel.probe(model, held_out, **told)
        assert apart.metrics["training_copier"]["likeness"] < 0.5


def test_a_run_remembers_its_training_orbits(held_out, make_orbits, tmp_path):
    make_orbits(tmp_path / "t.zarr", orbits=20, samples=40)
    small = {"steps": 1, "d_model": 16, "n_heads": 2, "batch_tokens": 64}
    model = worldmodel.train(str(tmp_path / "t.zarr"), context_length=2, **small)
    assert "training_copier" in worldmodel.probe(model, held_out).metrics
    # of the data set it has seen the first nine tenths
    own = Experiment(model, str(tmp_path / "t.zarr"), ProbeConfig())
    assert own.training_positions.shape == (18, 40, 2)
    (tmp_path / "t.zarr").rename(tmp_path / "elsewhere.zarr")
    assert "training_copier" not in worldmodel.probe(model, held_out).metrics


def test_a_law_gains_what_the_copier_lacks(held_out):
    law = worldmodel.probe(worldmodel.Parrot(32), held_out, control="injected")
    assert law.metrics["copier"]["gain"] > 0.99
