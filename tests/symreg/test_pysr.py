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
import pandas as pd
import pytest

from orbits.expressions import parse_expression
from symreg.engines import choose_engine
from symreg.engines import pysr as adapter
from symreg.engines.base import L1, TARGET, Budget, Question
from symreg.engines.parent import as_parent
from symreg.engines.pysr import (
    PySREngine,
    constructor_arguments,
    first_of_message,
    guess_for_pysr,
    read_hall_of_fame,
)
from symreg.formulas.watch import Watch
from symreg.recovery.recover import recover

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
        (job / "search-0").mkdir()
        (job / "search-0" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        assert json.loads((job / "job.json").read_text())[0]["fit"]["variable_names"] == ["x0"]
        (job / "versions.json").write_text('{"julia": "1.11.9"}')
        return ""

    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    r = np.linspace(0.3, 3, 50)
    engine = PySREngine()
    front = engine.search(r[:, None], 39.478 / r**2, ["N"], 4, Budget())
    assert engine.versions == {"julia": "1.11.9"}
    assert str(front[-1].expression.free_symbols) == "{N}"
    assert front[-1].loss < 1e-20
    assert all(c.engine == "pysr" and c.seed == 4 for c in front)


def test_seeds_share_processes_and_the_time_that_is_left(monkeypatch):
    jobs = []

    def fake(job, seconds):
        searches = json.loads((job / "job.json").read_text())
        jobs.append([each["new"]["random_state"] for each in searches])
        for each in searches:
            assert each["new"]["timeout_in_seconds"] <= 60.0 / len(searches)
            assert (job / each["data"]).is_file()
            if each["new"]["random_state"] == 5:
                continue  # the process was ended before this one
            (job / each["new"]["run_id"]).mkdir()
            (job / each["new"]["run_id"] / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        return "no answer"

    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    r = np.linspace(0.3, 3, 50)
    budget = Budget(watch=Watch(60.0))
    fronts = PySREngine().search_all(r[:, None], r**-2, ["r"], [3, 4, 5], budget, jobs=2)
    assert sorted(jobs) == [[3, 5], [4]]
    assert [front[0].seed for front in fronts] == [3, 4]


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
        written.update(json.loads((job / "job.json").read_text())[0])
        (job / "search-0").mkdir()
        (job / "search-0" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        return ""

    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    engine = PySREngine(Question(guesses=("k/r**2",), units={"r": "m^1", TARGET: "m^1*s^-2"}))
    r = np.linspace(0.3, 3, 50)
    engine.search(r[:, None], 39.478 / r**2, ["r"], 4, Budget())
    assert written["new"]["guesses"] == ["(1.0 / (x0 ^ (2.0)))"]
    assert written["fit"]["X_units"] == ["m^1"]
    assert written["fit"]["y_units"] == "m^1*s^-2"


ARITHMETIC = Question(("+", "*", "inv", "square", "exp"))


@pytest.mark.parametrize(
    ("guess", "question"),
    [
        ("-x", Question()),
        ("-2*pi*x/y**2", Question()),
        ("a - b*x**1.5 - sqrt(y)", Question()),
        ("exp(-x**2/2)/y - 3", Question()),
        ("-x**4/y**2 + exp(-y)", ARITHMETIC),
        ("1/(x + 1) + 6.6e-34*y", ARITHMETIC),
    ],
)
def test_a_guess_is_rewritten_to_what_pysr_reads(guess, question):
    written = guess_for_pysr(guess, {"x": "x0", "y": "x1"}, question)
    tree = ast.parse(written.replace("^", "**"), mode="eval")
    for node in ast.walk(tree):
        # a minus before a number is the number's own, in Julia's grammar too
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.operand, ast.Constant)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names <= {"x0", "x1", "exp", "log", "sqrt", "inv", "square"}
    mathematics = {"inv": lambda u: 1 / u, "square": lambda u: u * u}
    mathematics |= {"exp": np.exp, "log": np.log, "sqrt": np.sqrt}
    here = parse_expression(guess)
    for x, y in ((0.7, 1.9), (2.2, 0.4)):
        values = {"x": x, "y": y, "a": 1.0, "b": 1.0}
        expected = float(here.subs({s: values[s.name] for s in here.free_symbols}))
        code = compile(tree, "guess", "eval")
        # rounding of a few float64 operations
        assert eval(code, mathematics | {"x0": x, "x1": y}) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("guess", "question", "missing"),
    [
        ("sin(r)", Question(), "sin"),
        ("r**0.5", ARITHMETIC, r"\^"),
        ("tanh(r) + 1", Question(("+", "*", "exp")), "tanh"),
        ("1/r", Question(("+", "*")), r"\^"),
    ],
)
def test_a_guess_with_an_operator_outside_the_search_is_refused_at_once(guess, question, missing):
    guesses = Question(question.operators, guesses=(guess,))
    with pytest.raises(ValueError, match=f"it needs {missing}, and the search has.*--operators"):
        PySREngine(guesses)


@pytest.mark.parametrize("size", [3, 6])
def test_a_size_that_pysr_does_not_take_is_refused_before_it_starts(size, monkeypatch):
    monkeypatch.setattr(adapter, "run_in_own_process", lambda *_: pytest.fail("it was started"))
    r = np.linspace(0.3, 3, 50)
    with pytest.raises(ValueError, match=rf"--max-size {size} is too small.*takes 7"):
        PySREngine().search(r[:, None], r**2, ["r"], 0, Budget(max_size=size))


JULIA_SAID = """Traceback (most recent call last):
  File "sr.py", line 2780, in _run
    out = jl.equation_search(X, y)
juliacall.JuliaError: Unrecognized operator: `foo` in the guess.
It is not in the options.
Stacktrace:
 [1] error(s::String)
   @ Base ./error.jl:35
 [2] top-level scope
   @ none:1
"""


@pytest.mark.parametrize(
    ("said", "first"),
    [
        (JULIA_SAID, "Unrecognized operator: `foo` in the guess."),
        (
            "juliacall.JuliaError: TaskFailedException\n\n    nested task error: out of memory\n"
            "    Stacktrace:\n     [1] f()\n",
            "out of memory",
        ),
        ("ERROR: LoadError: no package X\nStacktrace:\n [1] f()", "LoadError: no package X"),
        (
            "Traceback (most recent call last):\n  File 'a.py', line 1\n"
            "ValueError: maxsize must be at least 7",
            "ValueError: maxsize must be at least 7",
        ),
        ("Killed", "Killed"),
        ("", ""),
    ],
)
def test_the_message_is_told_and_not_the_stack_trace(said, first):
    assert first_of_message(said) == first


def process_of(tmp_path, monkeypatch, script):
    """A stand-in for Python that runs a shell script; `$4` is the job's folder."""
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(adapter.sys, "executable", str(fake))


def test_a_failure_of_julia_is_one_plain_line(tmp_path, monkeypatch):
    (tmp_path / "said").write_text(JULIA_SAID)
    process_of(tmp_path, monkeypatch, f"cat {tmp_path}/said >&2; exit 1")
    r = np.linspace(0.3, 3, 50)
    with pytest.raises(ValueError, match=r"^PySR found nothing: Unrecognized operator: `foo`"):
        PySREngine().search(r[:, None], r**2, ["r"], 0, Budget())


def test_pysrs_own_names_are_the_features_in_their_order(tmp_path):
    path = tmp_path / "hall_of_fame.csv"
    path.write_text('Complexity,Loss,Equation\n3,1,"x0 / x1"\n')
    (formula,) = read_hall_of_fame(path, ["r", "m"])
    assert str(formula) == "r/m"
    path.write_text('Complexity,Loss,Equation\n3,1,"m * 2.0"\n')
    (formula,) = read_hall_of_fame(path, ["r", "m"])
    assert {s.name for s in formula.free_symbols} == {"m"}
    # x1 before x0: both are names of columns here, and stay what they are
    path.write_text('Complexity,Loss,Equation\n3,1,"x0 / x1"\n')
    assert str(read_hall_of_fame(path, ["x1", "x0"])[0]) == "x0/x1"
    with pytest.raises(ValueError, match=r"has x1, and the features are r: .*another table"):
        read_hall_of_fame(path, ["r"])


def test_a_formula_that_we_do_not_take_is_left_out_with_a_note(tmp_path):
    path = tmp_path / "hall_of_fame.csv"
    path.write_text('Complexity,Loss,Equation\n3,1,"x0 ^ -157.9"\n5,1,"x0 * 2.0"\n')
    with pytest.warns(UserWarning, match=r"1 of 2 formulas of PySR are left out.*x0 \^ -157.9"):
        (formula,) = read_hall_of_fame(path)
    assert str(formula) == "2.0*x0"


FRONT = "mkdir -p $4/search-0; printf '%s' \"$FRONT\" > $4/search-0/hall_of_fame.csv"


def alive(number):
    """Whether a process is there and no zombie."""
    stat = Path(f"/proc/{number}/stat")
    try:
        return stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def ended(number, seconds=10.0):
    """Whether a process ends within some time."""
    until = time.monotonic() + seconds
    while alive(number) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(number)


def test_an_interrupted_search_keeps_its_front_and_says_where(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FRONT", HALL_OF_FAME)
    monkeypatch.setattr(adapter.tempfile, "tempdir", str(tmp_path))
    process_of(tmp_path, monkeypatch, f"{FRONT}; echo $$ > {tmp_path}/pid; sleep 60")

    def interrupt(process, timeout):
        while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text().strip():
            time.sleep(0.02)
        raise KeyboardInterrupt

    monkeypatch.setattr(adapter.subprocess.Popen, "communicate", interrupt)
    r = np.linspace(0.3, 3, 50)
    with pytest.raises(KeyboardInterrupt):
        PySREngine().search(r[:, None], r**2, ["r"], 7, Budget())
    said = capsys.readouterr().err
    assert "seed 7 was interrupted" in said
    path = Path(said.rsplit("--guesses ", 1)[1].strip())
    assert path.is_relative_to(tmp_path)
    assert len(read_hall_of_fame(path)) == 4
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_search_that_wrote_nothing_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "jobs").mkdir()
    monkeypatch.setattr(adapter.tempfile, "tempdir", str(tmp_path / "jobs"))
    process_of(tmp_path, monkeypatch, "exit 3")
    r = np.linspace(0.3, 3, 50)
    with pytest.raises(ValueError, match="exit code 3"):
        PySREngine().search(r[:, None], r**2, ["r"], 7, Budget())
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_late_writer_does_not_end_the_search(tmp_path, monkeypatch):
    # rmtree meets a folder that fills again while it is removed
    def fake(job, seconds):
        (job / "search-0").mkdir()
        (job / "search-0" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        return ""

    def busy(path, *rest, **options):
        raise OSError(39, "Directory not empty", str(path))

    monkeypatch.setattr(adapter.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(adapter, "run_in_own_process", fake)
    monkeypatch.setattr(os, "rmdir", busy)
    r = np.linspace(0.3, 3, 50)
    assert PySREngine().search(r[:, None], 39.478 / r**2, ["r"], 4, Budget())[-1].loss < 1e-20


TWO_SEARCHES = """
import sys, threading
import numpy as np
from orbits.command_line import interruptible
from symreg.engines import pysr as adapter
adapter.sys.executable = sys.argv[1]
r = np.linspace(0.3, 3, 50)
engine = adapter.PySREngine()
with interruptible():
    engine.search_all(r[:, None], r**2, ["r"], [0, 1], adapter.Budget(), jobs=2)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_two_searches_end_with_the_command_and_their_fronts_stay(tmp_path, monkeypatch, number):
    process_of(tmp_path, monkeypatch, f"{FRONT}; echo $$ > {tmp_path}/$$.pid; sleep 60")
    parent = subprocess.Popen(
        [PYTHON, "-c", TWO_SEARCHES, str(tmp_path / "python")],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"FRONT": HALL_OF_FAME, "TMPDIR": str(tmp_path)},
    )
    children = pids(tmp_path, 2)
    parent.send_signal(number)
    _, said = parent.communicate(timeout=30)
    assert [ended(child) for child in children] == [True, True]
    paths = [line.rsplit("--guesses ", 1)[1] for line in said.splitlines() if "--guesses" in line]
    assert len(paths) == 2
    assert all(len(read_hall_of_fame(Path(path))) == 4 for path in paths)


PYTHON = sys.executable
"""The real one: tests put another in its place."""


def pids(folder, count, seconds=30.0):
    """Numbers of processes that have written them into a folder."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found = [path.read_text().strip() for path in folder.glob("*.pid")]
        if len(found) == count and all(found):
            return [int(each) for each in found]
        time.sleep(0.05)
    pytest.fail("the processes did not start")


# A process that never comes back to Python's interpreter loop, as one inside Julia does not.
DEAF = """
import os, sys, ctypes
from symreg.engines.parent import die_with_parent
die_with_parent()
open(os.path.join(sys.argv[1], f"{os.getpid()}.pid"), "w").write(str(os.getpid()))
ctypes.PyDLL(None).sleep(60)  # holds the interpreter's lock
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux's own")
def test_a_process_inside_julia_dies_with_its_killed_parent(tmp_path):
    code = (
        "import os, subprocess, sys; from symreg.engines.parent import as_parent;"
        "subprocess.run([sys.executable, '-c', *sys.argv[1:]], env=os.environ | as_parent())"
    )
    parent = subprocess.Popen([PYTHON, "-c", code, DEAF, str(tmp_path)])
    (child,) = pids(tmp_path, 1)
    assert alive(child)
    parent.kill()
    parent.wait()
    assert ended(child)


def test_the_process_of_a_search_is_told_its_parent(tmp_path, monkeypatch):
    process_of(tmp_path, monkeypatch, "echo $PRINCIPIA_PARENT >&2")
    assert adapter.run_in_own_process(tmp_path, 10.0) == as_parent()["PRINCIPIA_PARENT"]


@pytest.fixture
def julia(tmp_path, monkeypatch):
    """A folder with a Julia of its own and a project that has what PySR needs."""
    for name in ("PYTHON_JULIACALL_EXE", "PYTHON_JULIACALL_PROJECT", "PYTHON_JULIAPKG_EXE",
                 "PYTHON_JULIAPKG_PROJECT"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(adapter, "installed", lambda package: "2.0.0")
    (tmp_path / "Manifest.toml").write_text("[[deps.SymbolicRegression]]\n")
    (tmp_path / "julia").write_text("#!/bin/sh\n")
    (tmp_path / "julia").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("package", ["JULIACALL", "JULIAPKG"])
def test_a_chosen_julia_and_project_are_honoured(julia, monkeypatch, package):
    monkeypatch.setenv(f"PYTHON_{package}_EXE", str(julia / "julia"))
    monkeypatch.setenv(f"PYTHON_{package}_PROJECT", str(julia))
    found = PySREngine.availability()
    assert found.available, found.reason
    assert str(julia / "julia") in found.reason
    (julia / "Manifest.toml").write_text("[[deps.Other]]\n")
    assert not PySREngine.availability().available


def test_juliacall_wants_both_or_neither(julia, monkeypatch):
    monkeypatch.setenv("PYTHON_JULIACALL_EXE", str(julia / "julia"))
    found = PySREngine.availability()
    assert not found.available
    assert "only one of PYTHON_JULIACALL_EXE and PYTHON_JULIACALL_PROJECT" in found.reason


def test_a_pysr_without_guesses_is_too_old(monkeypatch):
    monkeypatch.setattr(adapter, "installed", lambda package: "1.5.9")
    found = PySREngine.availability()
    assert not found.available
    assert "1.5.9" in found.reason
    assert "2.0 or later" in found.reason


def test_a_hall_of_fame_of_pysrs_names_goes_on_from_the_features(tmp_path):
    path = tmp_path / "hall_of_fame.csv"
    path.write_text('Complexity,Loss,Equation\n5,1,"2.0 * x1 * exp(x0 ^ 0.3)"\n')
    a, b = np.random.default_rng(0).uniform(1, 3, (2, 60))
    table = pd.DataFrame({"y": 3 * b * np.exp(a**0.3), "a": a, "b": b})
    options = {"target": "y", "features": "a,b", "engine": "projection", "null": False, "seeds": 1}
    found = recover(table, guesses=str(path), **options)
    # 1e-6: a table without noise, a fit that stops at 1e-9
    assert np.max(np.abs(found.predict(table) / table.y - 1)) < 1e-6
    path.write_text('Complexity,Loss,Equation\n5,1,"x2 * x0"\n')
    with pytest.raises(ValueError, match="has x2, and the features are a, b"):
        recover(table, guesses=str(path), **options)
