"""Where a result comes from: versions, commit, configuration and seed, saved beside it."""

import platform
import subprocess
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from orbits.files import sha256_of_json


@cache
def versions() -> dict[str, str]:
    """Versions of Python and of every installed library that can affect a number."""
    libraries = (
        "orbitlaw", "numpy", "scipy", "xarray", "zarr", "pandas", "pyarrow", "sympy", "torch",
        "lightning-fabric", "safetensors", "pysr", "heyoka", "jplephem", "de421",
        "scikit-learn",
    )  # fmt: skip
    numbers = {"python": platform.python_version()}
    for name in libraries:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            continue
    return numbers


@cache
def git_commit() -> str | None:
    """Commit of the source tree, with `+` if it has changes; None outside git."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changes = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changes else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def provenance(configuration: Any) -> dict[str, Any]:
    """What to save beside a result: its configuration with the seed, versions and git commit."""
    if is_dataclass(configuration) and not isinstance(configuration, type):
        configuration = asdict(configuration)
    return {
        "configuration": configuration,
        "configuration_sha256": sha256_of_json(configuration),
        "versions": versions(),
        "git_commit": git_commit(),
    }
