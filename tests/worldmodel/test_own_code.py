"""A model's own code may do anything: the command ends with a result where it was asked for, or
with one line and an exit code that is not 0."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch

import orbits
import worldmodel
from orbits.options import checked as arguments
from orbits.settings import _apply, _current
from worldmodel.cli import main
from worldmodel.contract import as_array, checked
from worldmodel.own_code import called

MODELS = """
import asyncio, atexit, os, sys, threading, warnings
from os import _exit

import numpy as np

class Model:
    context_length = 2
    def __init__(self, change=lambda y, x: y):
        self.change = change
    def predict(self, x):
        y = np.full(x.shape, np.nan)
        push = 0.008**2 * 39.478 * x[:, 1:] / np.linalg.norm(x[:, 1:], axis=-1, keepdims=True) ** 3
        y[:, 1:] = 2 * x[:, 1:] - x[:, :-1] - push
        return self.change(y, x)

def fails(error):
    def change(y, x):
        raise error
    return Model(change)

class Own(BaseException):
    pass

class Dumb(Exception):
    def __str__(self):
        raise RuntimeError("no words")

def in_thread(y, x):
    thread = threading.Thread(target=os._exit, args=(0,))
    thread.start()
    thread.join()
    return y

class Asynchronous(Model):
    async def predict(self, x):
        return x

class Property(Model):
    @property
    def dt(self):
        raise Own("no step")

def moves(y, x):
    os.chdir("/")
    return y

def moving():
    os.chdir("/")
    return Model(moves)

def at_exit():
    atexit.register(lambda: os._exit(0))
    raise Own("made")

async def later():
    return Model()

own, dumb, silent = fails(Own("bye")), fails(Dumb()), fails(ValueError())
generator, cancelled = fails(GeneratorExit()), fails(asyncio.CancelledError())
stop = fails(StopIteration())
long, hostile = fails(KeyError("z" * 10**6)), fails(OSError("\\x1b[2J\\u202eabc\\x07\\nnext"))
huge, vast = Model(lambda y, x: y * 1e300), Model(lambda y, x: y * np.longdouble("1e4000"))
shut = Model(lambda y, x: sys.stdout.close() or sys.stderr.close() or y[..., :1])
endless = Model(lambda y, x: y)
endless.context_length = 10**30
leaves = Model(lambda y, x: sys.exit(0))
ends = Model(lambda y, x: os._exit(0))
named = Model(lambda y, x: _exit(0))
def sets_streams(y, x):
    sys.stdout = sys.stderr = sys.excepthook = None
    return y

def noisy(y, x):
    print("\\x1b[2J\\x1b[31mred\\x1b[0m\\u202ea\\rb\\x07")
    warnings.warn("\\x1b[3Awarned\\x07")
    return y

streams, talks = Model(sets_streams), Model(noisy)
threaded, mover = Model(in_thread), Model(moves)
asynchronous, a_property = Asynchronous(), Property()
if os.environ.get("END"):
    os._exit(0)
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MODELS)
    return path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own", "Own: bye (mine.py, line "),
        ("dumb", "shape (2, 160, 2): Dumb (mine.py, line "),
        ("silent", "shape (2, 160, 2): ValueError (mine.py, line "),
        ("generator", "GeneratorExit (mine.py"),
        ("cancelled", "CancelledError (mine.py"),
        ("stop", "StopIteration (mine.py"),
        ("long", "zzz ... zzz"),
        ("hostile", "OSError: \\x1b[2J\\u202eabc\\x07 next (mine.py"),
        ("shut", "gives shape (2, 160, 1)"),
        ("endless", f"has context_length {10**30}; "),
        ("huge", "gives positions of up to 1e+300; 1e+50 is the most"),
        ("vast", "gives infinite numbers"),
        ("leaves", "it ends the program, with exit code 0 (mine.py"),
        ("asynchronous", "predict is `async def`, and is not awaited here; make it a `def`."),
        ("a_property", "Property fails to give its dt: Own: no step (mine.py"),
        ("later", "later is `async def`"),
    ],
)
def test_whatever_a_model_does_is_one_line(mine, few_orbits, refused, monkeypatch, name, message):
    monkeypatch.chdir(mine.parent)
    out = mine.parent / "o.parquet"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = refused("worldmodel", "probe", "--model", f"mine.py:{name}", few_orbits, out)
    assert message in said
    assert len(said) < 600
    assert said.strip().isprintable()
    assert not out.exists()


def command(*words, folder, **environment):
    return subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        capture_output=True, text=True, cwd=folder, env=os.environ | environment,
    )  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["ends", "named", "at_exit", "own", "module"])
def test_a_model_that_ends_the_process_leaves_no_success(mine, few_orbits, name):
    spec, end = (f"mine.py:{name}", {}) if name != "module" else ("mine.py:own", {"END": "1"})
    words = ("probe", "--model", spec, few_orbits, "o.parquet")
    done = command("worldmodel", *words, folder=mine.parent, **end)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "(mine.py, line " in done.stderr
    assert not (mine.parent / "o.parquet").exists()


