"""The door: any object, any function, by Python and by the command; what does not fit, a line."""

from pathlib import Path

import numpy as np
import pytest

import orbits
import worldmodel
from orbits.units import GM_SUN
from worldmodel.cli import main
from worldmodel.loading import source_of
from worldmodel.predictor import circles

DT = 0.008

FILE = f'''
from pathlib import Path

import numpy as np

def verlet(x):
    """Störmer's rule with Newton's force."""
    following = np.full(x.shape, np.nan)
    r = np.linalg.norm(x[:, 1:], axis=-1, keepdims=True)
    push = {DT**2} * {GM_SUN} * x[:, 1:] / r**3
    following[:, 1:] = 2 * x[:, 1:] - x[:, :-1] - push
    return following

class Model:
    context_length = 2
    predict = staticmethod(verlet)

class Days(Model):
    dt = {DT * 365.25}

class Kilometres:
    context_length = 2
    def predict(self, x):
        return verlet(x / 149_597_870.7) * 149_597_870.7

class Wrong:
    context_length = 2
    def __init__(self, kind):
        self.kind = kind
    def predict(self, x):
        if self.kind == "shape":
            return x[:, -1]
        if self.kind == "nan":
            return np.full(x.shape, np.nan)
        if self.kind == "text":
            return np.full(x.shape, "there")
        if self.kind == "tensor":
            import torch
            return torch.zeros(x.shape)
        if self.kind == "gradient":
            import torch
            return torch.zeros(x.shape, requires_grad=True)
        if self.kind == "ragged":
            return [[1, [2]]]
        if self.kind == "device":
            raise RuntimeError("Expected all tensors to be on the same device")

shape, nan, text, tensor, gradient, ragged, device = map(
    Wrong, ("shape", "nan", "text", "tensor", "gradient", "ragged", "device")
)

class Closed(Model):
    @property
    def context_length(self):
        raise KeyError("length")

class Shy(Model):
    def __getattr__(self, name):
        raise RuntimeError(name)

class Vague(Model):
    dt = "soon"
still = lambda x: x

class Silent:
    def predict(self, x):
        return x

def fails():
    raise KeyError("weights")

def fresh(seed):
    class Fresh(Model):
        def predict(self, x):
            return x + np.random.default_rng(seed).normal(size=2)
    return Fresh()
'''


@pytest.fixture(scope="module")
def verlet():
    space = {}
    exec(FILE, space)
    return space["verlet"]


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def held_out():
    return orbits.generate(orbits=40, samples=64, simulator="kepler", seed=3)


def test_orbits_of_ones_own_are_kicked_where_their_law_is_said(verlet, held_out):
    arrays = (held_out.position.values, float(held_out.dt))
    own = orbits.from_arrays(*arrays, law="newton", gm=GM_SUN)
    forces = worldmodel.probe(verlet, own, states="kicked", model_context=2)
    assert forces.metrics["kick_r2"]["1"] > 0.999  # as below
    with pytest.raises(ValueError, match="is not known, and what was asked for needs it"):
        worldmodel.probe(verlet, orbits.from_arrays(*arrays), states="kicked", model_context=2)


def test_a_plain_function_knows_newton(verlet, held_out):
    forces = worldmodel.probe(verlet, held_out, states="kicked", model_context=2)
    # a second difference of 0.008 yr errs by less than 1e-3, of which Numerov takes the most
    assert forces.metrics["kick_r2"]["1"] > 0.999
    assert forces.metrics["exponent"]["value"] == pytest.approx(2, abs=0.01)
    jacobian = worldmodel.probe(verlet, held_out, readout="jacobian", model_context=2)
    assert jacobian.metrics["locality"] > 0.999
    assert jacobian.metrics["difference_error"] < 1e-5


