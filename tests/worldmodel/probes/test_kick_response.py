"""The kick response tells a predictor that knows the force from one that continues the past."""

import pytest

FEW = {"orbits": 40}
EXACT = 0.999
"""Near the closest perihelia the correction for the finite step leaves 1 % of the acceleration."""


@pytest.fixture(scope="module")
def varied_orbits(make_orbits, tmp_path_factory):
    """Orbits around centres of half to twice the Sun's mass."""
    path = tmp_path_factory.mktemp("orbits") / "varied.zarr"
    return make_orbits(path, orbits=100, samples=64, mass=(0.5, 2.0))


def test_the_law_in_place_of_the_model_does_not_mind_the_kick(trained, newton_orbits, read_json_of):
    found = read_json_of(trained, newton_orbits, "kick_response", control="injected", **FEW)
    assert found["steps"] == list(range(1, 51))
    assert min(found["r2"]) > EXACT
    assert found["r2"] == found["r2_velocity"]
    assert found["metrics"]["recovery"] == 1
    assert found["states"] == sum(found["states_by_step"]) > 1000
    assert found["configuration"]["readout"] == "kick_response"


def test_an_ellipse_is_wrong_until_the_kick_has_left_the_context(
    some_run, newton_orbits, read_json_of
):
    run = some_run(newton_orbits, context_length=12)
    found = read_json_of(run, newton_orbits, "kick_response", control="keplerian", **FEW)
    assert found["context_length"] == 12
    assert found["r2"][0] < 0
    # From step 11 on all 12 positions lie on the new arc; the correction for the finite step
    # takes one neighbour on either side.
    assert max(found["r2"][:8]) < 0.9
    assert min(found["r2"][11:]) > EXACT
    assert 9 <= found["metrics"]["recovery"] <= 12


def test_a_trained_model_follows_and_an_untrained_one_does_not(
    trained, newton_orbits, read_json_of
):
    found = read_json_of(trained, newton_orbits, "kick_response", **FEW)
    assert found["metrics"]["r2_1"] > 0.95
    assert found["metrics"]["r2_least"] > 0.9
    assert found["model"]["kind"] == "trained"
    nothing = read_json_of(trained, newton_orbits, "kick_response", control="untrained", **FEW)
    assert max(nothing["r2"]) < 0.2
    assert nothing["metrics"]["recovery"] is None


def test_a_kick_in_mass_is_read_where_mass_varies(
    some_run, varied_orbits, newton_orbits, read_json_of
):
    run = some_run(varied_orbits, context_length=8)
    law = read_json_of(run, varied_orbits, "kick_response", control="injected")
    ellipse = read_json_of(run, varied_orbits, "kick_response", control="keplerian")
    assert min(law["r2_gm"]) > EXACT
    assert max(ellipse["r2_gm"][:3]) < 0.9
    assert min(ellipse["r2_gm"][8:]) > EXACT
    assert law["metrics"]["r2_gm_1"] == law["r2_gm"][0]
    alike = read_json_of(some_run(newton_orbits), newton_orbits, "kick_response", **FEW)
    assert "r2_gm" not in alike
