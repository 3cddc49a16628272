"""The judge of a law in a table: each gate alone must be able to say no."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from symreg.fit.expansions import Break, Expansion
from symreg.fit.refine import Law
from symreg.fit.samples import Samples
from symreg.formulas.compare import Comparison
from symreg.recovery.evidence import Evidence
from symreg.recovery.judge import found_gates, law_gates
from symreg.recovery.result import Quantity
from symreg.recovery.rival import Rival
from symreg.recovery.selection import Finding


def finding(verdict="up_to_scale", agreeing=100, exponent=-2.0, r2=0.99, error=-0.002):
    """A finding of the search, good unless changed; its constant is off by so much."""
    law = Law(None, (39.5,), 0.0, 0.0, 5, "expressions")
    power = Quantity(exponent, exponent - 0.01, exponent + 0.01, name="r", truth=-2.0)
    gm = Quantity(39.478 * (1 + error), name="GM", truth=39.478, relative_error=error)
    return Finding(
        law, None, 0.02, agreeing=agreeing, r2_linear=r2, comparison=Comparison(verdict, ""),
        evidence=Evidence(1.0, 1.0, 0.5, 0.0), exponents={"r": power}, constant=gm,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "non_central", "gate"),
    [
        (finding("same_exponents"), 0.0, "structure"),
        (finding(exponent=-2.051), 0.0, "exponent of r"),
        (finding(exponent=-1.949), 0.0, "exponent of r"),
        (finding(error=-0.051), 0.0, "constant GM"),
        (finding(error=0.051), 0.0, "constant GM"),
        (finding(r2=0.89), 0.0, "held-out R²"),
        (finding(agreeing=79), 0.0, "agreement"),
        (finding(), 0.16, "central"),
    ],
)
def test_each_gate_of_a_law_alone_says_no(found, non_central, gate):
    assert all(g.passed for g in law_gates(finding(), 0.0))
    gates = law_gates(found, non_central)
    assert [g.name for g in gates if not g.passed] == [gate]


R, C = sympy.Symbol("r", positive=True), sympy.Symbol("c0", real=True)
ROWS = Samples(np.ones((60, 1)), np.ones(60), ("r",), np.arange(60))
OTHER = Rival("3.0*r", 0.2, 3, as_good=True)


def found_law(form=C / R**2, measured=(), **changed):
    """A law of a table with noise, found unless something is changed."""
    evidence = Evidence(
        1.0, 1.0, 0.5, 0.0, error=0.01, worst=0.03, numbers=1,
        expansion=Expansion(0.01, 0.01, 3, True), values=60, spare=40,
    )  # fmt: skip
    known = {"agreeing": 100, "r2_linear": 0.99, "saved": 20.0}
    known |= {"rivals": (replace(OTHER, as_good=False),), "own_exponents": {"r": -2.0}}
    known |= {"exponents": {"r": Quantity(-2.0, -2.01, -1.99, name="r")}}
    evidence = replace(evidence, **dict(measured))
    law = Law(form, (39.5,), 1e-4, 0.0, 5, "expressions")
    return Finding(law, ROWS, 0.0, **known | {"evidence": evidence} | changed)


@pytest.mark.parametrize(
    ("gate", "changed"),
    [
        ("held-out R²", {"r2_linear": 0.89}),
        ("held-out error", {"measured": {"held_out_ratio": 3.1}}),
        ("held-out range", {"measured": {"range_ratio": 5.1}}),
        ("distinct points beyond constants", {"measured": {"spare": 2}}),
        ("no smooth misfit", {"measured": {"misfit_p": 9e-5, "misfit": 0.01}}),
        ("no smooth misfit", {"measured": {"misfit_p": None}, "own_exponents": {}}),
        ("power of r", {"own_exponents": {"r": -2.02}}),
        ("shorter than polynomials", {"saved": 1.0}),
        ("beside polynomials", {"measured": {"expansion": Expansion(0.003, 0.01, 3, True)}}),
        ("rounding alone", {"measured": {"error": 1e-8}}),
        ("numbers", {"measured": {"error": 1e-12, "numbers": 3,
                                  "expansion": Expansion(1e-12, 1e-12, 3, False)}}),
        ("no break", {"measured": {"gap": Break("r", 2.0, 0.001)}}),
        ("errors", {"measured": {"one_hump_p": 9e-5}}),
        ("agreement", {"agreeing": 79}),
        ("no other law as good", {"rivals": (OTHER,)}),
        ("search went on", {"cut_short": True}),
        ("neighbours", {"untried": True}),
        ("values of the target", {"measured": {"values": 2}}),
        ("depends on a feature", {"form": C}),
        ("central", {"non_central": 0.16}),
    ],
)  # fmt: skip
def test_each_gate_of_any_law_alone_says_no(gate, changed):
    assert all(g.passed for g in found_gates(found_law(), 0.0))
    across = changed.get("non_central", 0.0)
    changed = {name: value for name, value in changed.items() if name != "non_central"}
    gates = found_gates(found_law(**changed), across)
    assert [g.name for g in gates if not g.passed] == [gate]


def test_thresholds_stand_where_the_table_says():
    """Just inside passes, just outside does not: no gate has a line of its own."""
    inside = finding(agreeing=80, exponent=-1.951, r2=0.9, error=0.049)
    assert all(g.passed for g in law_gates(inside, 0.15))


def test_what_is_not_measured_is_not_passed_and_another_power_refuses():
    def judged_by(powers, **measured):
        evidence = replace(finding().evidence, **measured)
        found = replace(finding(), evidence=evidence, own_exponents=powers)
        return [g.name for g in law_gates(found, 0.0) if not g.passed]

    assert judged_by({}, misfit_p=None) == ["no smooth misfit"]
    assert judged_by({"r": -2.0}, misfit_p=None) == []  # of few groups the power is measured
    assert judged_by({"r": -2.014}) == []
    assert judged_by({"r": -2.016}) == judged_by({"r": -1.984}) == ["power of r"]


def test_a_misfit_within_the_floor_is_said_to_be():
    def judged_by(misfit, floor=0.02, error=0.01):
        evidence = replace(finding().evidence, misfit_p=1e-9, misfit=misfit, error=error)
        return law_gates(replace(finding(), evidence=evidence, error_floor=floor), 0.0)[-1]

    assert judged_by(1e-6).passed
    assert "within the error floor" in judged_by(1e-6).found
    assert not judged_by(1.0).passed
    # a misfit that one measure sees and another has no size of
    assert not judged_by(0.0, floor=0.0).passed
    assert judged_by(0.0, floor=0.0, error=1e-12).passed
