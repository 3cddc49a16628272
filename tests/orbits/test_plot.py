"""Tables and pictures of datasets."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from orbits.config import EphemerisConfig, GenerateConfig
from orbits.dataset import open_dataset
from orbits.generation.generate import generate
from orbits.planets import ephemeris
from orbits.plot import plot_energy_drift, plot_orbits, plot_phase_portrait


@pytest.fixture(scope="module", params=["relative", "barycentric", "nbody", "planets"])
def path(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "x.zarr"
    if request.param == "planets":
        ephemeris(path, EphemerisConfig(start=2000, stop=2003))
    else:
        generate(path, GenerateConfig(system=request.param, orbits=8, samples=30, workers=1))
    return path


def test_functions_draw_the_numbers_and_return_their_axes(path):
    data = open_dataset(path)
    for draw in (plot_orbits, plot_phase_portrait, plot_energy_drift):
        ax = draw(data, orbits=3)
        assert isinstance(ax, plt.Axes)
        assert ax.get_xlabel()
        assert draw(data, 2, ax) is ax
    ax = plot_orbits(data, orbits=1)
    drawn = ax.lines[0].get_xydata()
    states = data.position.values[0]
    first = states[:, 0] if states.ndim == 3 else states
    np.testing.assert_array_equal(drawn, first[:, :2])
    plt.close("all")
