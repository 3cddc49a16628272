"""Errors as a table has them: large, of counts, and of rounding to single precision."""

import re

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symreg.engines.base import is_exact
from symreg.fit.errors import ADDITIVE, ROUNDING, errors_of, rounding_left
from symreg.fit.expansions import break_of
from symreg.fit.refine import refitted
from symreg.fit.samples import Samples
from symreg.formulas.precision import SINGLE, is_single, rounding
from symreg.recovery.recover import recover


def samples_of(y, **columns):
    return Samples(np.column_stack(list(columns.values())), y, tuple(columns), np.arange(len(y)))


@settings(max_examples=12, deadline=None)
@given(kind=st.sampled_from(["additive", "relative", "logarithmic"]), seed=st.integers(0, 10**6))
def test_large_errors_are_told_apart(kind, seed):
    """40 % of the value over three decades is no additive error, whatever sign it gives a few."""
    rng = np.random.default_rng(seed)
    x, normal = rng.uniform(1, 20, 300), rng.standard_normal(300)
    truth = 3 * x**2
    y = {
        "additive": truth + 100 * normal,
        "relative": truth * (1 + 0.4 * normal),
        "logarithmic": truth * np.exp(0.6 * normal),
    }[kind]
    law = refitted(sympy.sympify("2.5*x**2.1"), samples_of(y, x=x), "")
    errors, (fitted,) = errors_of(samples_of(y, x=x), [law])
    assert errors.kind.name == kind
    assert fitted.constants[1] == pytest.approx(2, abs=0.2)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_errors_of_counts_go_like_their_roots(seed):
    """Whole numbers alone do not make them so: a constant error that is rounded stays additive."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(1, 20, 300)
    for y, kind in (
        (rng.poisson(3 * x**1.5), "counts"),
        (np.maximum(np.round(3 * x**1.5 + 8 * rng.standard_normal(300)), 0), "additive"),
    ):
        law = refitted(sympy.sympify("2.5*x**1.6"), samples_of(y.astype(float), x=x), "")
        errors, (fitted,) = errors_of(samples_of(y.astype(float), x=x), [law])
        assert errors.kind.name == kind
        assert fitted.constants[1] == pytest.approx(1.5, abs=0.1)


def successes(rows=90, seed=0):
    rng = np.random.default_rng(seed)
    dose, trials = rng.uniform(-3, 3, rows), rng.integers(4, 40, rows)
    share = rng.binomial(trials, 1 / (1 + np.exp(-2 * (dose - 0.5)))) / trials
    return pd.DataFrame({"dose": dose, "trials": trials, "share": share})


def test_shares_of_trials_have_binomial_errors():
    """Rows in which nothing or everything succeeded say what they can, and are no outliers."""
    inside = 0
    for seed in range(6):
        table = successes(seed=seed)
        assert {0.0, 1.0} <= set(table.share)
        law = recover(
            table, target="share", features="dose", trials="trials", null=False,
            form="1/(1 + exp(-a*(dose - b)))",
        )  # fmt: skip
        assert law.noise == f"binomial, of {table.trials.min()} to {table.trials.max()} trials"
        assert law.rows_left_out == 0
        a, b = law.coefficients["a"], law.coefficients["b"]
        inside += (a.low <= 2 <= a.high) + (b.low <= 0.5 <= b.high)
    assert inside >= 9  # of 12 intervals of 95 %; fewer have a chance of 2e-3


@pytest.mark.parametrize(
    ("errors", "least", "says"),
    [("counts", -1.0, "n must be 0 or more"), ("logarithmic", 0.0, "n must be positive")],
)
def test_errors_that_the_target_cannot_have_are_refused(errors, least, says):
    table = pd.DataFrame({"t": np.arange(20.0), "n": np.arange(20.0) + least})
    with pytest.raises(ValueError, match=says):
        recover(table, target="n", features="t", errors=errors)


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        ({}, {"trials": "0"}, "at least 1"),
        ({"share": np.arange(90) / 60}, {"trials": "trials"}, "from 0 to 1"),
        ({}, {"trials": "trial"}, "did you mean 'trials'"),
        ({}, {"trials": "20", "sigma": "0.1"}, "leave --sigma"),
    ],
)
def test_trials_that_cannot_be_are_refused(change, options, says):
    with pytest.raises(ValueError, match=says):
        recover(successes().assign(**change), target="share", features="dose", **options)


@pytest.mark.parametrize("written", [False, True])
def test_single_precision_is_seen(written):
    rng = np.random.default_rng(0)
    values = rng.uniform(1, 9, 50).astype(np.float32)
    given = values.astype(str).astype(float) if written else values.astype(float)
    assert is_single(given)
    assert rounding(given) == SINGLE
    for others in (np.arange(50.0), np.round(rng.uniform(size=50), 6), rng.uniform(size=50)):
        assert not is_single(others)


LAWS = (
    "a*b*sin(c)", "a*b/(c - 1)", "a*exp(-b)/c", "a*b/(1 + c)", "a*sqrt(b**2 + c**2)",
)  # fmt: skip


@settings(max_examples=20, deadline=None)
@given(law=st.sampled_from(LAWS), seed=st.integers(0, 10**6), before=st.booleans())
@example(law="a*b/(c - 1)", seed=33, before=False)  # a row 1e-5 beside the pole
def test_a_law_leaves_the_rounding_of_features_and_no_more(law, seed, before):
    """Rounded before the target was computed, or with it: near a pole that is a large share."""
    rng = np.random.default_rng(seed)
    X = rng.uniform([0.1, 0.1, 1], [10, 10, 3], (200, 3))
    formula = sympy.sympify(law)
    rounded = X.astype(np.float32).astype(float)
    y = sympy.lambdify(sympy.symbols("a b c"), formula)(*(rounded if before else X).T)
    samples = Samples(rounded, y.astype(np.float32).astype(float), tuple("abc"), np.arange(200))
    right = refitted(formula, samples, "")
    assert rounding_left(right, samples) < 1.3
    assert is_exact(formula, samples.X, samples.y, samples.names)
    wrong = refitted(formula + sympy.Float(1e-4) * sympy.Symbol("a", positive=True), samples, "")
    errors, _ = errors_of(samples, [right, wrong])
    assert errors.kind is ROUNDING
    assert errors.law == right
    assert not is_exact(formula * (1 + 1e-4 * sympy.Symbol("a")), samples.X, samples.y, "abc")


def test_few_values_of_a_target_are_told():
    x = np.random.default_rng(0).uniform(0, 1, 200)
    law = recover(
        pd.DataFrame({"x": x, "y": np.round(1 + x, 1)}), target="y", features="x", form="1 + c*x",
        null=False,
    )  # fmt: skip
    assert any(note.startswith("y has 11 different values in 200 rows") for note in law.notes)


def test_a_threshold_below_which_the_target_is_constant_is_located():
    rng = np.random.default_rng(0)
    gate, drain = rng.uniform(0, 3, (2, 200))
    over = np.maximum(gate - 0.7, 0)
    current = np.where(drain < over, 2 * over * drain - drain**2, over**2)
    samples = samples_of(current, gate=gate, drain=drain)
    found = break_of(refitted(sympy.sympify("0.5*gate**2"), samples, ""), samples, 1e-12)
    assert found.feature == "gate"
    assert found.value == pytest.approx(0.7, abs=0.03)


@settings(max_examples=3, deadline=None)
@given(factor=st.sampled_from([0.4, 1.0, 3.0]), seed=st.integers(0, 10**6))
def test_given_errors_are_compared_with_what_the_law_leaves(factor, seed):
    rng = np.random.default_rng(seed)
    x, own = rng.uniform(1, 3, 150), rng.uniform(0.02, 0.05, 150)
    table = pd.DataFrame({"x": x, "s": own})
    table["y"] = 2 * x**2 + factor * own * rng.standard_normal(150)
    law = recover(table, target="y", features="x", sigma="s", form="k*x**n", null=False)
    said = re.fullmatch(r"as given(?:; the law leaves (\S+) times as much)?", law.noise)
    assert (said[1] is None) == (factor == 1)
    assert factor == 1 or float(said[1]) == pytest.approx(factor, rel=0.25)


@pytest.mark.parametrize("seed", range(3))
def test_kinds_are_compared_on_the_same_formulas_short_and_long(seed):
    """A short one without numbers leaves more than thirty long ones, and is the likeliest."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, 20)
    y = np.sinh(x) + 0.006 * random.standard_normal(20)
    samples = samples_of(y, x=x)
    long = (f"1.0*x + 0.2*x**3 + 0.01*x**{power}" for power in range(4, 34))
    laws = [refitted(sympy.sympify(each), samples, "") for each in ("2*x**3/11 + x", *long)]
    assert errors_of(samples, laws)[0].kind == ADDITIVE
