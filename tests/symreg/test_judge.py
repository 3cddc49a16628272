"""The judge of a law in a table: each gate alone must be able to say no."""

from dataclasses import replace

import pytest

from symreg.fit.refine import Law
from symreg.formulas.compare import Comparison
from symreg.recovery.evidence import Evidence
from symreg.recovery.judge import law_gates
from symreg.recovery.result import Quantity
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
