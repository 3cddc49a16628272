"""Two visible bodies, and centres of different masses: what the tables and metrics say of them."""

import numpy as np
import pytest

from orbits.units import G
from symreg.recovery.force_field import radial_field


@pytest.fixture(scope="module")
def pairs(make_orbits, tmp_path_factory):
    """Two bodies of 0.5 to 2 and 0.1 to 1 solar masses about their barycentre."""
    path = tmp_path_factory.mktemp("orbits") / "pairs.zarr"
    return make_orbits(path, system="barycentric", orbits=200, samples=32, mass=(0.5, 2.0))


@pytest.fixture(scope="module")
def run_of_pairs(some_run, pairs):
    return some_run(pairs, context_length=3)


@pytest.mark.parametrize("states", ["orbit", "kicked"])
def test_the_law_between_two_bodies_is_read_back(run_of_pairs, pairs, probed, states):
    metrics, table, _ = probed(run_of_pairs, pairs, states=states, control="injected")
    assert metrics["r2"] > 0.999
    assert metrics["exponent"]["value"] == pytest.approx(2, abs=0.01)
    assert metrics["scale"]["value"] == pytest.approx(1, abs=0.01)
    assert metrics["gm_exponent"]["value"] == pytest.approx(1, abs=0.01)
    assert metrics["own_mass_exponent"]["value"] == pytest.approx(0, abs=0.01)
    # Positions rounded to float32, 1e-7 au, over dt² are 1e-3 au/yr² beside 10.
    assert metrics["third_law"] < 1e-4
    force = radial_field(table)
    assert force.third_law < 1e-4
    r, m1, m2 = force.samples.X.T
    np.testing.assert_allclose(np.median(force.samples.y * r**2 / (G * m1 * m2)), 1, rtol=1e-3)
    # The barycentre stays at the origin, after a kick too: float32 positions of 1e-7 au.
    for axis in "xy":
        weighted = table["m1"] * table[f"{axis}1"] + table["m2"] * table[f"{axis}2"]
        assert np.abs(weighted).max() < 1e-6


def test_an_ellipse_follows_a_pair_until_it_is_kicked(some_run, pairs, probed):
    run = some_run(pairs, context_length=5)  # two steps after a kick it still sees what was before
    metrics, *_ = probed(run, pairs, control="keplerian")
    assert metrics["r2"] > 0.999
    metrics, *_ = probed(run, pairs, control="keplerian", states="kicked")
    assert metrics["kick_r2"]["2"] < 0.8


def test_every_read_out_takes_pairs(run_of_pairs, pairs, read_json_of):
    response = read_json_of(run_of_pairs, pairs, "kick_response", control="injected")
    assert min(response["r2"] + response["r2_gm"]) > 0.99  # close pairs: (ω dt)⁴ is not small
    jacobian = read_json_of(run_of_pairs, pairs, "jacobian", control="injected")["metrics"]
    assert jacobian["locality"] > 0.99
    assert jacobian["radial_error"] < 0.01
    linear = read_json_of(run_of_pairs, pairs, "linear", control="injected")["metrics"]
    assert linear["trained_force"] > 0.99 > linear["untrained_force"]
    assert read_json_of(run_of_pairs, pairs, "jacobian")["metrics"]["locality"] < 0.5


def test_a_table_of_different_centres_has_each_one_s_gm(some_run, make_orbits, tmp_path, probed):
    data = make_orbits(tmp_path / "varied.zarr", orbits=200, mass=(0.5, 2.0))
    run = some_run(data)
    metrics, table, _ = probed(run, data, control="injected", states="kicked")
    assert metrics["gm_exponent"]["value"] == pytest.approx(1, abs=0.01)
    low, high = metrics["gm_exponent"]["low"], metrics["gm_exponent"]["high"]
    assert low <= metrics["gm_exponent"]["value"] <= high
    assert 0.5 * G <= table["gm"].min() < table["gm"].max() <= 2 * G * (1 + 1e-9)
    true = np.hypot(table["true_a_x"], table["true_a_y"])
    np.testing.assert_allclose(true * table["r"] ** 2, table["gm"])
    np.testing.assert_allclose(table["gm"], G * table["mass"])
