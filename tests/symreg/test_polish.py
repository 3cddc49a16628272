"""Formulas as programs with slopes, and the polish of many models at once."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from symreg.formulas.expressions import constant_symbol, evaluate, on_rows
from symreg.search.polish import least_squares, projected

X = np.column_stack([np.linspace(0.4, 2.1, 12), np.linspace(-1.3, 1.7, 12)])
x, y = sympy.Symbol("x", positive=True), sympy.Symbol("y", real=True)
a, b, c = map(constant_symbol, range(3))
NUMBERS = np.array([1.3, 0.7, 2.1])
UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo)  # as in tan(acos(0)), which no search hands over

leaves = st.sampled_from([x, y, a, b, c, sympy.Integer(2), sympy.Rational(-3, 2), sympy.pi])
functions = (
    sympy.exp, sympy.sin, sympy.cos, sympy.tan, sympy.sinh, sympy.cosh, sympy.tanh, sympy.asin,
    sympy.acos, sympy.atan, sympy.log, sympy.sqrt, sympy.Abs, sympy.erf,
)  # fmt: skip


def grown(parts):
    two = st.tuples(parts, parts)
    return st.one_of(
        two.map(lambda pair: pair[0] + pair[1]),
        two.map(lambda pair: pair[0] * pair[1]),
        two.map(lambda pair: pair[0] / (pair[1] + 3)),
        two.map(lambda pair: sympy.Abs(pair[0]) ** (pair[1] / 3)),
        st.tuples(st.sampled_from(functions), parts).map(lambda each: each[0](each[1])),
    )


@settings(deadline=None, max_examples=60)
@given(st.recursive(leaves, grown, max_leaves=6).filter(lambda each: not each.has(*UNDEFINED)))
def test_a_program_has_the_values_of_the_formula_and_their_slopes(formula):
    names = ("x", "y")
    with np.errstate(all="ignore"):
        compiled = sympy.lambdify([x, y, a, b, c], formula, modules=["scipy", "numpy"])
        expected = np.asarray(compiled(*X.T, *map(np.complex128, NUMBERS)))
    real = np.where(np.abs(expected.imag) > 1e-12, np.nan, expected.real)
    values = evaluate(formula, names, X, NUMBERS)
    both = np.isfinite(values) & np.isfinite(np.broadcast_to(real, len(X)))
    np.testing.assert_allclose(
        values[both], np.broadcast_to(real, len(X))[both], rtol=1e-9, atol=1e-12
    )
    _, slopes = on_rows(formula, names, X).at(NUMBERS)
    for place in range(3):
        moved = [evaluate(formula, names, X, NUMBERS + s * np.eye(3)[place]) for s in (1e-6, -1e-6)]
        by_difference = (moved[0] - moved[1]) / 2e-6
        ours = np.broadcast_to(slopes.get(place, 0.0), len(X))
        # where a difference of differences is near, the formula is smooth there
        smooth = np.isfinite(ours * by_difference) & (np.abs(values) < 1e4)
        off = np.abs(ours - by_difference)[smooth]
        size = 1 + np.abs(by_difference)[smooth] + np.abs(values)[smooth]
        assert np.mean(off < 1e-3 * size) > 0.8 if len(off) else True


def test_many_decays_are_fitted_at_once_as_one_by_one():
    # b + a·exp(-k·t): k is searched, a and b are solved for at every step
    rng = np.random.default_rng(0)
    t, rates = np.linspace(0, 5, 40), rng.uniform(0.3, 3, 30)
    targets = 0.5 + 2 * np.exp(-np.outer(rates, t)) + 0.01 * rng.standard_normal((30, 40))
    calls = []

    def evaluated(numbers, places):
        calls.append(len(places))
        shape = np.exp(-numbers * t)
        solved = projected(np.stack([np.ones_like(shape), shape], axis=2), targets[places])
        tangents = (-t * shape * solved.linear[:, 1:])[:, :, None]
        return solved.residuals, solved.slopes(tangents)

    best = least_squares(evaluated, np.ones((30, 1)), 40)[:, 0]
    for target, own in zip(targets, best, strict=True):
        (_, _, single), _ = optimize.curve_fit(
            lambda t, b, a, k: b + a * np.exp(-k * t), t, target, (0.5, 2, 1)
        )
        assert own == pytest.approx(single, rel=1e-5)
    assert len(calls) < 20, "a few evaluations of all of them, not some of each"


def test_exact_targets_are_met_to_the_last_digits_and_no_model_gets_worse():
    t = np.linspace(0.1, 2, 50)

    def evaluated(numbers, places):
        power, scale = numbers[:, :1], numbers[:, 1:]
        values = scale * t**power
        slopes = np.stack([values * np.log(t), t**power], axis=2)
        return values - 1.7 * t**2.3, slopes

    start = np.array([[1.0, 1.0], [5.0, -2.0], [2.3, 1.7], [0.0, np.nan]])
    best = least_squares(evaluated, start, 60)
    np.testing.assert_allclose(best[:3], [[2.3, 1.7]] * 3, rtol=1e-14)
    assert np.isnan(best[3, 1]), "a model that cannot be evaluated stays as it is"


def test_columns_that_are_one_or_not_finite_have_a_solution_all_the_same():
    t = np.linspace(1, 2, 20)
    design = np.stack([np.column_stack([t, t]), np.column_stack([t, t * np.nan])])
    solved = projected(design, 3 * t)
    assert solved.linear[0].sum() == pytest.approx(3)
    assert np.abs(solved.residuals[0]).max() < 1e-14
    assert np.all(solved.residuals[1] > 1e5)
    assert projected(np.empty((1, 20, 0)), t).residuals[0] == pytest.approx(t)
