"""PySR: genetic programming in Julia, the engine of choice where Julia is installed.

Importing PySR starts Julia, or downloads it if missing; that can take minutes, or for ever behind a
silent proxy. So only files are checked to see whether it can run: the Julia that juliapkg would
take, and a project of it that has resolved SymbolicRegression.

It runs in a process of its own (Julia and PyTorch in one process crash), with a time limit; its
hall of fame on disk is read back afterwards, so a search that ran out of time still yields its
front. The fronts of an interrupted one stay on disk, and a message says where.

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
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import sympy

from orbits.expressions import OWN, SHOWN, parse_expression, syntax_of
from orbits.files import require_input
from symreg.engines.base import (
    TARGET,
    Availability,
    Budget,
    Candidate,
    Engine,
    Question,
    installed,
    pareto_front,
    tell_best,
)
from symreg.engines.pysr_process import VERSIONS
from symreg.formulas.expressions import feature_symbols, normal_form, symbol, with_floats
from symreg.formulas.julia import UnwritableError, written_for_julia
from symreg.formulas.watch import EVERY

JULIACALL_EXE, JULIACALL_PROJECT = "PYTHON_JULIACALL_EXE", "PYTHON_JULIACALL_PROJECT"
HALL_OF_FAME = "hall_of_fame.csv"
SAID = "stderr.txt"
BINARY_OPERATORS = ("+", "-", "*", "/", "^")
UNARY_OPERATORS = ("exp", "log", "sqrt")
SYMBOLIC_REGRESSION = "SymbolicRegression"
GET_PYSR = "pip install 'pysr>=2'"
GET_JULIA = "symreg engines --install pysr (once, with a network)"
GRACE_SECONDS = 300.0
"""Beyond the search's own limit, which does not count them: Julia starts and compiles, 20 s on an
idle machine and many times that on a busy one."""
NO_NUMBERS = {"Inf", "NaN"}
"""As Julia writes them."""


class PySREngine(Engine):
    """PySR in its own process; fixed by the seed."""

    name: ClassVar[str] = "pysr"

    def __init__(self, question: Question | None = None) -> None:
        """Refuse guesses with an operator that the search lacks, before Julia is started."""
        super().__init__(question)
        for guess in self.question.guesses:
            guess_for_pysr(guess, {}, self.question)

    @classmethod
    def availability(cls) -> Availability:
        version = installed("pysr")
        if version is None:
            return Availability(False, "the package pysr is not installed", GET_PYSR)
        if int(version.split(".")[0]) < 2:
            reason = f"pysr {version} is installed, and 2.0 or later is needed"
            return Availability(False, reason, GET_PYSR)
        if bool(os.environ.get(JULIACALL_EXE)) != bool(os.environ.get(JULIACALL_PROJECT)):
            reason = f"only one of {JULIACALL_EXE} and {JULIACALL_PROJECT} is set"
            return Availability(False, reason, "set both, or neither")
        project = julia_project()
        julia = julia_executable(project)
        if julia is None:
            reason = f"pysr {version} is installed, but no Julia was found"
            return Availability(False, reason, GET_JULIA)
        manifests = sorted(project.glob("Manifest*.toml"))
        if not any(SYMBOLIC_REGRESSION in p.read_text(errors="replace") for p in manifests):
            reason = (
                f"pysr {version} and {julia} are there, but {SYMBOLIC_REGRESSION}.jl is not "
                f"installed in {project}"
            )
            return Availability(False, reason, GET_JULIA)
        return Availability(True, f"pysr {version}, {julia}, {SYMBOLIC_REGRESSION}.jl")

    def search_all(
        self,
        X: np.ndarray,
        y: np.ndarray,
        names: Sequence[str],
        seeds: Sequence[int],
        budget: Budget,
        jobs: int = 1,
    ) -> list[list[Candidate]]:
        """All seeds in as many processes as there are jobs: Julia takes half a minute to start.

        Raises:
            ValueError: if no seed has found anything (with Julia's message).
        """
        shares = [seeds[place::jobs] for place in range(min(jobs, len(seeds)))]
        seconds = budget.watch.left
        processes: list[SearchProcess] = []
        try:
            for share in shares:
                job = Path(tempfile.mkdtemp(prefix="symreg-pysr-"))
                processes.append(SearchProcess(job, share))
                self._write(job, X, y, names, share, budget, seconds)
                processes[-1].start()
            until, told = time.monotonic() + seconds + GRACE_SECONDS, ""
            searches = sum(len(each.seeds) for each in processes)

            def tell() -> None:
                nonlocal told
                now = "PySR: Julia starts and compiles, which does not count against the time limit"
                if any(process.searched for process in processes):
                    begun = sum(len(process.halls) for process in processes)
                    now = f"PySR: search {max(1, begun)} of {searches}"
                if now != told:
                    told = now
                    budget.watch.say(lambda: now, at_once=True)

            outcomes = [process.wait(until, tell) for process in processes]
            budget.watch.spend(max((process.searched for process in processes), default=0.0))
            _ = budget.watch.over  # a search that it ended is noted
            fronts = {s: f for each in processes for s, f in self._fronts(each, X, y, names)}
        except KeyboardInterrupt:
            while processes:
                processes.pop().leave_fronts()
            raise
        finally:
            for process in processes:
                process.end()
                shutil.rmtree(process.job, ignore_errors=True)
        for front in fronts.values():
            tell_best(budget.watch, front)
        if not fronts:
            raise ValueError(f"PySR found nothing: {outcomes[0]}")
        return [fronts[seed] for seed in seeds if seed in fronts]

    def _write(
        self, job: Path, X: np.ndarray, y: np.ndarray, names: Sequence[str], seeds: Sequence[int],
        budget: Budget, seconds: float,
    ) -> None:  # fmt: skip
        """A process's instructions: some seeds, one after another."""
        searches, safe, question = [], _safe(names), self.question
        renamed = dict(zip(names, safe, strict=True))
        instructions: dict[str, Any] = {"variable_names": safe}
        if question.units:
            instructions["X_units"] = [question.units.get(name, "") for name in names]
            instructions["y_units"] = question.units.get(TARGET, "")
        for place, seed in enumerate(seeds):
            rng = np.random.default_rng(seed)
            chosen = rng.choice(len(y), min(budget.rows, len(y)), replace=False)
            np.savez(job / f"{run_id(place)}.npz", X=X[chosen], y=y[chosen])
            new = constructor_arguments(
                seed, job, bool(np.all(y > 0)), question, place, seconds / len(seeds)
            )
            if question.guesses:
                new["guesses"] = [guess_for_pysr(g, renamed, question) for g in question.guesses]
            if question.units:
                new["dimensional_constraint_penalty"] = 1e5
            searches.append({"data": f"{run_id(place)}.npz", "new": new, "fit": instructions})
        (job / "job.json").write_text(json.dumps(searches))

    def _fronts(
        self, process: "SearchProcess", X: np.ndarray, y: np.ndarray, names: Sequence[str]
    ) -> Iterator[tuple[int, list[Candidate]]]:
        """The seeds that found anything, and what."""
        with suppress(OSError, ValueError):
            self.versions |= json.loads((process.job / VERSIONS).read_text())
        by_name = dict(zip(_safe(names), feature_symbols(names, X), strict=True))
        for seed, path in process.halls.items():
            expressions = [
                normal_form(e.xreplace({s: by_name[s.name] for s in e.free_symbols}))
                for e in read_hall_of_fame(path, _safe(names))
            ]
            front = pareto_front(expressions, X, y, names, seed, self.name, self.question)
            yield seed, front


def _safe(names: Sequence[str]) -> list[str]:
    """Feature names safe in Julia: x0, x1, ..."""
    return [f"x{i}" for i in range(len(names))]


def run_id(place: int) -> str:
    """Name of a process's first, second, ... search, and of the folder that PySR writes for it."""
    return f"search-{place}"


class SearchProcess:
    """A process that searches some seeds, one after another, in its own folder."""

    def __init__(self, job: Path, seeds: Sequence[int]) -> None:
        self.job, self.seeds = job, seeds
        self.process: subprocess.Popen | None = None

    @property
    def halls(self) -> dict[int, Path]:
        """Halls of fame by seed, where there is one."""
        paths = {s: self.job / run_id(k) / HALL_OF_FAME for k, s in enumerate(self.seeds)}
        return {s: p for s, p in paths.items() if p.is_file() or _copy_of(p).is_file()}

    @property
    def searched(self) -> float:
        """Seconds since Julia had started and compiled; 0 before."""
        with suppress(OSError):
            return max(0.0, time.time() - (self.job / VERSIONS).stat().st_mtime)
        return 0.0

    def start(self) -> None:
        """Start; its output goes to a file, and nothing waits for it."""
        environment = os.environ | {
            "PYTHON_JULIAPKG_OFFLINE": "yes",
            # JULIA_NUM_THREADS has no effect on a Julia that juliacall starts
            "PYTHON_JULIACALL_THREADS": "1",
        }
        with (self.job / SAID).open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "symreg.engines.pysr_process", str(self.job),
                 str(os.getpid())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                env=environment, start_new_session=True,
            )  # fmt: skip

    def wait(self, until: float, tell: Callable[[], None]) -> str:
        """What went wrong, in a line, once it has ended or that (monotonic) time has come."""
        assert self.process is not None
        while True:
            left = until - time.monotonic()
            try:
                code = self.process.wait(min(EVERY, max(0.0, left)))
                break
            except subprocess.TimeoutExpired:
                if left <= 0:
                    return "no answer within its time"
                tell()
        log = (self.job / SAID).read_text(errors="replace")
        return first_of_message(log) or f"exit code {code}"

    def end(self) -> None:
        """End it with its children."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def leave_fronts(self) -> None:
        """End it, but leave what was found and say where."""
        self.end()
        if not self.halls:
            shutil.rmtree(self.job, ignore_errors=True)
        for seed, path in self.halls.items():
            if not path.is_file():
                shutil.copy(_copy_of(path), path)
            print(
                f"PySR's search with seed {seed} was interrupted. Its front so far is {path}; go "
                f"on from it with --guesses {path}",
                file=sys.stderr,
                flush=True,
            )


def _copy_of(path: Path) -> Path:
    """PySR's own copy of a hall of fame."""
    return path.with_suffix(".csv.bak")


