"""The judge: each gate alone must be able to say no, and each kind of evidence decides its kind."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orbits.estimates import Estimate
from orbits.files import write_json
from orbits.whole_field import PARTS
from symreg.experiments.config import RunConfig
from symreg.experiments.result import judged
from symreg.experiments.verdict import (
    ANOTHER,
    COPIERS,
    INTERPOLATOR,
    KEPLERIAN,
    NEITHER,
    NEWTONIAN,
    PARROT,
    Region,
    model_gates,
    unnoticed,
    world_model_kind,
)
from symreg.experiments.verdict_words import about_the_kind, about_the_model
from symreg.fit.refine import Fitted
from symreg.formulas.compare import Comparison
from symreg.recovery.discovery import Evidence
from symreg.recovery.finding import Finding
from symreg.recovery.gates import agreeing, stated, within
from symreg.recovery.judge import law_gates
from symreg.recovery.result import Null, Quantity, Recovery, Seeds
from symreg.recovery.search import Outcome
from symreg.recovery.thresholds import Thresholds
from symreg.recovery.words import PERMUTED

T = Thresholds()


def recovery(recovered=True, verdict="up_to_scale", gates=None, **changes):
    """What kicked states gave, all good unless changed."""
    exponent = Quantity(-2.01, -2.02, -2.0, 0.01, 0.0, "r", -2.0, 0.005)
    passing = (
        stated("structure", True, "exact or up_to_scale", verdict),
        within("exponent of r", -2.01, -2.0, 0.05),
        within("constant GM", 39.4, 39.478, 0.05, relative=True),
        agreeing("seeds", 5, 5, 0.8),
        stated(PERMUTED, True, "not recovered", "not recovered"),
    )
    made = Recovery(
        recovered=recovered,
        verdict=verdict,
        reference="newton",
        expression="39.4/r**2",
        raw_expression=None,
        law="newton",
        selected_from="operon",
        constant=Quantity(39.4, 39.3, 39.5, 0.1, 0.0, "GM", 39.478, -0.002),
        exponents={"r": exponent},
        parameters={},
        r2=0.999,
        r2_linear=0.999,
        r2_log=0.999,
        seeds=Seeds(5, 5),
        nulls={"permuted": Null("different", False, "r", -0.1)},
        gates=passing if gates is None else gates,
        engine="operon",
        engine_reason="asked for",
        pareto_front=(),
        rows=100,
        rows_used=100,
        groups=10,
        non_central=0.0,
        error_floor=0.02,
    )
    return replace(made, **changes)


GOOD, KICKS = recovery(), {"1": 0.99, "4": 0.985}
LAW, NO_LAW = recovery(), recovery(False, "different")
CONTROLS = {"injected": recovery(), "untrained": recovery(False, "different")}


def places(*errors):
    """Numbers of far states by distance: a range of 0.5 au for each error."""
    found = {"closest": 0.5}
    for k, error in enumerate(errors, 1):
        found |= {f"place_{k}_error": error, f"place_{k}_to": 0.5 + 0.5 * k}
    return found


OF_FIELD = {"size": 1.0, "field_error": 0.02, "kick_field_error": 0.02, "smooth_share": 0.1}
RIGHT = {"error": 0.03} | OF_FIELD | places(*6 * [0.03]) | {
    name: 0.004 for part in PARTS for name in (part, f"{part}_half_width")
}  # fmt: skip
FAR = {"": RIGHT, "injected": {"error": 1e-5}}
LOST = {**RIGHT, **places(*6 * [0.5]), "error": 0.5, "field_error": 0.4, "kick_field_error": 0.2}


def failed(kicked=GOOD, kicks=KICKS, controls=CONTROLS, thresholds=T, far=FAR):
    gates = model_gates(kicked, kicks, controls, thresholds, far)
    return [gate.name for gate in gates if not gate.passed]


def with_gate(name, passed):
    """The good recovery with one of its gates changed."""
    gates = [replace(g, passed=passed) if g.name == name else g for g in GOOD.gates]
    return recovery(gates=tuple(gates))


def test_good_evidence_passes_every_gate():
    assert failed() == []
    gates = model_gates(GOOD, KICKS, CONTROLS, T, FAR)
    words = about_the_model("newton", gates, 0.99, False, T.orbit_r2)
    assert "believes in newton" in words
    assert "does not come out of permuted targets or an untrained network" in words
    assert "does when the true law is injected" in words
    words = about_the_model("newton", model_gates(GOOD, KICKS, {}, T, FAR), 0.99, False, T.orbit_r2)
    assert "untrained" not in words


@pytest.mark.parametrize(
    ("measured", "gate"),
    [
        ({}, ["kick R² after 1 step", "kick R² after 4 steps"]),
        ({"1": 0.99}, ["kick R² after 4 steps"]),
        ({"2": 0.99, "4": 0.99}, []),  # where masses differ, the second step is the first
        ({"1": 0.96, "4": 0.99}, ["kick R² after 1 step"]),
        ({"1": 0.99, "4": None}, ["kick R² after 4 steps"]),
    ],
)
def test_a_kick_that_fails_or_was_not_measured_is_no_pass(measured, gate):
    assert failed(kicks=measured) == gate


@pytest.mark.parametrize("name", [gate.name for gate in GOOD.gates])
def test_every_gate_of_the_recovery_counts_for_the_model(name):
    assert failed(with_gate(name, False)) == [name]


@pytest.mark.parametrize("name", ["exponent of r", "constant GM"])
def test_what_a_run_could_not_measure_is_no_pass(name):
    without = recovery(gates=tuple(gate for gate in GOOD.gates if gate.name != name))
    assert failed(without) == [name.removesuffix(" GM")]


def test_controls_that_answer_wrongly_fail():
    assert failed(controls=CONTROLS | {"untrained": recovery()}) == ["untrained network"]
    blind = CONTROLS | {"injected": recovery(False, "different")}
    assert failed(controls=blind) == ["true law injected"]


def finding(verdict="up_to_scale", agreeing=5, exponent=-2.0, r2=0.99, seeds=5):
    """A finding of the search, good unless changed."""
    law = Fitted(None, (39.5,), 0.0, 0.0, 5, "operon")
    outcome = Outcome(law, None, agreeing, seeds, 0.02, [])
    interval = Estimate(exponent, exponent - 0.01, exponent + 0.01)
    return Finding(
        outcome, law, None, Comparison(verdict, ""), r2, None, [], None,
        {"r": interval}, {"r": -2.0}, None, Evidence(1.0, 1.0, 0.5, 0.0),
    )  # fmt: skip


def gm(error):
    """A constant that is off by so much."""
    return Quantity(39.478 * (1 + error), name="GM", truth=39.478, relative_error=error)


GM = gm(-0.002)


@pytest.mark.parametrize(
    ("found", "constant", "non_central", "gate"),
    [
        (finding("same_exponents"), GM, 0.0, "structure"),
        (finding(exponent=-2.051), GM, 0.0, "exponent of r"),
        (finding(exponent=-1.949), GM, 0.0, "exponent of r"),
        (finding(), gm(-0.051), 0.0, "constant GM"),
        (finding(), gm(0.051), 0.0, "constant GM"),
        (finding(r2=0.89), GM, 0.0, "held-out R²"),
        (finding(agreeing=3), GM, 0.0, "seeds"),
        (finding(agreeing=15, seeds=20), GM, 0.0, "seeds"),
        (finding(), GM, 0.16, "central"),
    ],
)
def test_each_gate_of_a_law_alone_says_no(found, constant, non_central, gate):
    assert all(g.passed for g in law_gates(finding(), [GM], T, 0.0))
    gates = law_gates(found, [constant], T, non_central)
    assert [g.name for g in gates if not g.passed] == [gate]


def test_thresholds_stand_where_the_table_says():
    """Just inside passes, just outside does not: no gate has a line of its own."""
    inside = finding(agreeing=4, exponent=-1.951, r2=0.9)
    assert all(g.passed for g in law_gates(inside, [gm(0.049)], T, 0.15))
    assert failed(kicks={"1": 0.97, "4": 0.97}) == []
    assert failed(kicks={"1": 0.9699, "4": 0.97}) == ["kick R² after 1 step"]
    strict = Thresholds(kick_r2=0.99)
    assert failed(kicks={"1": 0.985, "4": 0.995}, thresholds=strict) == ["kick R² after 1 step"]


def test_the_words_tell_an_ellipse_fitter_from_a_failed_instrument():
    gates = model_gates(GOOD, {"1": -3.0, "4": 0.985}, CONTROLS, T, FAR)
    words = about_the_model("newton", gates, 0.99, True, T.orbit_r2)
    assert "shape of the orbits" in words
    assert "Newton is not recovered" in words
    words = about_the_model("GM*r**-2", gates, 0.99, False, T.orbit_r2)
    assert "not follow the force as closely as required (kick R² after 1 step)" in words
    assert "GM*r**-2 is not recovered" in words
    assert "no law of force" in about_the_model("newton", gates, 0.1, False, T.orbit_r2)
    gates = model_gates(GOOD, KICKS, CONTROLS | {"untrained": recovery()}, T, FAR)
    words = about_the_model("newton", gates, 0.99, False, T.orbit_r2)
    assert words.startswith("No conclusion")
    gates = model_gates(with_gate("seeds", False), KICKS, CONTROLS, T, FAR)
    words = about_the_model("hooke", gates, 0.99, False, T.orbit_r2)
    assert "hooke is not recovered from it: seeds failed" in words


def kind(orbit, first, fourth, law=LAW, far=None, **more):
    """The world-model score; far states are right where the kick is, unless said."""
    far = far or {"": RIGHT if (first or -1) >= 0.9 and (fourth or -1) >= 0.9 else LOST}
    return world_model_kind(orbit, law, {"1": first, "4": fourth}, T, far=far, **more)


def test_far_states_decide_between_a_force_and_a_lookup():
    far = failed(far={**FAR, "": LOST})
    assert far == ["far states", "far states by distance"]
    assert failed(far={})[0] == "far states"  # what was not measured is no pass
    drag = ["no part along the velocity", "nothing else for certain"]
    assert failed(far={"": {**RIGHT, "drag": 0.05}}) == drag
    sure = {**RIGHT, "exponent": 0.02, "exponent_half_width": 0.001}
    assert failed(far={"": sure}) == ["nothing else for certain"]
    assert failed(far={"": {**sure, "exponent_half_width": 0.02}}) == []
    assert kind(0.99, 0.99, 0.99, far={"": LOST}).kind == INTERPOLATOR
    assert kind(0.99, 0.99, 0.99, far={"": {}}).kind == NEITHER
    drag = {"": {**RIGHT, "drag": 0.1}}
    assert kind(0.99, 0.99, 0.99, far=drag).kind == ANOTHER
    assert kind(0.5, 0.3, 0.4, NO_LAW, far={"": {**RIGHT, "error": 0.6}}).kind == ANOTHER
    # a coarse step: the injected law is no better
    coarse = {"": {**RIGHT, **places(*6 * [0.2]), "error": 0.2}, "injected": {"error": 0.1}}
    assert failed(far=coarse) == []


def test_the_region_is_where_the_law_holds():
    inner = {**RIGHT, **places(0.02, 0.03, 0.03, 0.05, 0.6, 0.02)}
    assert kind(0.99, 0.99, 0.99, far={"": inner}).region == Region(0.5, 2.5, 4 / 6)
    assert failed(far={"": inner}) == []
    thin = {**RIGHT, **places(0.02, 0.6, 0.03, 0.03, 0.6, 0.02)}
    assert failed(far={"": thin}) == ["far states by distance"]
    assert kind(0.99, 0.99, 0.99, far={"": LOST}).region is None


def test_a_keplerian_model_errs_as_an_ellipse_does():
    def beside(*likeness):
        found = dict(zip(("1", "4"), likeness, strict=True))
        return replace(NO_LAW, metrics={"ellipse": {"kick_likeness": found}})

    orbit = {"ellipse": {"r2": 1.0}}
    assert kind(0.99, -3.0, -1.0, beside(0.9, 0.9), copiers=orbit).kind == KEPLERIAN
    assert kind(0.99, -3.0, -1.0, beside(0.9, 0.3), copiers=orbit).kind == NEITHER
    # orbits that are no ellipses are not compared with one
    assert kind(0.99, -3.0, -1.0, beside(0.1, 0.1), copiers={"ellipse": {"r2": 0.1}}).kind == (
        KEPLERIAN
    )


def test_a_lookup_that_is_not_told_apart_is_no_instrument():
    lookup = CONTROLS | {"locally_linear": recovery()}
    assert failed(controls=lookup, far={**FAR, "locally_linear": {"error": 0.5}}) == []
    found = failed(controls=lookup, far={**FAR, "locally_linear": {"error": 0.05}})
    assert found == ["locally linear lookup"]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ((0.999, 0.99, 0.99), NEWTONIAN),
        ((0.5, 0.99, 0.99), NEWTONIAN),  # kicked states decide, not the training distribution
        ((0.999, -2.8, -0.4, NO_LAW), KEPLERIAN),
        ((0.999, -2.8, -0.4, LAW), KEPLERIAN),
        ((0.79, -2.8, -0.4, NO_LAW), NEITHER),  # poor on undisturbed orbits already
        ((0.81, -2.8, -0.4, NO_LAW), KEPLERIAN),
        ((0.978, -1.34, 0.97, NO_LAW), NEITHER),  # lost for three steps: its memory is short
        ((0.978, -1.34, 0.89, NO_LAW), KEPLERIAN),
        ((0.999, 0.5, -0.4, NO_LAW), KEPLERIAN),
        ((0.999, 0.51, -0.4, NO_LAW), NEITHER),  # after the kick it is half right at once
        ((0.999, 0.9, 0.9), NEWTONIAN),
        ((0.999, 0.89, 0.99), NEITHER),
        ((0.999, 0.69, 0.99), NEITHER),  # half-way: a context of 8 with varying GM
        ((0.1, -2.8, -0.4, NO_LAW), NEITHER),  # an untrained network
        ((0.999, 0.99, 0.99, NO_LAW), ANOTHER),  # follows a force, but not this law
        ((0.999, 0.99, 0.3), NEITHER),
        ((None, 0.99, 0.99), NEWTONIAN),
        ((None, -2.8, -0.4), NEITHER),
    ],
)
def test_the_kind_follows_from_kicks_and_the_law(evidence, expected):
    assert kind(*evidence).kind == expected


def test_a_jacobian_that_reaches_far_back_is_not_newtonian():
    assert kind(0.999, 0.99, 0.99, locality=0.99).kind == NEWTONIAN
    assert kind(0.999, 0.99, 0.99, locality=0.4).kind == NEITHER
    assert kind(0.999, 0.99, 0.99, locality=0.9).kind == NEWTONIAN
    assert kind(0.999, 0.99, 0.99, locality=0.89).kind == NEITHER
    # where GM varies older positions may matter
    assert kind(0.999, 0.99, 0.99, locality=0.0, gm_varies=True).kind == NEWTONIAN


def test_a_short_memory_is_told_from_an_ellipse():
    found = kind(0.978, -1.34, 0.97, NO_LAW, locality=0.2)
    assert "memory is short" in about_the_kind(found)
    assert kind(0.978, -1.34, 0.57, NO_LAW).kind == KEPLERIAN


def test_a_law_that_is_not_found_in_its_own_states_is_not_asked_of_the_model():
    for injected, expected in ((None, ANOTHER), (LAW, ANOTHER), (NO_LAW, NEWTONIAN)):
        found = kind(0.9999, 0.999, 0.999, NO_LAW, locality=1.0, injected=injected)
        assert found.kind == expected
    assert kind(0.9999, -2, -1, NO_LAW, injected=NO_LAW).kind == KEPLERIAN


@pytest.mark.parametrize(
    ("gain", "likeness", "kicked", "first", "fourth", "expected"),
    [
        (0.0, 1.0, 0.0, -2.0, 0.6, PARROT),
        (-3.0, 0.6, -3.0, -2.0, 0.6, PARROT),  # worse than the copier, in its way
        (0.6, 1.0, 0.0, -2.0, 0.6, KEPLERIAN),  # it knows what the copier lacks
        (0.0, 0.4, 0.0, -2.0, 0.6, KEPLERIAN),  # wrong in other ways than the copier
        (0.0, 1.0, 0.6, -2.0, 0.6, KEPLERIAN),  # better than the copier after a kick
        (0.0, 1.0, 0.0, 0.6, 0.6, NEITHER),  # not lost after a kick
        (0.0, 1.0, 0.0, -2.0, 0.95, NEITHER),  # right again soon
        (None, None, None, -2.0, 0.6, KEPLERIAN),  # never compared
    ],
)
def test_a_parrot_is_no_better_than_a_copier_and_wrong_as_it_is(
    gain, likeness, kicked, first, fourth, expected
):
    for name in COPIERS:  # of the context, of the training orbits: either will do
        law = replace(NO_LAW, metrics={name: {"kick_gain": {"1": kicked}}})
        beside = None if gain is None else {name: {"gain": gain, "likeness": likeness}}
        found = kind(0.97, first, fourth, law, copiers=beside)
        assert found.kind == expected
        assert (expected == PARROT) == all(gate.passed for gate in found.parrot)
        assert kind(0.7, first, fourth, law, copiers=beside).kind == NEITHER  # poor undisturbed


def test_the_copier_that_a_model_is_likest_to_stands_beside_it():
    def beside(*likeness):
        return {n: {"gain": 0.9, "likeness": v} for n, v in zip(COPIERS, likeness, strict=True)}

    law = replace(NO_LAW, metrics={n: {"kick_gain": {"1": 0.0}} for n in COPIERS})
    of_context = kind(0.97, -2.0, 0.6, law, copiers=beside(0.9, 0.2))
    of_training = kind(0.97, -2.0, 0.6, law, copiers=beside(0.2, 0.9))
    assert of_context.kind == of_training.kind == KEPLERIAN  # it gains too much
    assert not any("training" in gate.name for gate in of_context.parrot)
    assert any("training" in gate.name for gate in of_training.parrot)
    mixed = beside(0.9, 1.0)
    mixed["training_copier"]["gain"] = 0.0
    repeats = kind(0.97, -2.0, 0.6, law, copiers=mixed)
    assert repeats.kind == PARROT
    assert "as a naive copier of its training orbits is" in about_the_kind(repeats)
    mixed["copier"]["gain"] = 0.0
    assert "as a naive copier of the context is" in about_the_kind(
        kind(0.97, -2.0, 0.6, law, copiers=mixed)
    )


def test_a_kick_that_was_not_measured_makes_nobody_newtonian():
    assert world_model_kind(0.999, LAW, {}, T).kind == NEITHER
    assert world_model_kind(0.999, LAW, {"1": 0.99}, T).kind == NEITHER
    assert world_model_kind(0.999, LAW, {"1": 0.99, "4": None}, T).kind == NEITHER


@given(
    orbit=st.floats(-100, 1), first=st.floats(-100, 1), fourth=st.floats(-100, 1),
    law=st.sampled_from([LAW, NO_LAW]), locality=st.none() | st.floats(0, 1),
)  # fmt: skip
def test_the_gates_beside_the_word_explain_it(orbit, first, fourth, law, locality):
    found = kind(orbit, first, fourth, law, locality=locality)
    newtonian = [gate.passed for gate in found.newtonian if gate.passed is not None]
    keplerian = [gate.passed for gate in found.keplerian if gate.passed is not None]
    assert (found.kind == NEWTONIAN) == all(newtonian)
    assert (found.kind == KEPLERIAN) == all(keplerian)
    assert about_the_kind(found)


def assembled(folder, law="newton", readouts=(), **laws):
    """A run whose steps have found these laws."""
    for name, found in laws.items():
        found.write(folder / "laws" / f"{name}.json")
        title = "far" if name in ("kicked", "planets") else f"far_{name}"
        write_json(folder / "readouts" / f"{title}.json", {"metrics": RIGHT})
    sources = tuple(name for name in laws if name in ("kicked", "planets"))
    controls = tuple(name for name in laws if name not in sources)
    config = RunConfig.of(
        {"out": str(folder), "law": law, "sources": sources, "controls": controls,
         "readouts": readouts}
    )  # fmt: skip
    return judged(config, folder, {})


@pytest.mark.parametrize(
    ("kicks", "untrained", "recovered"),
    [
        (KICKS, CONTROLS["untrained"], True),
        ({"1": 0.99, "4": 0.5}, CONTROLS["untrained"], False),
        (KICKS, recovery(), False),
    ],
)
def test_the_verdict_of_a_run_counts_kicks_and_controls(tmp_path, kicks, untrained, recovered):
    """The law of the kicked states is the right one each time."""
    kicked = recovery(metrics={"r2": 0.99, "kick_r2": kicks})
    found = assembled(tmp_path, kicked=kicked, untrained=untrained, injected=recovery())
    assert found.recovered is recovered
    assert found.sources["kicked"].kick_r2 == kicks


@pytest.mark.parametrize(("law", "r2"), [("newton", 0.98), ("hooke", None)])
def test_real_planets_are_compared_with_newton_alone(tmp_path, law, r2):
    """A probe knows only what moves the planets; of a model of another law it says nothing."""
    kicked, planets = (recovery(metrics={"r2": 0.98, "kick_r2": KICKS}) for _ in range(2))
    assert assembled(tmp_path, law, kicked=kicked, planets=planets).sources["planets"].r2 == r2


def test_what_would_go_unnoticed_follows_from_the_half_widths():
    far = {name: 0.0 for part in PARTS for name in (part, f"{part}_half_width")}
    far |= {"exponent_half_width": 0.01, "curvature_half_width": 0.01, "drag_half_width": 0.025}
    far |= {"exponent_per_exponent": 0.5, "exponent_per_yukawa": 0.2, "curvature_per_yukawa": 0.1}
    found = unnoticed(far, T)
    assert found["exponent"] == pytest.approx((T.field_sure + 0.01) / 0.5)
    assert found["yukawa"] == pytest.approx(((T.field_sure + 0.01) / 0.2) ** -0.5)
    assert found["drag"] == pytest.approx(T.field_part - 0.025)
    assert found["magnetic"] == T.field_sure


@pytest.mark.parametrize(
    ("left", "share", "passed"), [(0.02, 0.8, False), (0.02, 0.1, True), (0.005, 0.8, True)]
)
def test_a_smooth_departure_that_no_part_names_is_another_force(left, share, passed):
    far = FAR | {"": RIGHT | {"field_error": left, "smooth_share": share}}
    assert (failed(far=far) == []) is passed


def test_a_misfit_within_the_floor_is_said_to_be():
    def judged_by(misfit):
        evidence = replace(finding().evidence, misfit_p=1e-9, misfit=misfit)
        return law_gates(replace(finding(), evidence=evidence), [gm(0.0)], T, 0.0)[-1]

    assert judged_by(1e-6).passed
    assert "within the error floor" in judged_by(1e-6).found
    assert not judged_by(1.0).passed