def command(capsys, *words):
    code = main([*map(str, words)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_file_is_as_good(mine, few_orbits, tmp_path, capsys):
    out = tmp_path / "k.parquet"
    for spec in (f"{mine}:Model", f"{mine}:verlet"):
        words = ["probe", "--model", spec, few_orbits, out, "--states", "kicked"]
        words += ["--model-context", "2"]
        assert command(capsys, *words)[0] == 0
        kept = orbits.ForceSamples.read(out)
        assert kept.attributes["metrics"]["kick_r2"]["1"] > 0.99  # of 40 orbits
        assert kept.attributes["model"]["name"] == spec
        assert len(kept.attributes["model"]["code"]) == 64


def test_controls_take_the_place_of_any_model(mine, few_orbits, tmp_path, capsys):
    spec, out = f"{mine}:Model", tmp_path / "k.parquet"
    words = ["probe", "--model", spec, few_orbits, out, "--states", "kicked", "--control"]
    for control in ("injected", "keplerian", "parrot", "straight_line", "autoregression"):
        assert command(capsys, *words, control)[0] == 0
    code, _, error = command(capsys, *words, "untrained")
    assert code == 2
    assert "give --untrained-model (untrained= in Python)" in error
    words += ["untrained", "--untrained-model", f"{mine}:fresh"]
    assert command(capsys, *words)[0] == 0
    assert orbits.ForceSamples.read(out).attributes["metrics"]["r2"] < 0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("shape", [], "the same shape is needed"),
        ("nan", [], "gives no number on circles"),
        ("text", [], "real numbers are needed"),
        ("tensor", [], "return tensor.detach().cpu().numpy()"),
        ("gradient", [], "return tensor.detach().cpu().numpy()"),
        ("ragged", [], "ragged gives no array of numbers"),
        ("Closed", [], "Closed fails to say what it is: KeyError: 'length'"),
        ("Shy", [], "Shy fails to say what it is: RuntimeError: precision"),
        ("Vague", [], "has the step dt = 'soon'; a number is needed"),
        ("Model", ["--untrained-model", "gone:make"], "--untrained-model gone:make: there is no"),
        ("Model", ["--untrained-model", ""], "--untrained-model is ''; give package.module:name"),
        ("device", [], "RuntimeError: Expected all tensors to be on the same device"),
        ("still", [], "say how many positions it sees (--model-context"),
        ("Silent", [], "has context_length None"),
        ("fails", [], "fails: KeyError: 'weights'"),
        ("modle", [], "did you mean 'Model'?"),
        ("Days", [], "say its --time-unit, or make the data with --dt 2.922"),
        ("Model", ["--length-unit", "mile"], "give one of au, "),
        ("Model", ["--readout", "transfer"], "(fine-tuning) needs a network that can be trained"),
        ("verlet", ["--readout", "transfer", "--model-context", "2"], "verlet shows none"),
        ("Model", ["--readout", "linear"], "has no activations(contexts)"),
    ],
)
def test_what_does_not_fit_is_one_line(mine, few_orbits, tmp_path, refused, name, options, message):
    out = tmp_path / ("k.json" if "linear" in options else "k")
    words = ["probe", "--model", f"{mine}:{name}", few_orbits, out, *options]
    assert message in refused("worldmodel", *words)
    assert not out.exists()


OF_ONES_OWN = """
import json
import numpy as np

def make():
    return json.load(open("nothing.json"))

class Deep:
    context_length = 2
    def predict(self, x):
        return self.inner(x)
    def inner(self, x):
        return x @ np.ones(7)
"""


@pytest.mark.parametrize(
    ("name", "what", "line"),
    [("make", "FileNotFoundError", 6), ("Deep", "ValueError: matmul", 13)],
)
def test_an_error_in_ones_own_code_names_its_line(few_orbits, tmp_path, refused, name, what, line):
    path = tmp_path / "deep.py"
    path.write_text(OF_ONES_OWN)
    error = refused("worldmodel", "probe", "--model", f"{path}:{name}", few_orbits, "k.parquet")
    assert what in error
    assert error.endswith(f"deep.py, line {line})\n")


def test_units_of_the_model_are_those_it_says(verlet, held_out, mine):
    space = {}
    exec(FILE, space)
    days = worldmodel.load_predictor(space["Days"](), time_unit="d")
    kilometres = worldmodel.load_predictor(space["Kilometres"](), length_unit="km")
    for model in (days, kilometres):
        forces = worldmodel.probe(model, held_out, states="kicked")
        assert forces.metrics["kick_r2"]["1"] > 0.999


def test_derivatives_by_differences_are_those_of_the_function():
    matrix = np.array([[0.3, -1.0], [2.0, 0.7]])
    predictor = worldmodel.load_predictor(lambda x: x @ matrix.T + 0.1 * x**2, model_context=3)
    contexts = circles(3)
    found, error = predictor.jacobians(contexts)
    expected = matrix + 0.2 * contexts[:, -1, 0, :, None] * np.eye(2)
    np.testing.assert_allclose(found[:, -1], expected, atol=1e-9)  # central: exact for squares
    assert np.abs(found[:, :-1]).max() < 1e-9
    assert error < 1e-9


