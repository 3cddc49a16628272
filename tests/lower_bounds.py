"""The quick tests in an environment of the oldest versions that pyproject.toml admits.

    python tests/lower_bounds.py [--take NAME ...] [TEST ...]

Every dependency, and what the extra `test` adds, is pinned to its lower bound, in a fresh
environment of the Python that runs this script: take the oldest that is admitted. What is named
after `--take` is left to pip, which takes the newest that the bounds admit. That is torch unless
said otherwise, since its old builds bring gigabytes of CUDA along; `--take` alone pins torch too.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Collection
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("pysr",)
"""Asks for newer versions of the others; no quick test needs it."""

SOME = "expressions units compare refine uncertainty recover_table study_config"
TESTS = (
    "tests/orbits",
    *(f"tests/symreg/test_{name}.py" for name in SOME.split()),
    *(f"tests/worldmodel/test_{name}.py" for name in ("attention", "config", "data", "model")),
    "tests/worldmodel/probes/test_linear.py",
    "tests/test_help.py",
)
"""Minutes; together they use every dependency."""


def requirements() -> tuple[list[Requirement], list[Requirement]]:
    """What the package needs, and what its tests add."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    needed, added = (
        [each for text in texts if (each := Requirement(text)).name not in LEFT_OUT]
        for texts in (project["dependencies"], project["optional-dependencies"]["test"])
    )
    return needed, added


def lowest(needed: Collection[Requirement], taken: Collection[str]) -> list[str]:
    """A pin for each requirement but the taken ones; one without a lower bound is a mistake."""
    pins = []
    for requirement in needed:
        bounds = [s.version for s in requirement.specifier if s.operator in (">=", "==")]
        if len(bounds) != 1:
            raise ValueError(f"{requirement} has no lower bound; give it one in pyproject.toml.")
        if requirement.name not in taken:
            pins.append(f"{requirement.name}=={bounds[0]}")
    return pins


def main() -> int:
    """Install, show the versions, test; the exit code is that of pytest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", nargs="*", metavar="TEST", help="in place of the quick ones")
    parser.add_argument("--take", nargs="*", default=["torch"], metavar="NAME", help="do not pin")
    options = parser.parse_args()
    needed, added = requirements()
    pins = lowest([*needed, *added], options.take)
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(pins) + "\n")
        venv.create(Path(folder) / "venv", with_pip=True)
        python = str(Path(folder) / "venv" / "bin" / "python")
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        pip = [python, "-m", "pip", "--disable-pip-version-check"]
        for command in (
            [*pip, "install", "-e", ".", *map(str, added), "-c", str(constraints)],
            [*pip, "list", "--format=freeze"],
        ):
            subprocess.run(command, cwd=ROOT, env=environment, check=True)
        tests = [python, "-m", "pytest", "-q", "--disable-warnings", *(options.tests or TESTS)]
        return subprocess.run(tests, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