def guess_for_pysr(text: str, names: Mapping[str, str], question: Question) -> str:
    """A guess for PySR: names other than features become the constant 1.0."""
    operators = operators_of(question)
    try:
        return written_for_julia(parse_expression(text, limits=OWN), names, operators)
    except UnwritableError as missing:
        raise ValueError(
            f"PySR cannot start from the guess {text}: it needs {missing.operator}, and the search "
            f"has {', '.join(operators)}. Add it with --operators, or leave the guess out."
        ) from None


def is_guess(text: str, question: Question) -> bool:
    """Whether PySR can start from it."""
    try:
        guess_for_pysr(text, {}, question)
    except ValueError:
        return False
    return True


def operators_of(question: Question) -> tuple[str, ...]:
    """The requested ones, or our choice for PySR."""
    return question.operators or (*BINARY_OPERATORS, *UNARY_OPERATORS)


def constructor_arguments(
    seed: int,
    folder: Path,
    positive: bool,
    question: Question,
    place: int = 0,
    seconds: float = 300.0,
) -> dict[str, Any]:
    """Keyword arguments of `PySRRegressor`: one serial search, fixed by the seed.

    Functions are not nested, unless operators are given: then any formula is allowed.
    """
    operators = operators_of(question)
    binary = [operator for operator in operators if operator in BINARY_OPERATORS]
    unary = [operator for operator in operators if operator not in BINARY_OPERATORS]
    # relative errors, as everywhere here; a positive law must stay positive
    loss = "loss(p, y) = (p - y)^2"
    if positive:
        loss = "loss(p, y) = p > 0 ? (log(p) - log(y))^2 : (log(y) - p / y)^2 + 100"
    return {
        "binary_operators": binary,
        "unary_operators": unary,
        "constraints": {"^": (-1, 1)} if "^" in binary else {},
        "nested_constraints": (
            {} if question.operators else {outer: dict.fromkeys(unary, 0) for outer in unary}
        ),
        "elementwise_loss": loss,
        **vars(question.evolution),
        "batching": False,
        "precision": 64,
        "timeout_in_seconds": seconds,
        "random_state": seed,
        "deterministic": True,
        "parallelism": "serial",
        "verbosity": 0,
        "progress": False,
        "input_stream": "devnull",
        "output_directory": str(folder),
        "run_id": run_id(place),
        "temp_equation_file": False,
    }


