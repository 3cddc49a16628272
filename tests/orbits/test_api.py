"""The public names of `orbits`: objects in, objects out; paths wherever data are."""

from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
import xarray as xr

import orbits
from orbits.config import GenerateConfig
from orbits.frames import relative_shares, relative_states

SMALL = {"orbits": 40, "samples": 24, "shard_orbits": 16, "workers": 1}

SETTINGS = {
    "newton": {},
    "double": {"dtype": "float64", "mass": (0.5, 2.0)},
    "space": {"dimensions": 3, "law": "yukawa(length=2)"},
    "arcs": {"law": "power_law(n=3)"},
    "barycentric": {"system": "barycentric"},
    "nbody": {"system": "nbody", "orbits": 17, "dt": 0.05},
}


def require_same(memory, written):
    """Values, types, coordinates and attributes, those of every variable included."""
    xr.testing.assert_identical(memory, written.load())
    assert {name: array.dtype for name, array in memory.variables.items()} == {
        name: array.dtype for name, array in written.variables.items()
    }
    for name in memory.variables:
        assert memory[name].values.tobytes() == written[name].values.tobytes()


@pytest.mark.parametrize("kind", SETTINGS)
def test_in_memory_equals_what_is_written_bit_for_bit(tmp_path, kind):
    options = {**SMALL, **SETTINGS[kind]}
    memory = orbits.generate(**options)
    require_same(memory, orbits.generate(tmp_path / "x.zarr", **options))
    assert memory.attrs["complete"] is True
    assert orbits.validate(memory) == orbits.validate(tmp_path / "x.zarr") == []
    assert orbits.describe(memory) == orbits.describe(tmp_path / "x.zarr")


@pytest.mark.parametrize("options", [{}, {"frame": "icrf"}])
def test_planets_in_memory_equal_those_written(tmp_path, options):
    options = {"bodies": ("mars", "earth"), "start": 1990, "stop": 2000, **options}
    memory = orbits.ephemeris(**options)
    require_same(memory, orbits.ephemeris(tmp_path / "p.zarr", **options))
    assert orbits.validate(memory) == []


def test_a_configuration_and_options_combine(tmp_path):
    config = GenerateConfig(**SMALL, law="hooke")
    data = orbits.generate(None, config, seed=3)
    assert data.attrs["law"] == "hooke"
    assert data.attrs["configuration"]["seed"] == 3
    require_same(data, orbits.generate(tmp_path / "x.zarr", replace(config, seed=3)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lwa": "newton"}, "lwa is not known; did you mean 'law'?"),
        ({"law": "newtn"}, "did you mean 'newton'?"),
        ({"orbits": 0}, "orbits is 0; it should be greater than or equal to 1"),
        (
            {"system": "binary"},
            "system is 'binary'; it should be 'relative', 'barycentric' or 'nbody'",
        ),
        ({"mass": (2.0, 1.0)}, "mass is 2 to 1; low comes first."),
        ({"dt": float("nan")}, "dt is nan; it should be"),
        ({"config": {"orbits": 3}}, "config is {'orbits': 3}; a GenerateConfig is needed."),
    ],
)
def test_a_mistake_is_one_clear_sentence(options, message):
    with pytest.raises(ValueError) as refusal:
        orbits.generate(**options)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "options",
    [
        "--law newtn", "--simulator heyoke", "--simulator kepler --law hooke", "--orbits 2.5",
        "--dt inf", "--mass nan", "--eccentricity 0.5 0.2", "--min-perihelion 5",
        "--simulator dop853", "--law power_law(m=2)", "--law r**r**r**9", "--law __import__('os')",
        "--law k/(r-1)**2", "--law GM*tan(r)",  # poles in range
        "--law -k/r**2", "--law GM*log(r)", "--law GM*sin(4*r)",  # repulsion in range
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_refused_in_one_line(tmp_path, refused, options):
    refused("orbits", "generate", tmp_path / "x.zarr", *options.split())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("options", ["--bodies vulcan", "--start 1800"])
def test_planets_that_are_not_there_are_refused_in_one_line(tmp_path, refused, options):
    refused("orbits", "ephemeris", tmp_path / "x.zarr", *options.split())
    assert not list(tmp_path.iterdir())


def test_paths_are_accepted_wherever_data_are(tmp_path):
    path = tmp_path / "x.zarr"
    data = orbits.generate(path, **SMALL)
    for draw in (orbits.plot_orbits, orbits.plot_phase_portrait, orbits.plot_energy_drift):
        lines = [[line.get_xydata() for line in draw(given, 3).lines] for given in (path, data)]
        for one, other in zip(*lines, strict=True):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(ValueError, match="it should be a Dataset or a path"):
            draw(3)
    assert orbits.describe(str(path)) == orbits.describe(data)


def test_two_bodies_are_seen_from_the_second():
    data = orbits.generate(system="barycentric", **SMALL, dtype="float64")
    x, _ = relative_states("barycentric", data.position.values, data.velocity.values)
    np.testing.assert_array_equal(x, data.position.values[:, :, 0] - data.position.values[:, :, 1])
    share = relative_shares(data.mass.values)
    # x_b = share x: the barycentre is at rest in the origin
    np.testing.assert_allclose(data.position.values, x[:, :, None] * share[:, None, :, None],
                               atol=1e-14)  # fmt: skip
    # the first body is pulled against x, towards the second
    pull = np.gradient(data.velocity.values[:, :, 0], data.attrs["dt"], axis=1)
    assert np.all(np.sum(pull * x, axis=-1)[:, 1:-1] < 0)
    planets = np.arange(24.0).reshape(1, 2, 4, 3)
    apart, _ = relative_states("nbody", planets, planets)
    np.testing.assert_array_equal(apart, planets[:, :, 1:] - planets[:, :, :1])
