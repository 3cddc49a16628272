"""Models of other libraries, as the examples show them: each is loaded and probed."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import orbits
import worldmodel

pytestmark = pytest.mark.slow
EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples" / "libraries"


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.zarr"
    orbits.generate(path, orbits=20, samples=64, simulator="kepler", seed=0)
    return path


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """A predictor as an example makes it."""
    monkeypatch.chdir(tmp_path)

    def load(name, **options):
        shutil.copy(EXAMPLES / f"{name}.py", tmp_path)
        return worldmodel.load_predictor(f"{name}.py:make", **options)

    return load


def looked_at(model, train):
    """The predictions for some orbits, after the contract and the kicked states have been tried."""
    data = orbits.open_dataset(train)
    x = data["position"].values[:4, :20]
    said = model.predict(x)
    assert np.isnan(said[:, : model.context_length - 1]).all()
    assert np.isfinite(said[:, model.context_length - 1 :]).all()
    forces = worldmodel.probe(model, data, states="kicked", orbits=4)
    assert np.isfinite(forces.table["a_norm"]).all()
    return x, said


@pytest.mark.needs("transformers")
def test_gpt2_of_hugging_face_by_its_embeddings(shown, train):
    model = shown("gpt2", seed=0)
    x, _ = looked_at(model, train)
    same = shown("gpt2", seed=0)
    np.testing.assert_array_equal(same.predict(x), model.predict(x))
    kept = model.predictor.activations(x[:, :8])
    assert {"gpt2.h.0", "gpt2.h.1", "read"} <= kept.keys()
    assert kept["gpt2.h.1"].shape == (4, 64)


def test_a_forest_of_scikit_learn(shown, train):
    model = shown("forest", seed=0, data=str(train))
    x, said = looked_at(model, train)
    # it was fitted to these orbits, and trees of single rows give their steps again
    # in single precision
    np.testing.assert_allclose(said[:, 2:-1], x[:, 3:], rtol=0, atol=1e-7)


@pytest.mark.needs("equinox")
def test_an_mlp_of_equinox(shown, train):
    jax = pytest.importorskip("jax")
    model = shown("with_jax", seed=1)
    x, said = looked_at(model, train)
    mlp = pytest.importorskip("equinox").nn.MLP(8, 2, 64, depth=2, key=jax.random.PRNGKey(1))
    last = x[:, 15] + np.array([mlp(each) for each in x[:, 12:16].reshape(4, 8)])
    np.testing.assert_allclose(said[:, 15], last, rtol=0, atol=1e-5)


@pytest.mark.needs("onnxruntime")
def test_a_network_in_onnx(shown, train, tmp_path):
    onnx = pytest.importorskip("onnx", reason="writes the network of the test")
    weights = np.random.default_rng(0).normal(0, 0.01, (8, 2)).astype(np.float32)
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        net (float[N,8] positions) => (float[N,2] step) {
            sums = MatMul(positions, weights)
            step = Tanh(sums)
        }""")
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "weights"))
    onnx.save(model, str(tmp_path / "net.onnx"))
    x, said = looked_at(shown("with_onnx"), train)
    expected = x[:, 10] + np.tanh(x[:, 7:11].reshape(4, 8) @ weights)
    np.testing.assert_allclose(said[:, 10], expected, rtol=0, atol=1e-6)