def first_of_message(message: str) -> str:
    """What went wrong, from a process's output: the first line of the last error message.

    In Julia a stack trace follows the message, in Python it precedes it.
    """
    before = re.split(r"^\s*(?:Stacktrace:|\[1\] )", message, maxsplit=1, flags=re.MULTILINE)[0]
    error = r"^\s*(?:nested task error|ERROR|[\w.]*(?:Error|Exception|Interrupt))\b:?\s*(.+)"
    named = re.findall(error, before, re.MULTILINE)
    return (named or before.strip().splitlines() or [""])[-1].strip()


def read_hall_of_fame(path: Path, names: Sequence[str] | None = None) -> list[sympy.Expr]:
    """The formulas of a `hall_of_fame.csv`, read without PySR and without Julia.

    PySR writes the file and a copy (`.bak`), one after the other; a search killed while writing
    leaves one of them whole. A formula that we refuse (an exponent of -157.9, say) is dropped with
    a line on the standard error. PySR's names of features (x0, x1, ...) are replaced by `names`.

    Raises:
        ValueError: if neither file is one, or it has names other than features.
    """
    equations = None
    for place in (path, _copy_of(path)):
        with suppress(OSError, KeyError, ValueError):
            equations = pd.read_csv(require_input(place), dtype=str, na_filter=False)["Equation"]
    if equations is None:
        raise ValueError(f"{path} is not a hall of fame that PySR wrote.")
    # Julia writes a float32 as 1.5f-3
    texts = [re.sub(r"(?<=[\d.])f(?=[-+]?\d)", "e", text) for text in equations]
    read = [_readable(text) for text in texts]
    refused = [text for text, formula in zip(texts, read, strict=True) if formula is None]
    if refused:
        print(
            f"PySR: {len(refused)} of {len(texts)} formulas cannot be read here and were "
            f"dropped, such as {refused[0][:SHOWN]}",
            file=sys.stderr,
        )
    formulas = [formula for formula in read if formula is not None]
    features = {s.name for formula in formulas for s in formula.free_symbols}
    if names is None or features <= set(names):
        return formulas
    own = {f"x{i}": symbol(name) for i, name in enumerate(names)}
    if unknown := sorted(features - set(own)):
        raise ValueError(
            f"{path} has {', '.join(unknown)}, and the features are {', '.join(names)}: it is of "
            "another table. Rename the columns, or leave the file out."
        )
    return [f.xreplace({s: own[s.name] for s in f.free_symbols}) for f in formulas]


