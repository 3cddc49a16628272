"""PySR: genetic programming in Julia, the engine of choice where Julia is installed.

Importing PySR starts Julia, and where Julia is missing downloads it; that can take minutes, or for
ever behind a silent proxy. So only files are looked at to see whether it can run: the Julia that
juliapkg would take, and a project of its that has resolved SymbolicRegression.

It runs in a process of its own (Julia and PyTorch in one process crash), with a time limit; the
hall of fame that it keeps on disk is read back afterwards, so a search that ran out of time or
was interrupted still yields the front it had.

Source: Cranmer, Interpretable Machine Learning for Science with PySR, arXiv:2305.01582 (v3).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import sympy

from orbits.expressions import MAX_LENGTH, parse_expression
from orbits.records.files import require_input
from symreg.engines.base import (
    L1,
    TARGET,
    Availability,
    Budget,
    Candidate,
    Engine,
    Question,
    installed,
    pareto_front,
)
from symreg.formulas.expressions import feature_symbols, normal_form, with_floats

RUN_ID = "search"
HALL_OF_FAME = "hall_of_fame.csv"
BINARY_OPERATORS = ("+", "-", "*", "/", "^")
UNARY_OPERATORS = ("exp", "log", "sqrt")
SYMBOLIC_REGRESSION = "SymbolicRegression"
GET_PYSR = "pip install 'principia[pysr]'"
GET_JULIA = "python -c 'import pysr' (once, with a network: it installs Julia and its packages)"
GRACE_SECONDS = 60.0
"""Beyond the search's own limit: Julia starts and compiles first."""


class PySREngine(Engine):
    """PySR in a process of its own; deterministic by seed."""

    name: ClassVar[str] = "pysr"
    restrictable: ClassVar[bool] = True

    @classmethod
    def availability(cls) -> Availability:
        found = installed("pysr")
        if found is None:
            return Availability(False, "the package pysr is not installed", GET_PYSR)
        project = julia_project()
        julia = julia_executable(project)
        if julia is None:
            reason = f"pysr {found} is installed, but no Julia was found"
            return Availability(False, reason, GET_JULIA)
        manifests = sorted(project.glob("Manifest*.toml"))
        if not any(SYMBOLIC_REGRESSION in p.read_text(errors="replace") for p in manifests):
            reason = (
                f"pysr {found} and {julia} are there, but {SYMBOLIC_REGRESSION}.jl is not "
                f"installed in {project}"
            )
            return Availability(False, reason, GET_JULIA)
        return Availability(True, f"pysr {found}, {julia}, {SYMBOLIC_REGRESSION}.jl")

    def search(
        self, X: np.ndarray, y: np.ndarray, names: Sequence[str], seed: int, budget: Budget
    ) -> list[Candidate]:
        """One search; see the contract in `symreg.engines.base`.

        Raises:
            ValueError: if the process fails before it has found anything (its last words).
        """
        rng = np.random.default_rng(seed)
        chosen = rng.choice(len(y), min(budget.rows, len(y)), replace=False)
        with tempfile.TemporaryDirectory(prefix="symreg-pysr-") as folder:
            job = Path(folder)
            safe = [f"x{i}" for i in range(len(names))]
            np.savez(job / "data.npz", X=X[chosen], y=y[chosen])
            positive = bool(np.all(y > 0))
            arguments = constructor_arguments(seed, budget, job, positive, self.question)
            if self.question.guesses:
                arguments["guesses"] = [_renamed(g, names, safe) for g in self.question.guesses]
            fit_arguments: dict[str, Any] = {"variable_names": safe}
            if self.question.units:
                arguments["dimensional_constraint_penalty"] = 1e5
                fit_arguments["X_units"] = [self.question.units.get(name, "") for name in names]
                fit_arguments["y_units"] = self.question.units.get(TARGET, "")
            (job / "job.json").write_text(json.dumps({"new": arguments, "fit": fit_arguments}))
            said = run_in_own_process(job, budget.seconds)
            path = job / RUN_ID / HALL_OF_FAME
            if not path.is_file() and not path.with_suffix(".csv.bak").is_file():
                raise ValueError(f"PySR found nothing: {said}")
            by_name = dict(zip(safe, feature_symbols(names, X), strict=True))
            expressions = [
                normal_form(e.xreplace({s: by_name[s.name] for s in e.free_symbols}))
                for e in read_hall_of_fame(path)
            ]
        return pareto_front(expressions, X, y, names, seed, self.name, self.question.loss)


