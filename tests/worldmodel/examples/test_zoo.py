"""The families of the zoo: each answers, and one that trains finds its weights again."""

import importlib

import numpy as np
import pytest

import worldmodel
from worldmodel.predictor import circles

TRAINED = ["lstm", "convolution", "mlp", "hamiltonian", "neural_ode"]
UNTRAINED = ["law", "ellipse", "copier", "autoregression"]


@pytest.mark.parametrize("name", UNTRAINED)
def test_a_family_that_learns_nothing_answers(name, newton_orbits):
    spec = f"{importlib.import_module(name).__file__}:make"
    predictor = worldmodel.load_predictor(spec, dt=0.008)
    forces = worldmodel.probe(predictor, newton_orbits, orbits=10)
    assert forces.metrics["r2"] > 0.5


@pytest.mark.parametrize("name", TRAINED)
def test_a_family_that_trains_keeps_its_weights(name, make_orbits, tmp_path, monkeypatch):
    data = make_orbits(tmp_path / "orbits.zarr", orbits=10, samples=40)
    if name == "neural_ode":
        pytest.importorskip("torchdiffeq", reason="extra zoo")
    family = importlib.import_module(name)
    monkeypatch.setattr("zoo_training.STEPS_PER_ORBIT", 1)
    monkeypatch.setattr("zoo_training.BATCH", 8)
    one, again = (family.make(data, 1, tmp_path) for _ in range(2))
    x = circles(34)[:, :, 0]
    np.testing.assert_array_equal(one.predict(x), again.predict(x))
    with pytest.raises(ValueError, match="weights of other data or another seed"):
        family.make(data, 2, tmp_path)


@pytest.mark.slow
def test_the_published_recipe_learns_the_next_position(tmp_path):
    import published

    found = published.trained("displacement", 0, tmp_path, steps=200, orbits=50)
    x = published.training_orbits(20, 1)[:, :5]
    error = np.linalg.norm(found.predict(x)[:, 1:-1] - x[:, 2:], axis=-1)
    still = np.linalg.norm(np.diff(x[:, 1:], axis=1), axis=-1)
    assert np.median(error) < np.median(still)