def test_a_thread_that_ends_the_process_ends_itself(mine, few_orbits):
    words = ("probe", "--model", "mine.py:threaded", few_orbits, "o.parquet")
    assert command("worldmodel", *words, folder=mine.parent).returncode == 0
    assert (mine.parent / "o.parquet").exists()


@pytest.mark.slow
def test_a_model_without_streams_and_one_that_writes_codes_leave_their_results(mine, few_orbits):
    for name in ("streams", "talks"):
        words = ("probe", "--model", f"mine.py:{name}", few_orbits, "o.parquet")
        done = command("worldmodel", *words, folder=mine.parent)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        assert "R² of the acceleration" in done.stdout
    assert "\\x1b[2J\x1b[31mred\x1b[0m\\u202ea" in done.stderr
    assert "\x07" not in done.stderr
    assert "\u202e" not in done.stderr


@pytest.mark.parametrize("name", ["mover", "moving"])
def test_a_model_that_changes_the_folder_moves_no_file(mine, few_orbits, monkeypatch, name):
    monkeypatch.chdir(mine.parent)
    assert main(["probe", "--model", f"mine.py:{name}", few_orbits, "o.parquet"]) == 0
    assert (mine.parent / "o.parquet").exists()
    assert os.getcwd() == str(mine.parent)


def test_a_model_finds_itself_in_the_folder_it_changed_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights" / "scale").write_text("1")

    class Reads:
        context_length = 1

        def __init__(self):
            os.chdir("weights")

        def predict(self, x):
            with open("scale") as file:
                return x * float(file.read())

    model = called("it fails", Reads)
    assert os.getcwd() == str(tmp_path)
    assert called("it fails", model.predict, np.ones(2)).sum() == 2
    assert os.getcwd() == str(tmp_path)


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i8", "u1"])
def test_what_is_masked_is_not_known(kind):
    seen = np.ones((3, 4, 2))
    answer = np.ma.masked_array(np.full(seen.shape, 7).astype(kind), mask=False)
    answer[1, 2, 0] = np.ma.masked
    known = checked(as_array(answer, "it"), seen, 1, "it")
    assert np.isnan(known[1, 2]).all()
    assert (np.delete(known.reshape(12, 2), 6, 0) == 7).all()


def test_the_mask_of_a_model_hides_its_answers():
    class Near:
        """Knows only what lies to the right."""

        context_length = 1

        def predict(self, x):
            hidden = np.broadcast_to(x[..., :1] < 0, x.shape)
            return np.ma.masked_array(np.where(hidden, 1e3, 1.01 * x), hidden)

    data = orbits.generate(orbits=40, samples=64, simulator="kepler", seed=3)
    forces = worldmodel.probe(Near(), data).table
    assert (forces["x"] > 0).all()
    assert len(forces) > 100


SETTINGS = {
    "type": lambda: torch.set_default_dtype(torch.float16),
    "no gradients": lambda: torch.set_grad_enabled(False),
    "device": lambda: torch.set_default_device("meta"),
    "errors": lambda: np.seterr(all="raise"),
}


@pytest.fixture
def settings_kept():
    before = _current()
    yield
    _apply(before)


@pytest.mark.parametrize("names", [[each] for each in SETTINGS] + [[*SETTINGS]], ids=str)
def test_settings_of_the_process_change_no_result_and_stay(names, settings_kept):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 2))
    module = worldmodel.TorchModule(network, 2, target="residual")

    def work():
        data = orbits.generate(orbits=20, samples=24, simulator="kepler", seed=0)
        model = worldmodel.train(data, context_length=2, steps=2, d_model=16, n_layers=1)
        x = data["position"].values
        own, probe = worldmodel.load_predictor(module, dt=0.008), worldmodel.probe
        jacobians = [probe(each, data, readout="jacobian", orbits=5) for each in (model, own)]
        forces = probe(model, data, states="kicked", orbits=5)
        found = [model.predict(x), model.attention(x[:, :2]), own.predict(x), forces.table]
        return [np.asarray(each) for each in found] + [[str(each) for each in jacobians]]

    expected = work()
    for name in names:
        SETTINGS[name]()
    before = _current()
    np.testing.assert_equal(work(), expected)
    assert _current() == before


def test_numpy_warns_of_nothing_in_a_function_of_ours():
    square = arguments(lambda x: np.float64(x) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert square(1e300) == np.inf


def test_what_a_model_sets_stays_with_the_model(settings_kept):
    seen, before = [], _current()

    def following(x):
        seen.append(_current())
        for change in SETTINGS.values():
            change()
        return x

    data = orbits.generate(orbits=5, samples=24, simulator="kepler", seed=0)
    worldmodel.probe(following, data, model_context=1, readout="evaluate")
    assert _current() == before
    assert seen[0] == before
    assert seen[-1] == (
        tuple(dict.fromkeys(np.geterr(), "raise").items()),
        "float16",
        False,
        "meta",
    )


def test_a_model_is_not_blamed_for_a_folder_that_was_removed(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert called("the model fails", lambda: 1) == 1
    with pytest.raises(ValueError, match=r"the model fails: ZeroDivisionError.*test_own_code.py"):
        called("the model fails", lambda: 1 / 0)
