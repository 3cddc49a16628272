"""`symreg run` of models that were not trained here: a file, an object, a family that trains."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from orbits.files import read_json
from symreg import run
from symreg.cli import main
from symreg.experiments.config import RunConfig
from symreg.experiments.verdict import LAW

SMALL = {
    "orbits": 40, "samples": 48, "simulator": "kepler", "held_out_orbits": 30, "search_seeds": 1,
    "sources": ["orbit", "kicked"], "controls": ["injected"],
}  # fmt: skip

ZOO = Path(__file__).parents[2] / "notebooks" / "examples" / "zoo"
FILE = f"""
import sys
sys.path.append({str(ZOO)!r})
import numpy as np
from law import Law

def make(dt):
    return Law(dt)

def fresh(seed):
    class Noise(Law):
        def predict(self, x):
            return x * np.random.default_rng(seed).normal()
    return Noise(0.008)

class Short:
    context_length = 2
    def predict(self, x):
        return x[:, 1:]

def short():
    return Short()
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"readouts": ["extrapolate"]}, "works with networks of `worldmodel train` alone"),
        ({"controls": ["untrained", "injected"]}, "give --untrained-model"),
        ({"model": "mine.py"}, "give package.module:name or path/to/file.py:name"),
        ({"model": None, "fit": True}, "needs --model"),
    ],
)
def test_what_such_a_model_cannot_be_asked_is_said_at_once(mine, options, message):
    with pytest.raises(ValueError, match=message):
        RunConfig.of({**SMALL, "model": f"{mine}:make", **options})


def test_without_a_factory_the_untrained_control_is_left_out(mine):
    plain = {name: value for name, value in SMALL.items() if name != "controls"}
    assert RunConfig.of({**plain, "model": f"{mine}:make"}).controls == ("injected", "keplerian")
    both = RunConfig.of({**plain, "model": f"{mine}:make", "untrained_model": f"{mine}:fresh"})
    assert both.controls == ("injected", "untrained", "keplerian")


def test_a_model_that_is_not_there_is_one_line(tmp_path, capsys):
    words = ["run", "--model", f"{tmp_path}/none.py:make", "--out", str(tmp_path / "run")]
    assert main(words) == 2
    assert "there is no file" in capsys.readouterr().err


def test_answers_that_do_not_fit_stop_a_run_before_anything_is_simulated(mine, tmp_path, capfd):
    out = tmp_path / "run"
    words = ["run", "--model", f"{mine}:short", "--out", str(out), "--orbits", "40"]
    assert main(words) == 2
    said = capfd.readouterr()
    assert "the same shape is needed" in said.err
    assert [line for line in said.err.splitlines() if line.startswith("symreg run: ")] == [
        said.err.splitlines()[-1]
    ]
    assert not (out / "data").exists()


def test_a_relative_path_in_ones_own_file_is_from_where_the_command_is_typed(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "mine.py").write_text(
        f"{FILE}\ndef kept():\n    return Law(float(open('step.txt').read()))\n"
    )
    (tmp_path / "step.txt").write_text("0.008")
    monkeypatch.chdir(tmp_path)
    words = "run --model mine.py:kept --out run --orbits 40 --samples 48 --simulator kepler "
    words += "--sources orbit --controls injected --readouts evaluate --search-seeds 1 "
    words += "--engine rational --json"
    assert main(words.split()) == 0
    assert json.loads(capsys.readouterr().out)["sources"]["orbit"]["r2"] > 0.99
    page = (tmp_path / "run" / "report.html").read_text()
    assert re.search(r"<b>[^<]*kept[^<]*</b>, asked about", page)  # the model's own name,
    assert "attention softmax" not in page  # and not what was never trained


@pytest.mark.slow
def test_a_law_in_a_file_is_newtonian(mine, tmp_path):
    out = tmp_path / "run"
    words = ["run", "--model", f"{mine}:make", "--untrained-model", f"{mine}:fresh"]
    words += ["--out", str(out), "--orbits", "40", "--samples", "64", "--simulator", "kepler"]
    words += ["--held-out-orbits", "40", "--search-seeds", "2"]
    assert main(words) == 0
    verdict = read_json(out / "verdict.json")
    assert verdict["recovered"]
    assert verdict["world_model"]["kind"] == LAW
    assert verdict["model"]["fingerprint"]
    assert verdict["controls"]["untrained"]["recovery"]["verdict"] == "different"
    # another model in the same file: what was read off the first is read again
    mine.write_text(FILE.replace("return Law(dt)", "return fresh(3)"))
    assert main(words) == 0
    assert not read_json(out / "verdict.json")["recovered"]


@pytest.mark.slow
def test_a_function_in_memory_is_newtonian(tmp_path):
    def verlet(x):
        following = np.full(x.shape, np.nan)
        r = np.linalg.norm(x[:, 1:], axis=-1, keepdims=True)
        push = 0.008**2 * 4 * np.pi**2 * x[:, 1:] / r**3
        following[:, 1:] = 2 * x[:, 1:] - x[:, :-1] - push
        return following

    found = run(predictor=verlet, model_context=2, out=str(tmp_path / "run"), **SMALL)
    assert found.world_model.kind == LAW
    assert found.configuration["model"].startswith("object:")


@pytest.mark.slow
def test_a_family_that_trains_is_asked(tmp_path):
    options = {**SMALL, "orbits": 200, "model": f"{ZOO}/hamiltonian.py:make", "fit": True}
    options |= {"readouts": ["jacobian", "evaluate"], "controls": []}
    found = run(out=str(tmp_path / "run"), **options)
    assert found.kicked.kick_r2["1"] > 0.8
    assert (tmp_path / "run" / "model" / "weights.safetensors").is_file()
    assert "error_16" in found.numbers("evaluate")
