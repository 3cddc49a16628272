"""Formulas from users: read as mathematics, never run."""

import signal
import sys
import time

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from orbits.expressions import algebra, parse_expression
from orbits.forces import parse_law
from orbits.simulators.integrate import integrate
from orbits.time_limit import TooLongError, limited
from orbits.units import GM_SUN

r, k = sympy.symbols("r k", positive=True)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("k*r**-2.5", k * r ** sympy.Rational(-5, 2)),
        ("k/r^2 + 0.1*k/r^4", k / r**2 + k / (10 * r**4)),
        ("k*exp(-r/2)/r", k * sympy.exp(-r / 2) / r),
        ("-(-k)*sqrt(r)", k * sympy.sqrt(r)),
        ("4*pi**2/r**2", 4 * sympy.pi**2 / r**2),
        ("log(1 + r)", sympy.log(1 + r)),
    ],
)
def test_formulas_mean_what_they_say(text, meaning):
    assert sympy.simplify(parse_expression(text) - meaning) == 0


def formulas():
    numbers = st.integers(1, 9).map(str) | st.sampled_from(["0.5", "2.25"])
    return st.recursive(
        st.just("r") | st.just("k") | numbers,
        lambda inner: st.tuples(inner, st.sampled_from("+*/"), inner).map(
            lambda parts: "({}{}{})".format(*parts)
        ),
        max_leaves=8,
    )


@given(formulas())
@settings(deadline=None)
def test_numbers_come_out_as_in_python(text):
    expected = eval(text, {"r": 1.7, "k": 0.3})
    found = parse_expression(text, {"r": r, "k": k}).subs({r: 1.7, k: 0.3})
    assert float(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "text",
    ["__import__('os').system('true')", "r.__class__", "(lambda: r)()", "[r for r in r]",
     "r if r else k", "r == k", "'r'", "True*r", "r[0]", "open('x')", "exec('1')", "sin(r, k)",
     "sin(x=r)", "1j*r", "f'{r}'", "r := 2", "", "r +", "r; k"],
)  # fmt: skip
def test_anything_but_a_formula_is_refused(text):
    with pytest.raises(ValueError, match="formula"):
        parse_expression(text)


@pytest.mark.parametrize(
    "text",
    ["2**10**9", "9**9**9**9", "exp(exp(100))", "(10**64)**64", "1e300*r", "1e999", "1/0", "0**-1",
     "sqrt(-1)*r", "r*asin(3)", "r**log(0.5)**exp(2)", "sqrt(sin(4))*r", "log(0)", "r**1000",
     "+".join(["r"] * 400), "-" * 300 + "r"],
)  # fmt: skip
def test_endless_or_infinite_formulas_are_refused_at_once(text):
    with pytest.raises(ValueError, match="formula"):
        parse_expression(text)


HOSTILE = [
    "k*(((r+1)**64)**64)**64", "9**9**9", "1" * 400 + "*r", "2**sqrt(-1)*r",
    "(" * 2000 + "r" + ")" * 2000, "expand((r+1)**9)", "k*(r+a)**64*(r+b)**64*(r+c)**64",
    "exp((r+1)**64)**64", "foo(" + "-" * 300 + "r)", "*".join(["1e99"] * 80) + "*r", "r\udc80",
]  # fmt: skip
"""Formulas that kept sympy busy for ever, or ended in a traceback."""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_formulas_are_refused_in_one_short_line(text):
    began = time.process_time()
    with pytest.raises(ValueError, match=r"formula|law") as refusal:
        parse_law(text)
    assert len(str(refusal.value)) < 500
    assert time.process_time() - began < 8  # the limit of algebra, and a little


def test_algebra_that_takes_too_long_is_stopped():
    x = sympy.symbols("x0:9", positive=True)
    began = time.monotonic()
    with pytest.raises(TooLongError, match=r"longer than 0\.2 s"):
        algebra("k*r", lambda: sympy.expand(sum(x) ** 40), 0.2)
    assert time.monotonic() - began < 30


def fired(call, chosen):
    """A call under a limit whose signal comes at one step of this module's lines, by its number, or
    at all; what came out, and how many steps there were."""
    steps = 0

    def trace(frame, event, argument):
        nonlocal steps
        if frame.f_code.co_filename != limited.__code__.co_filename:
            return None
        frame.f_trace_opcodes = True
        if signal.getsignal(signal.SIGVTALRM) is not signal.SIG_DFL:  # its own, not the default
            if chosen in (steps, "all"):
                signal.raise_signal(signal.SIGVTALRM)
            steps += 1
        return trace

    earlier = sys.gettrace()
    sys.settrace(trace)
    try:
        outcome = limited(100, "stopped", call)
    except ValueError as error:  # of the call, or a TooLongError
        outcome = str(error)
    finally:
        sys.settrace(earlier)
    return outcome, steps


def nested():
    return limited(50, "stopped", lambda: "done")


@pytest.mark.parametrize("call", [lambda: "done", nested, lambda: int("a")])
def test_time_that_is_up_at_any_step_of_the_end_leaves_nothing_outside(call):
    whole, steps = fired(call, None)
    outcomes = [fired(call, chosen)[0] for chosen in ("all", *range(steps))]
    assert {*outcomes} == {whole, "stopped"}
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


@given(st.text(max_size=30))
@settings(deadline=None)
def test_no_text_whatever_does_more_than_raise_value_error(text):
    for read in (parse_expression, parse_law):
        try:
            read(text)
        except ValueError as error:
            assert str(error)  # noqa: PT017


@pytest.mark.parametrize("simulator", ["scipy", "heyoka"])
@pytest.mark.parametrize(
    ("formula", "name"),
    [
        ("k*r**-2", "newton"),
        ("GM/r**2", "newton"),
        ("GM*r", "hooke"),
        ("GM/r", "logarithmic"),
        ("GM/r**n; n=2.5", "power_law(n=2.5)"),
        ("GM*exp(-r/b)*(1/r**2 + 1/(b*r)); b=0.7", "yukawa(length=0.7)"),
        ("GM*r/(r**2+0.01)**1.5", "plummer(softening=0.1)"),
        ("sqrt(GM*4*pi**2)/r", "deep_mond"),
    ],
)
def test_a_formula_moves_bodies_as_the_named_law_does(formula, name, simulator):
    written, known = parse_law(formula), parse_law(name)
    radii = np.geomspace(0.1, 20, 50)
    np.testing.assert_allclose(
        written.radial_acceleration(radii, 30.0), known.radial_acceleration(radii, 30.0), rtol=1e-13
    )
    difference = written.potential(radii, 30.0) - known.potential(radii, 30.0)
    np.testing.assert_allclose(
        difference, difference[0], atol=1e-9 * np.ptp(known.potential(radii, 30.0))
    )
    assert written.linear_in_gm == known.linear_in_gm
    start = np.array([[1.0, 0.0]]), np.array([[0.0, 5.0]]), np.array([GM_SUN])
    times = np.linspace(0, 1, 9)
    x = integrate(written, *start, times, simulator)[0]
    np.testing.assert_allclose(x, integrate(known, *start, times, simulator)[0], atol=1e-9)


@pytest.mark.parametrize("text", ["k*r**-2.5", "GM*exp(-r/b)/r^2; b=0.5", " GM / r ; ", "1/r"])
def test_spec_of_a_formula_reads_back(text):
    law = parse_law(text.rstrip("; "))
    assert parse_law(law.spec) == law
