"""PySR's adapter, held against PySR itself without Julia."""

import ast
import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from orbits.expressions import parse_expression
from symreg.engines import choose_engine
from symreg.engines import pysr as adapter
from symreg.engines.base import L1, TARGET, Budget, Question
from symreg.engines.pysr import PySREngine, constructor_arguments, read_hall_of_fame

HALL_OF_FAME = """Complexity,Loss,Equation
1,2.5,"12.5"
5,0.01,"39.478 / (x0 ^ 2.0)"
7,0.001,"1.5f-3 + (39.478 / (x0 ^ 2.0))"
9,0.0001,"(exp(x0 * -0.5) * 39.4) / sqrt(x0)"
"""

# A stand-in for Julia's bridge: PySR can be imported, but nothing can be searched.
WITHOUT_JULIA = """
import sys, types
from unittest.mock import MagicMock
bridge = types.ModuleType("juliacall")
bridge.AnyValue = type("AnyValue", (), {})
bridge.VectorValue = type("VectorValue", (), {})
bridge.JuliaError = type("JuliaError", (Exception,), {})
bridge.convert = MagicMock()
bridge.Main = MagicMock()
bridge.Main.VERSION.major, bridge.Main.VERSION.minor, bridge.Main.VERSION.patch = 1, 10, 0
sys.modules["juliacall"], sys.modules["juliapkg"] = bridge, MagicMock()
"""


def pysr_source():
    """The syntax tree of PySRRegressor, read from the installed file without importing it."""
    found = importlib.util.find_spec("pysr")
    if found is None or found.origin is None:
        pytest.skip("the package pysr is not installed (extra `pysr`)")
    tree = ast.parse((Path(found.origin).parent / "sr.py").read_text())
    (regressor,) = (
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name == "PySRRegressor"
    )
    return {node.name: node for node in regressor.body if isinstance(node, ast.FunctionDef)}


def argument_names(function):
    arguments = function.args
    return {a.arg for a in (*arguments.args, *arguments.kwonlyargs)}