def constructor_arguments(
    seed: int, budget: Budget, folder: Path, positive: bool, question: Question
) -> dict[str, Any]:
    """Keyword arguments of `PySRRegressor`: one serial search that the seed decides.

    Functions are not nested, unless the operators are given: then any formula of them is allowed.
    """
    operators = question.operators or (*BINARY_OPERATORS, *UNARY_OPERATORS)
    binary = [operator for operator in operators if operator in BINARY_OPERATORS]
    unary = [operator for operator in operators if operator not in BINARY_OPERATORS]
    # relative errors, as everywhere here; a positive law must stay positive
    loss = "loss(p, y) = (p - y)^2"
    if question.loss == L1:
        loss = "L1DistLoss()"
    elif positive:
        loss = "loss(p, y) = p > 0 ? (log(p) - log(y))^2 : (log(y) - p / y)^2 + 100"
    return {
        "binary_operators": binary,
        "unary_operators": unary,
        "constraints": {"^": (-1, 1)} if "^" in binary else {},
        "nested_constraints": (
            {} if question.operators else {outer: dict.fromkeys(unary, 0) for outer in unary}
        ),
        "elementwise_loss": loss,
        "niterations": budget.generations,
        "population_size": 27,
        "populations": max(2, budget.individuals // 27),
        "maxsize": budget.max_size,
        "batching": False,
        "precision": 64,
        "timeout_in_seconds": budget.seconds,
        "random_state": seed,
        "deterministic": True,
        "parallelism": "serial",
        "verbosity": 0,
        "progress": False,
        "input_stream": "devnull",
        "output_directory": str(folder),
        "run_id": RUN_ID,
        "temp_equation_file": False,
    }


def run_in_own_process(job: Path, seconds: float) -> str:
    """Run a search; kill it, with its children, when it is over time or this process is.

    Returns:
        The last line it wrote to stderr.
    """
    environment = os.environ | {
        "PYTHON_JULIAPKG_OFFLINE": "yes",
        # JULIA_NUM_THREADS has no effect on a Julia that juliacall starts
        "PYTHON_JULIACALL_THREADS": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "symreg.engines.pysr_process", str(job)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(timeout=seconds + GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        said = f"no answer within {seconds + GRACE_SECONDS:g} s"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return (said.strip().splitlines() or [f"exit code {process.returncode}"])[-1]


def read_hall_of_fame(path: Path) -> list[sympy.Expr]:
    """The formulas of a `hall_of_fame.csv`, read without PySR and without Julia.

    PySR writes the file and a copy (`.bak`), one after the other; a search that was killed while
    it wrote leaves one of them whole.

    Args:
        path: the file, with columns Complexity, Loss, Equation.

    Raises:
        ValueError: if neither file is one.
    """
    for place in (path.with_suffix(".csv.bak"), path):
        try:
            equations = pd.read_csv(require_input(place))["Equation"]
        except (OSError, KeyError, ValueError):
            continue
        # Julia writes a float32 as 1.5f-3
        texts = [re.sub(r"(?<=[\d.])f(?=[-+]?\d)", "e", str(text)) for text in equations]
        return [formula for text in texts if (formula := _readable(text)) is not None]
    raise ValueError(f"{path} is not a hall of fame that PySR wrote.")


def _readable(text: str) -> sympy.Expr | None:
    """The formula, or None where it is none that we take: an exponent like -157.9, say."""
    if len(text) > MAX_LENGTH:
        return None
    try:
        return with_floats(parse_expression(_plain(text)))
    except ValueError:
        return None


def _plain(text: str) -> str:
    """A formula with PySR's own `inv(...)` and `square(...)` written as powers."""
    found = re.search(r"\b(inv|square)\(", text)
    if found is None:
        return text
    depth, end = 1, found.end()
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    power = {"inv": -1, "square": 2}[found[1]]
    inner = f"(({text[found.end() : end - 1]})^({power}))"
    return _plain(text[: found.start()] + inner + text[end:])


def _renamed(formula: str, names: Sequence[str], safe: Sequence[str]) -> str:
    expression = parse_expression(formula)
    expression = expression.xreplace(
        {s: sympy.Float(1) for s in expression.free_symbols if s.name not in names}
    )
    renamed = {
        s: sympy.Symbol(safe[list(names).index(s.name)], positive=True)
        for s in expression.free_symbols
    }
    return str(expression.xreplace(renamed)).replace("**", "^")


def julia_project() -> Path:
    """The Julia project that juliapkg uses for this Python (its own rules, without importing it).

    Source: juliapkg 0.1, state.py, `reset_state`.
    """
    if chosen := os.environ.get("PYTHON_JULIAPKG_PROJECT"):
        return Path(chosen)
    prefix = sys.prefix if sys.prefix != sys.base_prefix else os.environ.get("CONDA_PREFIX")
    if prefix:
        return Path(prefix) / "julia_env"
    depot = os.environ.get("JULIA_DEPOT_PATH", "").split(os.pathsep)[0]
    return (Path(depot) if depot else Path.home() / ".julia") / "environments" / "pyjuliapkg"


def julia_executable(project: Path) -> Path | None:
    """The Julia that juliapkg would take: chosen, in the project, or on the path."""
    chosen = os.environ.get("PYTHON_JULIAPKG_EXE")
    if chosen:
        return Path(chosen) if shutil.which(chosen) else None
    own = project / "pyjuliapkg" / "install" / "bin" / "julia"
    if os.access(own, os.X_OK):
        return own
    on_path = shutil.which("julia")
    return Path(on_path) if on_path else None
