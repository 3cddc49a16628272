"""What an editor and a type checker see of the public functions: every keyword, and no other."""

import importlib.util
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import orbits
from orbits.config import GenerateConfig
from orbits.options import hints_of

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("signatures", ROOT / "tests" / "signatures.py")
signatures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(signatures)
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
    "symreg.run(stepps=3)",
    "worldmodel.probe(model, data, state='kicked')",
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


def test_the_stubs_are_those_of_the_options():
    """After a change of an option: `python tests/signatures.py`."""
    for package in signatures.FUNCTIONS:
        stub = (ROOT / package / "__init__.pyi").read_text()
        assert stub == signatures.written(package), f"{package}: run python tests/signatures.py"


def test_the_stubs_say_what_the_functions_take():
    for package, functions in signatures.FUNCTIONS.items():
        for name, *_ in functions:
            function = getattr(import_module(package), name)
            stub = re.search(rf"^def {name}\((.*?)^\)", signatures.written(package), re.S | re.M)[1]
            names = re.findall(r"^    (\w+):", stub, re.M)
            assert sorted(names) == sorted(inspect.signature(function).parameters), name


@pytest.mark.parametrize("call", ["symreg.run(", "worldmodel.train(", "worldmodel.probe("])
def test_completion_shows_the_real_keywords(call):
    jedi = pytest.importorskip("jedi")
    source = f"import {call.partition('.')[0]}\n{call}"
    names = {each.name for each in jedi.Script(source, project=jedi.Project(ROOT)).complete()}
    assert {"seed=", "config="} <= names
    assert not {"kind=", "options=", "args="} & names


def test_the_signature_completes_every_option():
    parameters = inspect.signature(orbits.generate).parameters
    assert list(parameters) == ["out", "config", "progress", *hints_of(GenerateConfig)]
    assert parameters["law"].default == "newton"


def test_options_are_given_by_name_alone():
    with pytest.raises(TypeError, match="2 positional arguments but 3 were given"):
        orbits.generate(None, None, "newton")