def run_python(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_argument_is_one_that_the_real_constructor_names():
    # the constructor takes **kwargs and swallows what it does not know
    names = argument_names(pysr_source()["__init__"])
    for positive in (True, False):
        given = constructor_arguments(3, Budget(), Path("here"), positive, Question())
        assert set(given) <= names, set(given) - names
    assert {"guesses", "dimensional_constraint_penalty"} <= names
    assert {"variable_names", "X_units", "y_units"} <= argument_names(pysr_source()["fit"])


def test_the_published_search_space_reaches_pysr():
    space = Question(("+", "*", "inv", "sin", "cos", "exp"), L1)
    given = constructor_arguments(3, Budget(), Path("here"), True, space)
    assert given["binary_operators"] == ["+", "*"]
    assert given["unary_operators"] == ["inv", "sin", "cos", "exp"]
    assert given["elementwise_loss"] == "L1DistLoss()"
    assert given["constraints"] == given["nested_constraints"] == {}


def test_pysrs_own_functions_are_read(tmp_path):
    rows = 'Complexity,Loss,Equation\n4,1,"x0 * inv(square(x1 + 2.0))"\n5,1,"inv(inv(x0)) ^ x1"\n'
    (tmp_path / "hall_of_fame.csv").write_text(rows)
    first, second = read_hall_of_fame(tmp_path / "hall_of_fame.csv")
    values = {s: {"x0": 3.0, "x1": 2.0}[s.name] for s in first.free_symbols}
    assert float(first.subs(values)) == pytest.approx(3 / 16)
    assert float(second.subs(values)) == pytest.approx(9)


def test_the_seed_alone_decides_a_search():
    given = constructor_arguments(3, Budget(), Path("here"), True, Question())
    assert given["deterministic"] is True
    assert given["parallelism"] == "serial"
    assert given["random_state"] == 3
    assert isinstance(given["random_state"], int)
    json.dumps(given)  # the process that runs it is handed JSON


def test_the_front_is_read_as_pysr_itself_reads_it(tmp_path):
    (tmp_path / "hall_of_fame.csv").write_text(HALL_OF_FAME)
    code = WITHOUT_JULIA + textwrap.dedent("""
        from pysr import PySRRegressor
        from symreg.engines.pysr import BINARY_OPERATORS, UNARY_OPERATORS
        model = PySRRegressor.from_file(
            run_directory=sys.argv[1], binary_operators=list(BINARY_OPERATORS),
            unary_operators=list(UNARY_OPERATORS), n_features_in=1, feature_names_in=["x0"],
        )
        for text in model.equations_["sympy_format"]:
            print(text)
    """)
    theirs = [parse_expression(line) for line in run_python(code, str(tmp_path)).splitlines()]
    ours = read_hall_of_fame(tmp_path / "hall_of_fame.csv")
    assert len(ours) == len(theirs) == 4
    x = {s for e in ours for s in e.free_symbols}.pop()
    for mine, pysrs in zip(ours, theirs, strict=True):
        for value in (0.3, 1.0, 2.7):
            expected = float(pysrs.subs(x, value))
            assert float(mine.subs(x, value)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("published", [False, True])
def test_pysr_accepts_the_arguments(tmp_path, published):
    operators = ("+", "*", "inv", "sin", "cos", "exp")
    space = Question(operators, L1) if published else Question()
    arguments = constructor_arguments(1, Budget(), tmp_path, True, space)
    code = WITHOUT_JULIA + textwrap.dedent("""
        import json, warnings
        from pysr import PySRRegressor
        warnings.simplefilter("error")
        print(PySRRegressor(**json.loads(sys.argv[1])).random_state)
    """)
    assert run_python(code, json.dumps(arguments)).split()[-1] == "1"


def test_a_half_written_hall_of_fame_is_read_from_its_copy(tmp_path):
    (tmp_path / "hall_of_fame.csv").write_text("Compl")
    (tmp_path / "hall_of_fame.csv.bak").write_text(HALL_OF_FAME)
    assert len(read_hall_of_fame(tmp_path / "hall_of_fame.csv")) == 4
    (tmp_path / "hall_of_fame.csv.bak").unlink()
    with pytest.raises(ValueError, match="not a hall of fame"):
        read_hall_of_fame(tmp_path / "hall_of_fame.csv")


def test_the_engine_returns_the_front_that_the_process_left(monkeypatch):
    def fake(job, seconds):
        (job / "search").mkdir()
        (job / "search" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        assert json.loads((job / "job.json").read_text())["fit"]["variable_names"] == ["x0"]
        return ""

    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    r = np.linspace(0.3, 3, 50)
    front = PySREngine().search(r[:, None], 39.478 / r**2, ["N"], 4, Budget())
    assert str(front[-1].expression.free_symbols) == "{N}"
    assert front[-1].loss < 1e-20
    assert all(c.engine == "pysr" and c.seed == 4 for c in front)


def test_a_process_over_its_time_is_killed_with_its_children(tmp_path, monkeypatch):
    monkeypatch.setattr(adapter, "GRACE_SECONDS", 0.0)
    sleeper = tmp_path / "python"
    sleeper.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/child\nwait\n")
    sleeper.chmod(0o755)
    monkeypatch.setattr(adapter.sys, "executable", str(sleeper))
    began = time.monotonic()
    said = adapter.run_in_own_process(tmp_path, 1.0)
    assert "no answer" in said
    assert time.monotonic() - began < 10
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        try:
            os.kill(child, signal.SIGCONT)
        except ProcessLookupError:
            return
        if Path(f"/proc/{child}/stat").is_file():
            state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state == "Z":
                return
        time.sleep(0.1)
    pytest.fail("the child outlived its parent")


def test_pysr_asked_for_without_julia_says_what_is_missing():
    if PySREngine.availability().available:
        pytest.skip("Julia with SymbolicRegression.jl is here")
    with pytest.raises(
        ValueError, match=r"cannot run: .*(Julia|pysr).*To get it: .*--engine operon"
    ):
        choose_engine("pysr")


def test_looking_for_julia_takes_milliseconds():
    began = time.monotonic()
    PySREngine.availability()
    assert time.monotonic() - began < 0.5  # files are looked at; nothing is imported or run


@pytest.mark.julia
def test_pysr_finds_the_inverse_square():
    if not PySREngine.availability().available:
        pytest.skip(PySREngine.availability().reason)
    r = np.linspace(0.3, 3, 100)
    front = PySREngine().search(r[:, None], 39.478 / r**2, ["r"], 0, Budget(generations=5))
    assert min(c.loss for c in front) < 1e-6


def test_guesses_and_units_reach_pysr(monkeypatch):
    written = {}

    def fake(job, seconds):
        written.update(json.loads((job / "job.json").read_text()))
        (job / "search").mkdir()
        (job / "search" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        return ""

    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    engine = PySREngine(Question(guesses=("k/r**2",), units={"r": "m^1", TARGET: "m^1*s^-2"}))
    r = np.linspace(0.3, 3, 50)
    engine.search(r[:, None], 39.478 / r**2, ["r"], 4, Budget())
    assert written["new"]["guesses"] == ["1.0/x0^2"]
    assert written["fit"]["X_units"] == ["m^1"]
    assert written["fit"]["y_units"] == "m^1*s^-2"
