"""Newtonian, Keplerian or neither: what each kind of evidence is enough for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symreg.runs.score import KEPLERIAN, NEITHER, NEWTONIAN, ScoreThresholds, score

LAW = {"verdict": "up_to_scale", "recovered": True}
NO_LAW = {"verdict": "different", "recovered": False}


def kicked(first, fourth, law=LAW):
    return {"kick_r2": {"1": first, "4": fourth}, **law}


def kind(orbit, *kick, locality=None):
    jacobian = None if locality is None else {"locality": locality}
    result = score({"r2": orbit}, kicked(*kick), jacobian)
    assert result is not None
    return result["kind"]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ((0.999, 0.99, 0.99), NEWTONIAN),
        ((0.5, 0.99, 0.99), NEWTONIAN),  # kicked states decide, not the training distribution
        ((0.999, -2.8, -0.4, NO_LAW), KEPLERIAN),
        ((0.999, -2.8, -0.4, LAW), KEPLERIAN),
        ((0.978, -1.34, 0.97, NO_LAW), NEITHER),  # lost for three steps: its memory is short
        ((0.999, 0.69, 0.99), NEITHER),  # half-way: a context of 8 with varying GM
        ((0.1, -2.8, -0.4, NO_LAW), NEITHER),  # an untrained network
        ((0.999, 0.99, 0.99, NO_LAW), NEITHER),  # follows a force, but not this law
        ((0.999, 0.99, 0.3), NEITHER),
    ],
)
def test_the_kind_follows_from_kicks_and_the_law(evidence, expected):
    assert kind(*evidence) == expected


def test_a_jacobian_that_reaches_far_back_is_not_newtonian():
    assert kind(0.999, 0.99, 0.99, locality=0.99) == NEWTONIAN
    assert kind(0.999, 0.99, 0.99, locality=0.4) == NEITHER


def test_where_gm_varies_older_positions_may_matter():
    result = score({"r2": 0.999}, kicked(0.99, 0.99), {"locality": 0.0}, gm_varies=True)
    assert result is not None
    assert result["kind"] == NEWTONIAN


def test_without_kicked_states_nothing_is_said():
    assert score({"r2": 0.9999}, None) is None


def test_a_short_memory_is_told_from_an_ellipse():
    result = score({"r2": 0.978}, kicked(-1.34, 0.97, NO_LAW), {"locality": 0.2})
    assert result is not None
    assert "memory is short" in result["words"]
    assert kind(0.978, -1.34, 0.57, NO_LAW) == KEPLERIAN


def test_a_law_that_is_not_found_in_its_own_states_is_not_asked_of_the_model():
    measured = {"r2": 0.9999}, kicked(0.999, 0.999, NO_LAW), {"locality": 1.0}
    for injected, expected in ((None, NEITHER), (LAW, NEITHER), (NO_LAW, NEWTONIAN)):
        result = score(*measured, injected=injected)
        assert result is not None
        assert result["kind"] == expected
    assert "not found in the true law" in result["evidence"][-1]["asked"]
    lost = score({"r2": 0.9999}, kicked(-2, -1, NO_LAW), injected=NO_LAW)
    assert lost is not None
    assert lost["kind"] == KEPLERIAN


def test_a_kick_that_was_not_measured_makes_nobody_newtonian():
    result = score({"r2": 0.999}, {"kick_r2": {}, **LAW})
    assert result is not None
    assert result["kind"] == NEITHER


@given(
    orbit=st.floats(-100, 1), first=st.floats(-100, 1), fourth=st.floats(-100, 1),
    law=st.sampled_from([LAW, NO_LAW]), locality=st.none() | st.floats(0, 1),
)  # fmt: skip
def test_the_evidence_beside_the_word_explains_it(orbit, first, fourth, law, locality):
    jacobian = None if locality is None else {"locality": locality}
    result = score({"r2": orbit}, kicked(first, fourth, law), jacobian)
    assert result is not None
    asked = [item["newtonian"] for item in result["evidence"] if item["newtonian"] is not None]
    assert (result["kind"] == NEWTONIAN) == all(asked)
    ellipse = [item["keplerian"] for item in result["evidence"] if item["keplerian"] is not None]
    assert (result["kind"] == KEPLERIAN) == all(ellipse)
    assert result["words"]
    assert result["thresholds"].keys() == vars(ScoreThresholds()).keys()
