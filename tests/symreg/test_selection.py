"""The choice of one formula: which others are as good, and whether the search was at its end."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from symreg.fit.refine import refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol
from symreg.recovery.neighbours import explains_as_well
from symreg.recovery.selection import last_term_pays

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


def test_a_sum_whose_last_term_pays_is_not_the_end(samples):
    """A series of exp: each term pays, and so may the next, if none was tried."""
    pool = sums(samples, 4)
    n = samples.n_effective
    assert last_term_pays(pool[-1], pool, n, 0.0)
    assert not last_term_pays(pool[1], pool[:3], n, 0.0)  # a longer one was tried
    exact = refitted(1.0 * sympy.exp(1.0 * X), samples, "test")
    assert not last_term_pays(exact, [*pool, exact], n, 0.0)
    assert not last_term_pays(pool[0], pool[:1], n, 0.0)  # a line is no series
