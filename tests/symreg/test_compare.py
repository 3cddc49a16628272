"""Verdicts on formulas: a hundred pairs, the command, and a time limit that holds."""

import math
import re
import time
from pathlib import Path

import pytest
import sympy
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import symreg
from orbits.command_line import main as run_command
from symreg.cli import COMMANDS, main
from symreg.formulas.compare import compare, decide
from symreg.formulas.expressions import symbol
from symreg.formulas.reading import read_formula

r, m = symbol("r"), symbol("m")
LISTED = yaml.safe_load((Path(__file__).parent / "compare_pairs.yaml").read_text())
PAIRS, HARD = LISTED["pairs"], LISTED["hard"]


@pytest.mark.parametrize(("first", "second", "verdict"), PAIRS)
def test_pairs_are_decided_rightly(first, second, verdict):
    found = decide(read_formula(first), read_formula(second))
    assert found.verdict == verdict, found.reason


@pytest.mark.parametrize(("first", "second"), HARD[:1])
def test_what_sympy_cannot_finish_is_undecided_within_the_limit(first, second):
    began = time.monotonic()
    found = compare(first, second, limit=2)
    assert found.verdict == "undecided"
    # six times the limit and the start-up, on a machine as loaded as that
    assert time.monotonic() - began < 45


@given(st.floats(0.01, 100), st.sampled_from([-3, -2, -1, 1, 2]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_factor_never_changes_the_structure(factor, power, masses):
    law = r**power * (m if masses else 1)
    found = decide(sympy.Float(factor) * law, law)
    assert found.verdict in ("exact", "up_to_scale")
    if found.verdict == "up_to_scale":
        assert found.scale == pytest.approx(factor, rel=1e-9)


@given(st.floats(1e-6, 10), st.sampled_from(["newton", "hooke", "yukawa", "plummer"]))
@settings(max_examples=40, deadline=None)
def test_an_additive_constant_is_never_equivalence(constant, law):
    reference = read_formula(law)
    found = decide(reference.subs(symbol("GM"), 39.478) + constant, reference)
    assert found.verdict not in ("exact", "up_to_scale")


def test_parameters_are_solved_for():
    found = decide(
        read_formula("39.5*exp(-r/2)*(1/r**2 + 1/(2*r))"),
        read_formula("GM*exp(-r/length)*(1/r**2 + 1/(length*r))"),
    )
    assert found.parameters == {"length": pytest.approx(2, rel=1e-6)}


@pytest.mark.parametrize(
    ("formula", "family"),
    [
        # beyond float64 ten times outside the domain
        ("4.3433*exp(0.000851475*(3.20894*r - 12.3645 + log(7.94715*r)/r)**4)", "GM/r**3"),
        ("39.5/r**2", "GM*exp(-r/length)*(1/r**2 + 1/(length*r))"),
        ("39.5/r**2", "GM/r**2 + GM*b/r**4"),
        ("39.5/r**2", "GM*r/(r**2 + softening**2)**(3/2)"),
        ("39.5/r**4", "GM/r**2 + GM*b/r**4"),
    ],
)
def test_a_limit_at_zero_or_infinity_is_no_equivalence(formula, family):
    found = decide(read_formula(formula), read_formula(family))
    assert found.verdict == "different"
    assert found.parameters == {}


def run(*arguments):
    return run_command("symreg", COMMANDS, list(arguments))


def test_the_command_prints_the_verdict(capsys):
    assert run("compare", "39.478/r^2", "newton") == 0
    assert re.match(r"verdict +up_to_scale\n", capsys.readouterr().out)


def test_the_engines_are_listed_with_how_to_get_them(capsys):
    assert run("engines") == 0
    listed = capsys.readouterr().out
    for name in ("pysr", "expressions", "projection", "portfolio"):
        assert name in listed


@pytest.mark.parametrize(
    ("first", "second", "verdict", "scale"),
    [
        ("1.00000001*r", "r", "up_to_scale", 1.00000001),
        ("1.000000000000002*r", "r", "up_to_scale", 1.000000000000002),
        ("r**1.000000001", "r", "same_exponents", None),
        ("r**2.00000000001/r", "r", "same_exponents", None),
        ("r + 1e-12", "r", "different", None),
        ("3.14159265358979*r", "pi*r", "up_to_scale", None),
        ("exp(1.0000000001*r)", "exp(r)", "different", None),
        ("0.1*3*r", "0.3*r", "exact", 1.0),
        ("1.1*1.1*r", "1.21*r", "exact", 1.0),
        ("2.5*r/2.5", "r", "exact", 1.0),
        ("r**0.5", "sqrt(r)", "exact", 1.0),
        ("r*2**0.5", "sqrt(2)*r", "exact", 1.0),
    ],
)
def test_exact_means_equal_to_the_last_digit(first, second, verdict, scale):
    answer = symreg.compare(first, second)
    assert answer.verdict == verdict
    if scale is not None:
        assert answer.scale == pytest.approx(scale, rel=1e-15)
        assert verdict == "exact" or f"{scale:.15g}" in answer.reason


@given(st.floats(1e-15, 1e-7), st.sampled_from(["r", "m*r", "exp(-r)/r", "sqrt(r) + m"]))
@settings(max_examples=20, deadline=None)
def test_nothing_that_differs_is_exact(apart, formula):
    assert symreg.compare(f"{1 + apart!r}*({formula})", formula).verdict == "up_to_scale"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"variables": "mass"}, "mass is in neither formula; they have radius"),
        ({"variables": ["radius", "q"]}, "q is in neither formula"),
        ({"domain": {"q": (1, 2)}}, "q is in neither formula"),
        ({"domain": {"radius": (0, 1)}}, "greater than 0"),
        ({"domain": {"radius": (2, 1)}}, "a range is needed"),
        ({"domain": {"radius": (math.nan, 1)}}, "finite"),
        ({"domain": 5}, "domain is 5"),
        ({"domain": [1, 2]}, "domain is"),
        ({"margin": math.nan}, "margin is nan"),
        ({"margin": 1e308}, "less than 1"),
        ({"margin": -0.1}, "greater than or equal to 0"),
        ({"limit": 0}, "greater than 0"),
        ({"variables": 5}, "variables is 5"),
    ],
)
def test_python_checks_what_the_command_checks(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        symreg.compare("radius", "radius**2", **arguments)


def test_one_text_of_variables_is_read_as_names():
    answer = symreg.compare("k*radius*m", "radius*m", "radius, m")
    assert list(answer.domain) == ["m", "radius"]
    assert symreg.compare("radius", "radius**2", "radius").verdict == "different"


def test_the_command_refuses_a_variable_of_neither_formula(capsys):
    assert main(["compare", "r", "r**2", "--variables", "q"]) == 2
    assert "q is in neither formula" in capsys.readouterr().err
