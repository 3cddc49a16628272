"""What an editor and a type checker see of the public functions: every keyword, and no other."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import orbits
from orbits.config import GenerateConfig
from orbits.options import hints_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "notebooks" / "index.md").read_text()
(SHOWN,) = re.findall(r"```python\n(import orbits.*?)```", PAGE, re.S)
EXAMPLE = f"""{SHOWN}
orbits.measure_forces(data, noise=1e-6)
orbits.ephemeris("planets.zarr", bodies=("earth", "mars"))
"""
WRONG = (
    "orbits.generate(orbitz=10)",
    'orbits.generate(orbits="ten")',
    "orbits.measure_forces(data, nois=1.0)",
    "worldmodel.train(data, contxt=2)",
    "symreg.recover(forces, sedes=1)",
    "symreg.weigh(data, marks=1)",
)


def said_of(program: list[str], path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *program, str(path)], cwd=ROOT, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pytest.mark.slow)])
def test_the_example_of_the_first_page_is_typed_and_a_wrong_keyword_is_an_error(checker, tmp_path):
    pytest.importorskip(checker)
    path = tmp_path / "example.py"
    path.write_text(EXAMPLE + "\n".join(WRONG) + "\n")
    quick = ["--follow-imports=silent", "--no-site-packages"] if checker == "mypy" else []
    program = [checker, *quick]
    first = EXAMPLE.count("\n") + 1
    errors = [
        line
        for line in said_of(program, path).splitlines()
        if "example.py:" in line and "error" in line
    ]
    numbers = [int(re.search(r"example\.py:(\d+)", line)[1]) for line in errors]
    assert sorted(set(numbers)) == [first + k for k in range(len(WRONG))], errors


def test_the_signature_completes_every_option():
    parameters = inspect.signature(orbits.generate).parameters
    assert list(parameters) == ["out", "config", *hints_of(GenerateConfig)]
    assert parameters["law"].default == "newton"


def test_options_are_given_by_name_alone():
    with pytest.raises(TypeError, match="at most 2 arguments without their names"):
        orbits.generate(None, None, "newton")