def test_a_factory_is_told_what_it_asks_for(tmp_path):
    (tmp_path / "asks.py").write_text(ASKS)
    spec = f"{tmp_path}/asks.py:make"
    made = worldmodel.load_predictor(spec, data="t.zarr", seed=3, folder=tmp_path, dt=0.008)
    told = {"data": str(Path("t.zarr").resolve()), "seed": 3, "folder": str(tmp_path), "dt": 0.008}
    assert made.predictor.told == told
    assert made.trained_on == told["data"]
    with pytest.raises(ValueError, match="needs data"):
        worldmodel.load_predictor(spec, folder=tmp_path, dt=0.008)


ASKS = """
class Model:
    context_length = 1
    def predict(self, x):
        return x
def make(data, seed, folder, dt):
    model = Model()
    model.told = {"data": data, "seed": seed, "folder": folder, "dt": dt}
    return model
"""


def test_a_misspelt_factory_is_refused_before_its_code_runs(tmp_path, refused, few_orbits):
    path = tmp_path / "mine.py"
    path.write_text("raise SystemExit\ndef make(): ...\nfrom os import sep\n")
    out = tmp_path / "o.parquet"
    for name, words in (("mkae", "did you mean 'make'"), ("nothing", "Known: make, sep")):
        said = refused("worldmodel", "probe", "--model", f"{path}:{name}", few_orbits, out)
        assert words in said
    said = refused("symreg", "run", "--model", f"{path}:mkae", "--out", tmp_path / "run")
    assert "did you mean 'make'" in said
    assert not (tmp_path / "run").exists()
    path.write_bytes("def make(): ...".encode("utf-16"))
    said = refused("worldmodel", "probe", "--model", f"{path}:make", few_orbits, out)
    assert "mine.py is no text in UTF-8" in said
    said = refused("worldmodel", "probe", "--model", "__main__:make_it", few_orbits, out)
    assert "--model __main__:make_it: " in said
    path.write_text("def make(:\n")
    said = refused("worldmodel", "probe", "--model", f"{path}:make", few_orbits, out)
    assert "SyntaxError: invalid syntax" in said
    assert "mine.py, line 1" in said


def test_an_exception_of_a_module_names_file_and_line(tmp_path, refused, few_orbits):
    path = tmp_path / "mine.py"
    path.write_text(
        "import torch, worldmodel\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.layer = torch.nn.Linear(3, 2)\n"
        "    def forward(self, x):\n"
        "        return self.layer(x)\n"
        "def make():\n"
        "    return worldmodel.TorchModule(Net(), 2)\n"
    )
    for readout, out in (("implied", "o.parquet"), ("jacobian", "o.json")):
        words = ["probe", "--model", f"{path}:make", few_orbits, tmp_path / out]
        said = refused("worldmodel", *words, "--readout", readout)
        assert "RuntimeError: mat1 and mat2 shapes cannot be multiplied" in said
        assert "mine.py, line 7" in said


MADE_AS_IT_RUNS = {
    "a star": "from core import *",
    "the namespace": "import core\nfor name in ('make', 'other'):\n    globals()[name] = core.make",
    "the module": "import sys, core\nsetattr(sys.modules[__name__], 'make', core.make)",
    "its dictionary": "import core\nvars().update(make=core.make)",
    "text": "exec('from core import make')",
    "a loop": "import core\nfor make in [core.make]:\n    pass",
    "a function": "import core\ndef f():\n    global make\n    make = core.make\nf()",
    "a request": "import core\ndef __getattr__(name):\n    return getattr(core, name)",
    "a match": "import core\nmatch core.make:\n    case make:\n        pass",
    "another module": "from core import export\nexport(__name__)",
}


@pytest.mark.parametrize("way", MADE_AS_IT_RUNS)
def test_a_name_that_is_made_as_the_module_runs_is_found(way, tmp_path, few_orbits, refused):
    core = "import sys\ndef export(name):\n    sys.modules[name].make = make\n"
    (tmp_path / "core.py").write_text(ASKS + core)
    path = tmp_path / "mine.py"
    path.write_text(MADE_AS_IT_RUNS[way])
    assert source_of(f"{path}:make") == path.resolve()
    out = tmp_path / "o.parquet"
    said = refused("worldmodel", "probe", "--model", f"{path}:mkae", few_orbits, out)
    assert "'mkae' is not known" in said or "no attribute 'mkae'" in said
    told = {"data": few_orbits, "folder": tmp_path, "dt": 0.008}
    made = worldmodel.load_predictor(f"{path}:make", **told)
    assert made.context_length == 1
