"""Normal forms keep values and lose redundant constants; text is read, never executed."""

import numpy as np
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symreg.formulas.expressions import complexity, evaluate, normal_form, skeleton, symbol
from symreg.formulas.reading import read_formula

r, m = symbol("r"), symbol("m")
numbers = st.floats(0.1, 10).map(sympy.Float)
leaves = st.one_of(numbers, st.sampled_from([r, m]))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] / p[1]),
        inner.map(lambda e: sympy.log(1 + e)),
        inner.map(lambda e: sympy.exp(-e / 10)),
        inner.map(sympy.sqrt),
        inner.map(lambda e: e**2),
        st.tuples(inner, inner).map(lambda p: sympy.log((1 + p[0]) ** p[1])),
    ),
    max_leaves=8,
)
POINTS = np.random.default_rng(0).uniform(0.3, 3, (20, 2))


@given(expressions)
@example(sympy.sqrt((2 * r - 9) / (3 * m - 11)))  # both negative
@settings(max_examples=60, deadline=None)
def test_normal_form_keeps_every_value(expression):
    before = evaluate(expression, ["r", "m"], POINTS)
    after = evaluate(normal_form(expression), ["r", "m"], POINTS)
    finite = np.isfinite(before)
    # powers of powers amplify rounding of the 15-digit constants
    np.testing.assert_allclose(after[finite], before[finite], rtol=1e-8)


@pytest.mark.parametrize(
    ("expression", "constants"),
    [
        (sympy.exp(3.7 - 2.13 * sympy.log(0.9 * r)), 2),  # c * r**p
        (1 / (0.5 * r + 0.1), 2),  # c / (r + d)
        (2.5 * (1.5 * r) ** 2 * (0.3 * m), 1),  # c * r**2 * m
        (3.1 * sympy.exp(0.2 - 1.5 * r) / r, 2),  # c * exp(-r/l) / r
        (2.5 * sympy.log((r + 1.5) ** (0.3 * m)), 2),  # c * m * log(r + d)
    ],
)
def test_redundant_constants_are_merged(expression, constants):
    _, values = skeleton(normal_form(expression))
    assert len(values) == constants


def test_complexity_counts_what_is_written():
    assert complexity(r) == 1
    assert complexity(read_formula("GM/r**2")) == 5  # GM, *, r, **, 2
    assert complexity(-r) == 1


@pytest.mark.parametrize("name", ["E", "I", "N", "S", "beta", "gamma", "zeta", "Q", "O", "pi_"])
def test_names_that_sympy_owns_are_plain_symbols(name):
    assert read_formula(f"{name}/r**2") == symbol(name) / r**2


def test_a_law_is_read_by_its_name():
    assert read_formula("newton") == read_formula("GM/r**2")
    assert read_formula("power_law(n=3)") == read_formula("GM/r^3")
    with pytest.raises(ValueError, match="did you mean 'yukawa'"):
        read_formula("yukaw(length=2)")
