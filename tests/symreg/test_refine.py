"""Refinement keeps what data ask for, and nothing that a systematic error could have made."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symreg.fit.named_laws import fitted_laws
from symreg.fit.noise import sharp, weighed
from symreg.fit.refine import (
    Law,
    freed,
    is_same_law,
    preferred,
    refitted,
    simplified,
)  # fmt: skip
from symreg.fit.samples import Samples
from symreg.formulas.config import EXPONENT_MARGIN
from symreg.formulas.expressions import evaluate, merged, skeleton, symbol
from symreg.recovery.config import RecoverConfig
from symreg.recovery.selection import RESAMPLES, agreeing_with, alike

ERROR_FLOOR = RecoverConfig().floor

r = symbol("r")


def samples_of(function, n=600, noise=0.0, bias=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(np.exp(rng.uniform(np.log(0.3), np.log(3), n)))
    wave = np.sqrt(2) * bias * np.sin(2 * np.pi * np.log(x) / np.log(10) + 1)
    y = function(x) * (1 + wave) * np.exp(noise * rng.standard_normal(n))
    return Samples(x[:, None], y, ("r",), np.arange(n) // 6)


@pytest.mark.parametrize("power", [-3.0, -2.5, -2.0, -1.0, 0.5, 1.0])
def test_exponents_near_half_integers_are_snapped(power):
    samples = samples_of(lambda x: 39.478 * x**power, noise=0.01, bias=0.01)
    law = refitted(40.1 * r ** (power + 0.03), samples, "test")
    snapped = simplified(law, samples, ERROR_FLOOR)
    assert len(snapped.constants) == 1
    assert snapped.constants[0] == pytest.approx(39.478, rel=0.03)


def test_an_exponent_that_is_no_half_integer_stays():
    samples = samples_of(lambda x: 39.478 * x**-2.25, noise=0.01)
    snapped = simplified(refitted(40.0 * r**-2.2, samples, "test"), samples, ERROR_FLOOR)
    assert snapped.constants[1] == pytest.approx(-2.25, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("power", [sympy.Rational(2, 3), sympy.Rational(-1, 3)])
def test_an_exponent_among_noise_may_be_thirds(power, seed):
    samples = samples_of(lambda x: 2.3 * x ** float(power), n=120, noise=0.02, seed=seed)
    law = simplified(refitted(2.1 * r ** float(power + 0.02), samples, "test"), samples, 0.0)
    assert law.form.has(r**power)


def test_a_fraction_that_nobody_writes_is_a_fitted_exponent_among_noise():
    samples = samples_of(lambda x: 2.3 * x**0.63, n=120, noise=0.02)
    odd = refitted(2.1 * r ** sympy.Rational(7, 11), samples, "test")
    (power,) = freed(odd, samples).expression.atoms(sympy.Pow)
    assert power.exp.is_Float
    assert float(power.exp) == pytest.approx(0.63, abs=0.01)
    usual = refitted(2.1 * r ** sympy.Rational(3, 5), samples, "test")
    assert freed(usual, samples).form == usual.form


def test_a_term_that_explains_nothing_is_pruned():
    samples = samples_of(lambda x: 39.478 / x**2, noise=0.01)
    law = refitted(39.0 / r**2 + 0.05 * r + 0.01, samples, "test")
    assert len(simplified(law, samples, ERROR_FLOOR).constants) == 1


def test_what_one_constant_ties_stays_tied_when_numbers_are_fitted():
    # sympy multiplies out a number times a sum: GM·(1 + r)·exp(-r)/r² has one number, not two
    samples = samples_of(lambda x: 39.478 * (1 / x**2 + 1 / x) + 3.5, noise=0.01)
    gm = sympy.Symbol("_c0", real=True)
    tied = Law(gm * (1 / r**2 + 1 / r), (39.0,), 1.0, 0.0, 9, "test")
    assert freed(tied, samples) == tied
    # exact numbers are fitted, also where terms have none
    exact = Law(gm * (1 / r**2 + 1 / r) + sympy.Rational(7, 2), (39.0,), 1.0, 0.0, 9, "test")
    assert freed(exact, samples).constants == pytest.approx((39.478, 3.5), rel=0.2)
    bare = Law(1 / r**2 + sympy.Rational(7, 2) * r, (), 1.0, 0.0, 9, "test")
    assert len(freed(bare, samples).constants) == 2


def test_a_smooth_error_below_the_floor_buys_no_constant():
    # 1.5 % smooth in r: a power law with a bent exponent fits better, and is not the law
    samples = samples_of(lambda x: 39.478 / x**2, noise=0.002, bias=0.015)
    newton = refitted(39.0 / r**2, samples, "test")
    bent = refitted(39.0 * r**-2.02 * (1 + 0.01 * r), samples, "test")
    n = samples.n_effective
    assert bent.mean_square < newton.mean_square
    assert preferred([bent, newton], n, ERROR_FLOOR) is newton
    assert preferred([bent, newton], len(samples.y), 0.0) is bent


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("yukawa", lambda x: 39.478 * np.exp(-x / 0.8) * (1 / x**2 + 1 / (0.8 * x))),
        ("plummer", lambda x: 39.478 * x / (x**2 + 0.16) ** 1.5),
        ("newton_gr", lambda x: 39.478 * (1 / x**2 + 0.1 / x**4)),
        ("logarithmic", lambda x: 39.478 / x),
        ("hooke", lambda x: 39.478 * x),
    ],
)
def test_named_laws_are_told_apart(name, function):
    samples = samples_of(function, noise=0.01, bias=0.01)
    assert preferred(fitted_laws(samples), samples.n_effective, ERROR_FLOOR).name == name


def test_rows_that_scatter_count_less_and_a_smooth_deviation_does_not():
    rng = np.random.default_rng(0)
    x = np.sort(np.exp(rng.uniform(np.log(0.3), np.log(3), 1000)))
    ragged = x > 2.4
    error = np.where(ragged, 0.8, 0.005) * rng.standard_normal(1000)
    samples = weighed(Samples(x[:, None], 39 / x**2 * np.exp(error), ("r",), np.arange(1000)), 0.02)
    assert samples.weights[ragged].mean() < 0.1 * samples.weights[~ragged].mean()
    assert not sharp(samples)[ragged].all()
    bent = 39 / x**2 * (1 + 0.3 * np.maximum(x - 2, 0))
    samples = weighed(Samples(x[:, None], bent, ("r",), np.arange(1000)), 0.02)
    np.testing.assert_allclose(samples.weights, 1, atol=0.1)


def test_whole_groups_are_held_out():
    """Rows of one orbit are alike: one of them in the fit would vouch for the others."""
    training, held_out = samples_of(lambda x: 1 / x).split(0.2, np.random.default_rng(0))
    assert (len(training.y), len(held_out.y)) == (480, 120)
    assert not set(training.groups) & set(held_out.groups)


def test_a_factor_counts_the_same_everywhere():
    """Between 0.3 and 3 au a force falls by a hundred; 10 % too much are 10 % everywhere."""
    samples = samples_of(lambda x: 39.478 / x**2)
    np.testing.assert_allclose(samples.residuals(1.1 * samples.y), np.log(1.1))


@pytest.mark.parametrize(
    ("law", "other", "same"),
    [
        ("1.1*x + 2.2*y", "2.0*x + 4.1*y", True),
        ("1.1*x + 2.2*y", "1.05*y*(x/y + 2)", True),
        ("1.05*y*(x/y + 2)", "1.1*x + 2.2*y", True),
        ("3.0/(2 + x)", "2.9/(1.2 + 0.9*x)", True),
        ("2.0*x**2.1*y", "1.9*y*x**2.1", True),
        ("1.1*x + 2.2*y", "1.1*x + 2.2*y - 0.001*x*y", False),  # a term more
        ("1.1*x + 2.2*y - 0.001*x*y", "1.1*x + 2.2*y", True),  # a term that may be nought
        ("2.0*x**2.1*y", "2.0*x**2*y", False),  # an exponent is no number like others
        ("2.0*x**2*y", "2.0*x**2.1*y", False),
        ("2.0*x*exp(-0.5*y)", "2.0*x/(1 + 0.5*y)", False),
        ("1.1*x", "1.1*y", False),
    ],
)
def test_a_law_written_in_another_way_is_the_same_law(law, other, same):
    random = np.random.default_rng(0)
    X = random.uniform(0.5, 3, (100, 2))
    samples = Samples(X, X[:, 0] * X[:, 1], ("x", "y"), np.arange(100))
    local = {"x": symbol("x"), "y": symbol("y")}

    def fitted(text):
        form, start = skeleton(merged(sympy.sympify(text, locals=local)))
        return Law(form, tuple(start), 0.0, 0.0, 5, "test", 0)

    assert is_same_law(fitted(law), fitted(other), samples, EXPONENT_MARGIN) == same


@pytest.mark.parametrize("seed", range(5))
def test_a_vote_for_a_longer_form_is_one_for_the_law_that_it_holds(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 3, (90, 2))
    y = X.prod(axis=1) / X.sum(axis=1) * (1 + 0.02 * rng.standard_normal(90))
    samples = Samples(X, y, ("x", "y"), np.arange(90))
    texts = ("1.0*x*y/(x + y)", "1.0*x*y/(x + 1.0*y)", "1.0*x*y/(x + y) + 0.01*x**2")
    local = {"x": symbol("x"), "y": symbol("y")}
    # as if each were as short, so that all get votes
    pool = [
        replace(refitted(sympy.sympify(text, locals=local), samples, "test"), nodes=5 - 3 * place)
        for place, text in enumerate(texts)
    ]
    votes = [agreeing_with(pool, samples, 0.0, 0, lambda other, k=k: other is pool[k])
             for k in range(3)]  # fmt: skip
    assert sum(votes) == RESAMPLES
    assert votes[0] < RESAMPLES
    assert agreeing_with(pool, samples, 0.0, 0, alike(pool[0], pool[0], samples)) == RESAMPLES


SHAPES = (
    "{a}*x**{p}*y**{q}", "{a}*sqrt(x)*y**{p}", "2*y + {a}*x**{p}", "{a}*x**{p}/({b} + x**{p})",
    "{a}/(x + {b})**{p}", "x**{p}/y", "{a}*exp(-{b}*x**{p})",
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(SHAPES), st.integers(0, 999), st.sampled_from([0.002, 0.02, 0.05]),
    st.sampled_from([60, 200]),
)  # fmt: skip
@example("2*y + {a}*x**{p}", 448, 0.05, 200)  # freed, its exponent moves by 0.055
def test_a_law_equals_itself(shape, seed, noise, rows):
    """Whatever its fitted exponents, and whichever of its numbers are simple or free."""
    rng = np.random.default_rng(seed)
    numbers = dict(zip("abpq", np.round(rng.uniform(0.3, 2.7, 4), 3), strict=True))
    X = rng.uniform(0.3, 3, (rows, 2))
    local = {"x": symbol("x"), "y": symbol("y")}
    formula = sympy.sympify(shape.format(**numbers), locals=local)
    y = evaluate(formula, ("x", "y"), X) * (1 + noise * rng.standard_normal(rows))
    samples = Samples(X, y, ("x", "y"), np.arange(rows))
    law = refitted(formula, samples, "test")
    free = freed(law, samples)
    assert is_same_law(free, law, samples)
    agreeing = agreeing_with([law], samples, 0.0, 0, alike(free, law, samples))
    assert agreeing == RESAMPLES
