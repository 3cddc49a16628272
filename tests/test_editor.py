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
EXAMPLE = """
import orbits

data = orbits.generate(law="newton", orbits=1000, seed=0)
forces = orbits.measure_forces(data, noise=1e-6)
orbits.ephemeris("planets.zarr", bodies=("earth", "mars"))

import worldmodel

model = worldmodel.train(data, context_length=2, target="residual", out="runs/newton")
table = worldmodel.probe(model, data, states="kicked").table
text = worldmodel.probe(model, data, readout="linear", linear={"states": 200}).text
errors = worldmodel.evaluate(model, data, steps=20).rollout.median_error
ratios = worldmodel.extrapolate([model], data, factors=(1, 2)).table["ratio"]
"""

WRONG = {
    "orbits.generate(orbitz=10)": "orbitz",
    'orbits.generate(orbits="ten")': "orbits",
    "orbits.measure_forces(data, nois=1.0)": "nois",
    "worldmodel.train(data, contxt_length=2)": "contxt_length",
    "worldmodel.probe(model, data, contrl='none')": "contrl",
    "worldmodel.probe(model, data, readout='linear').table_of": "table_of",
}


def said_of(program: list[str], path: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *program, str(path)], cwd=ROOT, capture_output=True, text=True
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("checker", ["mypy", pytest.param("pyright", marks=pytest.mark.slow)])
def test_an_example_is_typed_and_a_wrong_keyword_is_an_error(checker, tmp_path):
    pytest.importorskip(checker)
    path = tmp_path / "example.py"
    path.write_text(EXAMPLE + "\n".join(WRONG) + "\n")
    program = [checker, "--follow-imports=silent"] if checker == "mypy" else [checker]
    first = EXAMPLE.count("\n") + 1
    errors = [
        line
        for line in said_of(program, path).splitlines()
        if "example.py:" in line and "error" in line
    ]
    numbers = [int(re.search(r"example\.py:(\d+)", line)[1]) for line in errors]
    assert sorted(set(numbers)) == [first + k for k in range(len(WRONG))], errors
    for number, name in enumerate(WRONG.values(), first):
        told = [line for at, line in zip(numbers, errors, strict=True) if at == number]
        assert any(name in line for line in told), told


def test_the_signature_completes_every_option():
    parameters = inspect.signature(orbits.generate).parameters
    assert list(parameters) == ["out", "config", *hints_of(GenerateConfig)]
    assert parameters["law"].default == "newton"


def test_options_are_given_by_name_alone():
    with pytest.raises(TypeError, match="at most 2 arguments without their names"):
        orbits.generate(None, None, "newton")
