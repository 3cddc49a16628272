"""A law counts as recovered only if every gate holds: each one alone must be able to say no."""

import copy

import pytest

from symreg.runs.gates import Thresholds, gates, in_words

GOOD = {
    "verdict": "up_to_scale",
    "recovered": True,
    "exponent": {"value": -2.01, "low": -2.02, "high": -2.0, "truth": -2.0},
    "constant": {"name": "GM", "value": 39.4, "truth": 39.478, "relative_error": -0.002},
    "parameters": {},
    "metrics": {"kick_r2": {"1": 0.99, "4": 0.985}},
    "seeds": {"run": 5, "agreeing": 5},
    "nulls": {"permuted": {"verdict": "different", "recovered": False}},
}
CONTROLS = {
    "injected": {"verdict": "up_to_scale", "recovered": True},
    "untrained": {"verdict": "different", "recovered": False},
}
SOURCES = {"orbit": {"recovered": True, "r2": 0.99}, "kicked": GOOD}


def failed(kicked, controls):
    return [gate.name for gate in gates(kicked, controls, Thresholds()) if not gate.passed]


def changed(path, value):
    evidence = {"kicked": copy.deepcopy(GOOD), "controls": copy.deepcopy(CONTROLS)}
    place = evidence
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return evidence["kicked"], evidence["controls"]


def test_good_evidence_passes_every_gate():
    assert failed(GOOD, CONTROLS) == []
    words = in_words("newton", gates(GOOD, CONTROLS, Thresholds()), SOURCES, False)
    assert "believes in newton" in words
    assert "(permuted targets, untrained network, true law injected)" in words
    words = in_words("newton", gates(GOOD, {}, Thresholds()), SOURCES, False)
    assert "(permuted targets)" in words


@pytest.mark.parametrize(
    ("measured", "gate"),
    [
        ({}, ["kick R² after 1 step", "kick R² after 4 steps"]),
        ({"1": 0.99}, ["kick R² after 4 steps"]),
        ({"2": 0.99, "4": 0.99}, []),  # where masses differ, the second step is the first
    ],
)
def test_a_kick_that_was_not_measured_is_no_pass(measured, gate):
    assert failed(*changed(("kicked", "metrics", "kick_r2"), measured)) == gate


@pytest.mark.parametrize(
    ("path", "value", "gate"),
    [
        (("kicked", "verdict"), "same_exponents", "law"),
        (("kicked", "recovered"), False, "law"),
        (("kicked", "exponent", "value"), -2.06, "exponent"),
        (("kicked", "exponent", "value"), None, "exponent"),
        (("kicked", "constant", "relative_error"), -0.06, "constant GM"),
        (("kicked", "constant", "relative_error"), None, "constant GM"),
        (
            ("kicked", "parameters"),
            {"length": {"value": 1.1, "truth": 1.0, "relative_error": 0.1}},
            "constant length",
        ),
        (("kicked", "metrics", "kick_r2", "1"), 0.96, "kick R² after 1 step"),
        (("kicked", "metrics", "kick_r2", "4"), None, "kick R² after 4 steps"),
        (("kicked", "seeds", "agreeing"), 3, "search seeds"),
        (("kicked", "nulls", "permuted", "recovered"), True, "permuted targets"),
        (("controls", "untrained", "recovered"), True, "untrained network"),
        (("controls", "injected", "recovered"), False, "true law injected"),
    ],
)
def test_each_gate_alone_says_no(path, value, gate):
    assert failed(*changed(path, value)) == [gate]


def test_the_words_tell_an_ellipse_fitter_from_a_failed_instrument():
    kicked, controls = changed(("kicked", "metrics", "kick_r2", "1"), -3.0)
    found = gates(kicked, controls, Thresholds())
    words = in_words("newton", found, SOURCES, True)
    assert "shape of the orbits" in words
    assert "Newton is not recovered" in words
    words = in_words("GM*r**-2", found, SOURCES, False)
    assert "not follow the force as closely as is asked (kick R² after 1 step)" in words
    assert "GM*r**-2 is not recovered" in words
    blind = {"orbit": {"recovered": False, "r2": 0.1}}
    assert "no law of force" in in_words("newton", found, blind, False)
    kicked, controls = changed(("controls", "untrained", "recovered"), True)
    words = in_words("newton", gates(kicked, controls, Thresholds()), SOURCES, False)
    assert words.startswith("No conclusion")
    kicked, controls = changed(("kicked", "seeds", "agreeing"), 0)
    words = in_words("hooke", gates(kicked, controls, Thresholds()), SOURCES, False)
    assert "hooke is not recovered from it: search seeds failed" in words
