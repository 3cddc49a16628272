"""Which engines can run here, found out in milliseconds without importing any of them.

Importing PySR starts Julia, and where Julia is missing downloads it; that can take minutes, or
for ever behind a silent proxy. So only files are looked at: the Julia that juliapkg would take,
and a project of its that has resolved SymbolicRegression.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NAMES = ("pysr", "operon", "monomial", "named-laws")
"""Every engine; `auto` prefers them in this order."""
SYMBOLIC_REGRESSION = "SymbolicRegression"
GET_PYSR = "pip install 'principia[pysr]'"
GET_JULIA = "python -c 'import pysr' (once, with a network: it installs Julia and its packages)"


@dataclass(frozen=True)
class Availability:
    """Whether an engine can run, and what to do if it cannot."""

    engine: str
    available: bool
    reason: str
    how_to_get: str = ""


def available(name: str) -> Availability:
    """Look whether an engine can run here.

    Args:
        name: pysr, operon, monomial or named-laws.
    """
    if name == "pysr":
        return _pysr()
    if name == "operon":
        found = _version("pyoperon")
        if found is None:
            return Availability(name, False, "pyoperon is not installed", "pip install pyoperon")
        return Availability(name, True, f"pyoperon {found}")
    return Availability(name, True, "built in")


def _pysr() -> Availability:
    found = _version("pysr")
    if found is None:
        return Availability("pysr", False, "the package pysr is not installed", GET_PYSR)
    project = julia_project()
    julia = julia_executable(project)
    if julia is None:
        return Availability(
            "pysr", False, f"pysr {found} is installed, but no Julia was found", GET_JULIA
        )
    manifests = sorted(project.glob("Manifest*.toml"))
    resolved = any(SYMBOLIC_REGRESSION in path.read_text(errors="replace") for path in manifests)
    if not resolved:
        return Availability(
            "pysr",
            False,
            f"pysr {found} and {julia} are there, but {SYMBOLIC_REGRESSION}.jl is not installed "
            f"in {project}",
            GET_JULIA,
        )
    return Availability("pysr", True, f"pysr {found}, {julia}, {SYMBOLIC_REGRESSION}.jl")


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


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
