"""Slips of single states and displaced blocks are named as in the source, and left out."""

import numpy as np
import pandas as pd
import pytest

import orbits
from orbits.trajectories.outliers import Outliers, outliers_of

TIMES = 0.01 * np.arange(400)


def ellipse(eccentricity, t=TIMES):
    """(time, axis) of a Kepler orbit of one au and one year."""
    mean, e = 2 * np.pi * t, eccentricity
    anomaly = mean
    for _ in range(100):
        anomaly = anomaly - (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    return np.stack([np.cos(anomaly) - e, np.sqrt(1 - e**2) * np.sin(anomaly)], axis=1)


def noisy(x, size, seed=0):
    return x + size * np.random.default_rng(seed).standard_normal(x.shape)


@pytest.mark.few(6)
@pytest.mark.parametrize("noise", [0.0, 1e-10, 1e-6, 1e-3])
@pytest.mark.parametrize(
    "rows", [(13, 187, 203, 300, 379), (50,), (200, 202), (200, 201, 202, 203)]
)
def test_single_slips_are_found(noise, rows):
    x = noisy(ellipse(0.2), noise)
    x[list(rows)] += np.random.default_rng(1).standard_normal((len(rows), 2)) + 0.2
    assert outliers_of(TIMES, x) == Outliers(single=rows)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize(
    "span", [(150, 161), (40, 41), (300, 304), (381, 399), (370, 399), (100, 160)]
)
def test_a_displaced_block_is_found_with_its_shift(noise, span):
    x = noisy(ellipse(0.2), noise)
    x[span[0] : span[1] + 1] += [0.4, -0.25]
    found = outliers_of(TIMES, x)
    assert found.blocks == (span,)
    # at the end of the table a polynomial sees but one edge
    assert found.shifts[0] == pytest.approx((0.4, -0.25), abs=1e-5 + 200 * noise)


@pytest.mark.few(8)
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-5, 1e-3])
@pytest.mark.parametrize("eccentricity", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("count", [60, 150, 400])
def test_a_clean_motion_has_none(noise, eccentricity, count):
    t = np.linspace(0, 4, count)
    assert outliers_of(t, noisy(ellipse(eccentricity, t), noise)) == Outliers()


def test_half_of_the_states_are_no_outliers():
    x = ellipse(0.2)
    x[::2] += 0.3
    assert outliers_of(TIMES, x) == Outliers()


def test_rows_are_named_as_in_the_file_and_the_law_is_that_of_the_rest(tmp_path):
    x = noisy(ellipse(0.2), 1e-6)
    x[[13, 187, 203]] += 1.0
    table = pd.DataFrame({"time": TIMES, "x": x[:, 0], "y": x[:, 1]})
    path = tmp_path / "stars.csv"
    table.to_csv(path, index=False)
    lines = []
    data = orbits.from_table(path, position="x,y", announce=lines.append)
    (line,) = lines
    assert "rows 14, 188, 204 (lines 15, 189, 205)" in line
    assert "by up to 1.4 au" in line
    assert data.sizes["time"] == 400  # evenly sampled still
    forces = orbits.measure_forces(data).table
    strength = forces["a_norm"] * forces["r"] ** 2
    assert np.max(np.abs(strength / orbits.GM_SUN - 1)) < 0.05
    positions = orbits.from_arrays(x[None], 0.01)
    assert "states 13, 187, 203 of orbit 0" in " ".join(positions.attrs["remarks"])


def test_a_block_is_cut_out_and_named(tmp_path):
    x = noisy(ellipse(0.2), 1e-6)
    x[150:162] += [0.4, -0.25]
    path = tmp_path / "stars.csv"
    km = orbits.units.LENGTHS["km"]
    pd.DataFrame({"time": TIMES, "x": x[:, 0] / km, "y": x[:, 1] / km}).to_csv(path, index=False)
    lines = []
    orbits.from_table(path, position="x,y", length_unit="km", announce=lines.append)
    told = " ".join(lines)
    assert "12 states displaced together by (5.984e+07, -3.74e+07) km" in told
    assert "from row 151, line 152 to row 162, line 163" in told
