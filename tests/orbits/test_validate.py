"""`orbits validate` passes what is right and names what is wrong."""

import shutil

import numpy as np
import pytest
import zarr

from orbits.cli import main
from orbits.config import GenerateConfig
from orbits.dataset.validation import validate
from orbits.generation.generate import generate

KINDS = {
    "newton": {},
    "double": {"dtype": "float64", "simulator": "scipy"},
    "space": {"dimensions": 3, "law": "yukawa"},
    "arcs": {"law": "power_law(n=3)"},
    "formula": {"law": "k*r**-1.5"},
    "barycentric": {"system": "barycentric", "law": "hooke"},
    "nbody": {"system": "nbody", "dt": 0.05},
    "coarse": {"dt": 1.0, "dtype": "float64"},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One small dataset of float32 Newtonian orbits, never changed."""
    path = tmp_path_factory.mktemp("whole") / "x.zarr"
    generate(path, GenerateConfig(orbits=40, samples=50, shard_orbits=16, workers=1))
    return path


@pytest.fixture
def copied(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "x.zarr")
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_generated_is_valid(tmp_path, kind):
    settings = {"orbits": 12, "samples": 40, "workers": 1, **KINDS[kind]}
    generate(tmp_path / "x.zarr", GenerateConfig(**settings))
    assert validate(tmp_path / "x.zarr") == []


def change(path, name, alter):
    """Alter an array's values in place, as a faulty generator would."""
    group = zarr.open_group(path, mode="r+")
    values = group[name][:]
    alter(values)
    group[name][:] = values


@pytest.mark.parametrize(
    ("name", "alter", "message"),
    [
        ("position", lambda x: x.__setitem__((5, 3, 0), np.nan), "position is not finite in 1 or"),
        ("velocity", lambda v: v.__setitem__((7, 0, 1), np.inf), "velocity is not finite in 1 or"),
        ("gm", lambda gm: gm.__setitem__(2, -1.0), "gm is not above 0 in 1 orbit(s), the first: 2"),
        ("velocity", lambda v: np.negative(v, out=v), "velocity is not the derivative"),
        ("velocity", lambda v: v.__setitem__(slice(4, 5), v[4:5] * 1.01), "derivative"),
        ("gm", lambda gm: np.multiply(gm, 1.1, out=gm), "energy drifts"),
        # energy drifts by 2e-3 of the kinetic times 1 - r_min/r_max, above 1e-4 for e > 0.03
        ("gm", lambda gm: np.multiply(gm, 1.002, out=gm), "energy drifts by more than 0.0001"),
        (
            "time",
            lambda t: t.__setitem__(slice(None), np.linspace(0, 0.4, 50)),
            "metadata were changed",
        ),
        ("position", lambda x: x.__setitem__((9, 4), 0.0), "bodies coincide in 1 orbit(s)"),
    ],
)
def test_wrong_numbers_are_named(copied, name, alter, message):
    change(copied, name, alter)
    assert any(message in problem for problem in validate(copied))


def test_a_radial_velocity_of_the_wrong_sign_is_found(copied):
    """Energy and angular momentum do not notice this; a published generator has it."""
    group = zarr.open_group(copied, mode="r+")
    x, v = group["position"][:], group["velocity"][:]
    r = np.linalg.norm(x, axis=-1, keepdims=True)
    group["velocity"][:] = v - 2 * np.sum(v * x, axis=-1, keepdims=True) * x / r**2
    problems = validate(copied)
    assert len(problems) == 2
    assert "velocity is not the derivative of position" in problems[0]
    assert "shard(s) missing, damaged or of another dataset: 0, 1, 2" in problems[1]


def test_command_exit_codes(copied, capsys):
    assert main(["validate", str(copied)]) == 0
    assert "valid" in capsys.readouterr().out
    change(copied, "velocity", lambda v: np.negative(v, out=v))
    assert main(["validate", str(copied)]) == 1
    assert "derivative" in capsys.readouterr().out
    assert main(["validate", str(copied) + "nowhere"]) == 2
    assert "does not exist" in capsys.readouterr().err
