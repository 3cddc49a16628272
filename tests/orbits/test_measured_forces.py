"""Accelerations from positions alone: right, and as wrong as they say."""

import numpy as np
import pytest

import orbits
from orbits.cli import main
from orbits.derivatives.bumps import bump
from orbits.derivatives.methods import by_bumps, by_differences
from orbits.derivatives.noise import white_noise

METHODS = {"differences": by_differences, "weak": by_bumps}
DT = 0.004


def noisy(data, noise, seed=1):
    found = data.copy(deep=True)
    random = np.random.default_rng(seed)
    found["position"].values[:] += noise * random.standard_normal(found["position"].shape)
    return found


@pytest.fixture(scope="module")
def ellipses():
    return orbits.generate(orbits=40, samples=512, dt=DT, dtype="float64", seed=3)


@pytest.mark.parametrize("half_width", [8, 20, 61])
def test_a_bump_keeps_the_identity_for_polynomials(half_width):
    phi, second = bump(half_width)
    t = np.arange(-half_width + 1, half_width, dtype=float)
    assert abs(second.sum()) < 1e-12
    assert abs(np.sum(second * t)) < 1e-10
    assert np.sum(second * t**2) == pytest.approx(2 * phi.sum(), rel=1e-12)
    for k in (4, 6, 8):
        whole = np.sum(phi * k * (k - 1) * t ** (k - 2))
        assert np.sum(second * t**k) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_the_acceleration_of_a_circle(method):
    t = DT * np.arange(600)
    x = np.stack([np.cos(6 * t), np.sin(6 * t)], axis=1)
    found = METHODS[method](x, DT, 1e-14)
    known = np.isfinite(found.acceleration[:, 0])
    assert known.mean() > 0.7
    np.testing.assert_allclose(found.acceleration[known], -36 * x[known], atol=2e-4)


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
def test_noise_is_told_from_positions(ellipses, noise):
    data = noisy(ellipses, noise)
    found = [white_noise(orbit) for orbit in data.position.values]
    assert np.median(found) == pytest.approx(noise, rel=0.05)


@pytest.mark.parametrize("noise", [1e-9, 1e-7, 1e-5])
def test_intervals_hold_as_often_as_they_say(ellipses, noise):
    # 40 orbits; neighbouring rows share their noise: 1 % is two standard errors of the share
    assert 0.93 <= orbits.measure_forces(noisy(ellipses, noise)).metrics["within_95"] <= 0.97


def test_the_weak_form_bears_noise_that_differences_do_not(ellipses):
    position = noisy(ellipses, 1e-6).position.values[0]
    weak, differences = (np.nanmedian(METHODS[m](position, DT, 1e-6).error) for m in
                         ("weak", "differences"))  # fmt: skip
    assert weak < differences / 10


def test_what_is_measured_without_noise_is_the_law():
    pair = orbits.generate(
        law="yukawa(length=2)", system="barycentric", orbits=5, samples=256, dtype="float64"
    )
    table = orbits.measure_forces(pair).table
    assert {"m1", "m2", "ax1", "ay2", "sigma_a_x"} <= set(table)
    true = np.hypot(table["true_a_x"], table["true_a_y"])
    apart = np.hypot(table["a_x"] - table["true_a_x"], table["a_y"] - table["true_a_y"])
    assert np.median(apart / true) < 1e-5


def test_planets_are_seen_from_their_star():
    data = orbits.generate(
        system="nbody", orbits=3, samples=256, dt=0.005, dtype="float64",
        semi_major_axis=(1.0, 5.0), planets=2,
    )  # fmt: skip
    forces = orbits.measure_forces(data)
    assert set(forces.table["body"]) == {1, 2}
    assert "true_a_z" in forces.table
    assert forces.metrics["within_95"] > 0.9


def test_an_unknown_law_gives_forces_without_truth(tmp_path, capsys):
    t = DT * np.arange(300)
    frame = np.column_stack([t, np.cos(6 * t), np.sin(6 * t)])
    orbits.from_table(frame, tmp_path / "x.zarr")
    out = tmp_path / "forces.parquet"
    assert main(["forces", str(tmp_path / "x.zarr"), str(out)]) == 0
    found = orbits.ForceSamples.read(out)
    assert found.law is None
    assert not {"gm", "true_a_x"} & set(found.table)
    assert "force samples" in capsys.readouterr().out
