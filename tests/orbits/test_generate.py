"""Datasets: exact, reproducible, resumable, and clear about what is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from orbits.cli import main
from orbits.config import GenerateConfig
from orbits.dataset import open_dataset
from orbits.dataset.validation import validate
from orbits.elements import propagate_kepler
from orbits.forces import parse_law
from orbits.generation.generate import generate, write
from orbits.generation.recipe import resolve
from orbits.invariants import angular_momentum, specific_energy

SMALL = GenerateConfig(orbits=40, samples=32, shard_orbits=16, workers=1)


def made(path, **changes):
    settings = {**SMALL.__dict__, **changes}
    generate(path, GenerateConfig(**settings))
    return open_dataset(path)


def files_of(path):
    """Every data file's bytes, by name."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and "/c/" in str(file)
    }


def test_default_command_makes_a_dataset_of_the_agreed_form(tmp_path, capsys):
    path = tmp_path / "x.zarr"
    assert main(["generate", str(path), "--orbits", "60", "--simulator", "scipy"]) == 0
    assert "max_relative_error" in capsys.readouterr().out
    data = open_dataset(path)
    assert data.position.dims == data.velocity.dims == ("orbit", "time", "axis")
    assert data.position.shape == (60, 128, 2)
    assert data.position.dtype == np.float32
    np.testing.assert_array_equal(data.time.values, np.arange(128) * 0.008)
    assert data.attrs["law"] == "newton"
    assert data.attrs["units"]["length"] == "au"
    assert data.attrs["configuration"]["seed"] == 0
    assert data.attrs["integration"]["simulator"] == "scipy"
    assert data.attrs["integration"]["max_relative_error"] < 1e-7


def test_stored_trajectories_are_newtons(tmp_path):
    data = made(tmp_path / "x.zarr", dtype="float64", simulator="scipy")
    x, v, gm = data.position.values, data.velocity.values, data.gm.values
    exact, _ = propagate_kepler(x[:, 0], v[:, 0], gm, data.time.values)
    np.testing.assert_allclose(x, exact, atol=1e-7)
    newton = parse_law("newton")
    energy = specific_energy(newton, x, v, gm)
    np.testing.assert_allclose(energy, energy[:, :1].repeat(32, 1), rtol=1e-8)
    momentum = angular_momentum(x, v)
    np.testing.assert_allclose(momentum, momentum[:, :1].repeat(32, 1), rtol=1e-8)
    dt = data.attrs["dt"]
    # Second-order difference: dt^2/6 d3x/dt3 <= (2 pi 0.28^-1.5 dt)^2/6 = 2 % of the speed.
    difference = (x[:, 2:] - x[:, :-2]) / (2 * dt)
    error = np.linalg.norm(difference - v[:, 1:-1], axis=-1) / np.linalg.norm(v[:, 1:-1], axis=-1)
    assert np.max(error) < 0.03


def test_float32_is_the_rounded_float64(tmp_path):
    double = made(tmp_path / "double.zarr", dtype="float64").position.values
    single = made(tmp_path / "single.zarr").position.values
    np.testing.assert_array_equal(single, double.astype(np.float32))


@pytest.mark.parametrize("change", [{"workers": 2}])
def test_the_same_seed_gives_the_same_bits_for_any_number_of_workers(tmp_path, change):
    made(tmp_path / "one.zarr")
    made(tmp_path / "more.zarr", **change)
    assert files_of(tmp_path / "one.zarr") == files_of(tmp_path / "more.zarr")


def test_shards_differ_from_one_another(tmp_path):
    x = made(tmp_path / "x.zarr").position.values
    assert not np.any(x[:16] == x[16:32])


@pytest.mark.parametrize("simulator", ["scipy", "heyoka"])
@pytest.mark.parametrize("system", ["relative", "barycentric", "nbody"])
def test_every_system_is_made_by_every_simulator(tmp_path, system, simulator):
    path = tmp_path / "x.zarr"
    generate(path, replace(SMALL, system=system, simulator=simulator, orbits=2, samples=8))
    data = open_dataset(path)
    assert data.sizes["orbit"] == 2
    assert np.isfinite(data["position"].values).all()


def test_a_finished_dataset_is_left_alone(tmp_path):
    path = tmp_path / "x.zarr"
    made(path)
    before = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.name != ".lock"}
    assert write(path, resolve(SMALL)) == 0
    assert before == {f: f.stat().st_mtime_ns for f in path.rglob("*") if f.name != ".lock"}


def run(arguments, capsys):
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().err.strip().splitlines()


def test_another_configuration_does_not_overwrite_a_dataset(tmp_path, capsys):
    path = tmp_path / "x.zarr"
    made(path)
    before = files_of(path)
    code, lines = run(["generate", path, "--orbits", "40", "--dt", "0.01"], capsys)
    assert code == 2
    assert "dt 0.008 there, 0.01 here" in lines[-1]
    assert files_of(path) == before


def test_a_folder_of_something_else_is_not_touched(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("years of work")
    code, lines = run(["generate", tmp_path, "--orbits", "5"], capsys)
    assert code == 2
    assert "is not a dataset" in lines[-1]
    assert sorted(tmp_path.iterdir()) == [tmp_path / "thesis.txt"]


@pytest.mark.parametrize("simulator", ["auto", "scipy"])
def test_a_formula_without_gm_is_followed_and_checked(tmp_path, simulator):
    data = generate(None, replace(SMALL, law="30*r**-2.5", orbits=20, simulator=simulator))
    assert data.attrs["integration"]["max_relative_error"] < 1e-7
    assert validate(data) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": (1e300,)}, "the fastest orbits would turn"),
        ({"mass": (1e150,), "semi_major_axis": (1e100,)}, "above 1e\\+38"),
        ({"semi_major_axis": (1e300,)}, "does not attract"),
        ({"dt": 1e300}, "the fastest orbits would turn"),
        ({"law": "power_law(n=300)"}, "at most 64"),
    ],
)
def test_sizes_beyond_numbers_are_refused_without_a_word_of_numpy(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        generate(tmp_path / "x.zarr", orbits=4, samples=6, workers=1, **options)
