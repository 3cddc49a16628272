"""The choice of one formula: which others are as good, and whether the search was at its end."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from symreg.fit.refine import refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol
from symreg.recovery.neighbours import as_good, explains_as_well
from symreg.recovery.selection import RESAMPLES, in_other_units, last_term_pays

X = symbol("x")
TERMS = ("1.1", "0.9*x", "0.5*x**2", "0.2*x**3", "0.1*x**4")


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    x = rng.uniform(0.1, 3, 120)
    y = np.exp(x) * (1 + 0.001 * rng.standard_normal(120))
    return Samples(x[:, None], y, ("x",), np.arange(120))


def sums(samples, most):
    """Polynomials of two terms and more."""
    texts = [" + ".join(TERMS[:count]) for count in range(2, most + 1)]
    return [refitted(sympy.sympify(text, locals={"x": X}), samples, "test") for text in texts]


@pytest.mark.parametrize(
    ("symbols", "error", "as_good"),
    [(1, 1.0, True), (4, 1.0, True), (5, 1.0, False), (0, 1.2, False), (-2, 1.02, True)],
)
def test_a_rival_fits_as_well_and_is_at_most_a_function_longer(samples, symbols, error, as_good):
    """Four symbols are a function and the number in it; five more are longer."""
    law = replace(refitted(1.0 * sympy.exp(1.0 * X), samples, "test"), nodes=6)
    other = replace(
        law, form=sympy.sympify("_c0*x**_c1"), nodes=6 + symbols,
        mean_square=law.mean_square * error,
    )  # fmt: skip
    assert explains_as_well(other, law, samples.n_effective) == as_good
    assert not explains_as_well(law, law, samples.n_effective)


@pytest.mark.parametrize(("nats", "as_good"), [(4, True), (6, False)])
def test_a_formula_with_fewer_numbers_a_few_nats_behind_is_as_good(samples, nats, as_good):
    law = replace(refitted(1.0 * sympy.exp(1.0 * X), samples, "test"), nodes=9)
    fewer = replace(law, form=sympy.sympify("_c0*exp(x)"), constants=law.constants[:1], nodes=7)
    n = samples.n_effective
    behind = law.criterion(n, 0.0) + 2 * nats - fewer.criterion(n, 0.0)
    fewer = replace(fewer, mean_square=law.mean_square * np.exp(behind / n))
    assert explains_as_well(fewer, law, n) == as_good


def test_a_sum_whose_last_term_pays_is_not_the_end(samples):
    """A series of exp: each term pays, and so may the next, if none was tried."""
    pool = sums(samples, 4)
    n = samples.n_effective
    assert last_term_pays(pool[-1], pool, n, 0.0)
    assert not last_term_pays(pool[1], pool[:3], n, 0.0)  # a longer one was tried
    exact = refitted(1.0 * sympy.exp(1.0 * X), samples, "test")
    assert not last_term_pays(exact, [*pool, exact], n, 0.0)
    assert not last_term_pays(pool[0], pool[:1], n, 0.0)  # a line is no series


@pytest.mark.parametrize("unit", [1.0, 60.0, 0.3048])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_short_in_one_unit_alone_is_no_rival(seed, unit):
    """sin(1/v) beside 1/v, where 1/v is small: a number more in any other unit."""
    rng = np.random.default_rng(seed)
    u, v = rng.uniform(1, 9, 90), rng.uniform(5, 12, 90)
    y = unit / (1 / u + 1 / v) * (1 + 0.02 * rng.standard_normal(90))
    samples = Samples(np.column_stack([u, v]), y, ("u", "v"), np.arange(90))
    local = {"u": symbol("u"), "v": symbol("v")}
    front = "1" if unit == 1 else f"{unit}"
    pool = [
        refitted(sympy.sympify(f"{front}/(1/u + {term})", locals=local), samples, "test")
        for term in ("1/v", "sin(1/v)", "v**(-1.01)")
    ]
    law, rivals = pool[0], as_good(pool[0], pool, samples)
    assert rivals or unit != 1
    assert in_other_units(law, pool, samples, 0, 50, rivals) == (RESAMPLES, {})
    other = pool[1]  # which is not the best in any unit, and keeps what it had
    assert in_other_units(other, pool, samples, 0, 50, rivals) == (50, rivals)
