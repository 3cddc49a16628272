"""PySR's adapter, held against PySR itself without Julia."""

import ast
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
from symreg.cli import main
from symreg.engines import choose_engine, portfolio
from symreg.engines import pysr as adapter
from symreg.engines.base import Availability, Budget, Evolution, Question
from symreg.engines.installing import install_julia
from symreg.engines.portfolio import PortfolioEngine
from symreg.engines.pysr import PySREngine, constructor_arguments, guess_for_pysr, read_hall_of_fame
from symreg.formulas.watch import Watch

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


def run_python(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *arguments],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.needs("pysr")
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


@pytest.mark.needs("pysr")
@pytest.mark.parametrize("published", [False, True])
def test_pysr_accepts_the_arguments(tmp_path, published):
    operators = ("+", "*", "inv", "sin", "cos", "exp")
    space = Question(operators) if published else Question()
    arguments = constructor_arguments(1, tmp_path, True, space)
    code = WITHOUT_JULIA + textwrap.dedent("""
        import json, warnings
        from pysr import PySRRegressor
        warnings.simplefilter("error")
        print(PySRRegressor(**json.loads(sys.argv[1])).random_state)
    """)
    assert run_python(code, json.dumps(arguments)).split()[-1] == "1"


def test_the_engine_returns_the_front_that_the_process_left(monkeypatch):
    def fake(process):
        job = process.job
        (job / "search-0").mkdir()
        (job / "search-0" / "hall_of_fame.csv").write_text(HALL_OF_FAME)
        assert json.loads((job / "job.json").read_text())[0]["fit"]["variable_names"] == ["x0"]
        (job / "versions.json").write_text('{"julia": "1.11.9"}')

    monkeypatch.setattr(adapter.SearchProcess, "start", fake)
    monkeypatch.setattr(adapter.SearchProcess, "wait", lambda process, until, tell: "")
    r = np.linspace(0.3, 3, 50)
    engine = PySREngine()
    front = engine.search(r[:, None], 39.478 / r**2, ["N"], 4, Budget())
    assert engine.versions == {"julia": "1.11.9"}
    assert str(front[-1].expression.free_symbols) == "{N}"
    assert front[-1].loss < 1e-20
    assert all(c.engine == "pysr" and c.seed == 4 for c in front)


def test_pysr_asked_for_without_julia_says_what_is_missing():
    if PySREngine.availability().available:
        pytest.skip("Julia with SymbolicRegression.jl is here")
    with pytest.raises(ValueError, match=r"cannot run: .*(Julia|pysr).*To get it: .*--engine auto"):
        choose_engine("pysr")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise OSError('urlopen: URLError: no route')", r"there is no network: .*URLError"),
        ("raise OSError('the disk is full')", r"could not be installed: OSError: the disk is full"),
    ],
)
def test_julia_that_cannot_be_had_is_one_line(code, message):
    told = []
    with pytest.raises(ValueError, match=message) as error:
        install_julia(told.append, f"print('[juliapkg] looking'); {code}")
    assert "\n" not in str(error.value)
    assert told == ["[juliapkg] looking"]  # progress, but no traceback


def test_engines_installs_what_is_missing_and_then_lists(monkeypatch, capsys):
    here = []
    monkeypatch.setattr("symreg.engines.installing.install_julia", lambda tell: here.append(1))
    for name, left in (("available", 0), ("missing", 1)):
        state = Availability(name == "available", name)
        monkeypatch.setattr(PySREngine, "availability", classmethod(lambda cls, s=state: s))
        assert main(["engines", "--install", "pysr"]) == 0
        assert len(here) == left
        assert f"{'yes' if left == 0 else 'no'}: {name}" in capsys.readouterr().out
    assert main(["engines", "--install", "operon"]) == 2
    assert "'pysr'" in capsys.readouterr().err


@pytest.mark.julia
def test_pysr_finds_the_inverse_square():
    if not PySREngine.availability().available:
        pytest.skip(PySREngine.availability().reason)
    r = np.linspace(0.3, 3, 100)
    front = PySREngine(Question(evolution=Evolution(niterations=5))).search(
        r[:, None], 39.478 / r**2, ["r"], 0, Budget()
    )
    assert min(c.loss for c in front) < 1e-6


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
        ("r**0.5", ARITHMETIC, "sqrt"),
        ("tanh(r) + 1", Question(("+", "*", "exp")), "tanh"),
        ("1/r", Question(("+", "*")), "/"),
    ],
)
def test_a_guess_with_an_operator_outside_the_search_is_refused_at_once(guess, question, missing):
    with pytest.raises(ValueError, match=f"needs {missing}, and the search has.*--operators"):
        PySREngine(Question(question.operators, guesses=(guess,)))


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


def test_a_failure_of_pysr_leaves_what_other_engines_found(tmp_path, monkeypatch):
    process_of(tmp_path, monkeypatch, "echo 'ERROR: no such thing' >&2; exit 1")
    there = classmethod(lambda cls: Availability(True, "here"))
    monkeypatch.setattr(PySREngine, "availability", there)
    for name in ("explains_all", "is_final"):
        monkeypatch.setattr(portfolio, name, lambda *_: False)
    said = []
    r = np.linspace(0.3, 3, 50)
    budget = Budget(watch=Watch(300.0, said.append))
    (front,) = PortfolioEngine().search_all(r[:, None], 5 * r**2, ["r"], [0], budget)
    assert front
    assert {c.engine for c in front} <= {
        "algebraic", "expressions", "chains", "projection", "rational"
    }  # fmt: skip
    assert said[-1].startswith("PySR found nothing: no such thing.")


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


TWO_SEARCHES = """
import sys, threading
import numpy as np
from orbits.command_line import interruptible
from symreg.engines import portfolio
from symreg.engines import pysr as adapter
adapter.sys.executable = sys.argv[1]
r = np.linspace(0.3, 3, 50)
engine = adapter.PySREngine()
with interruptible():
    engine.search_all(r[:, None], r**2, ["r"], [0, 1], adapter.Budget(), jobs=2)
"""


@pytest.mark.needs("pysr")
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
from symreg.engines.pysr_process import die_with
die_with(os.getppid())
open(os.path.join(sys.argv[1], f"{os.getpid()}.pid"), "w").write(str(os.getpid()))
ctypes.PyDLL(None).sleep(60)  # holds the interpreter's lock
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the death signal is Linux's own")
def test_a_process_inside_julia_dies_with_its_killed_parent(tmp_path):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', *sys.argv[1:]])"
    parent = subprocess.Popen([PYTHON, "-c", code, DEAF, str(tmp_path)])
    (child,) = pids(tmp_path, 1)
    assert alive(child)
    parent.kill()
    parent.wait()
    assert ended(child)