def _readable(text: str) -> sympy.Expr | None:
    """The formula, or None if we refuse it: an exponent like -157.9, say."""
    try:
        syntax_of(text)  # before anything is replaced in it
        formula = with_floats(parse_expression(_plain(text)))
    except ValueError:
        return None
    return formula if NO_NUMBERS.isdisjoint(s.name for s in formula.free_symbols) else None


def _plain(text: str) -> str:
    """A formula with PySR's own `inv(...)` and `square(...)` written as powers."""
    match = re.search(r"\b(inv|square)\(", text)
    if match is None:
        return text
    depth, end = 1, match.end()
    while depth and end < len(text):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    power = {"inv": -1, "square": 2}[match[1]]
    inner = f"(({text[match.end() : end - 1]})^({power}))"
    return _plain(text[: match.start()] + inner + text[end:])


def julia_project() -> Path:
    """The Julia project that juliapkg uses for this Python (by its rules, without importing it).

    Source: juliapkg 0.1, state.py, `reset_state`; juliacall 0.9, `init`, whose variables come
    first.
    """
    if chosen := os.environ.get(JULIACALL_PROJECT) or os.environ.get("PYTHON_JULIAPKG_PROJECT"):
        return Path(chosen)
    prefix = sys.prefix if sys.prefix != sys.base_prefix else os.environ.get("CONDA_PREFIX")
    if prefix:
        return Path(prefix) / "julia_env"
    depot = os.environ.get("JULIA_DEPOT_PATH", "").split(os.pathsep)[0]
    return (Path(depot) if depot else Path.home() / ".julia") / "environments" / "pyjuliapkg"


def julia_executable(project: Path) -> Path | None:
    """The Julia that juliapkg would use: chosen, in the project, or on the path."""
    chosen = os.environ.get(JULIACALL_EXE) or os.environ.get("PYTHON_JULIAPKG_EXE")
    if chosen:
        return Path(chosen) if shutil.which(chosen) else None
    own = project / "pyjuliapkg" / "install" / "bin" / "julia"
    if os.access(own, os.X_OK):
        return own
    on_path = shutil.which("julia")
    return Path(on_path) if on_path else None
