"""Features that depend on one another are named, with what may stand in the place of one."""

import numpy as np
import pytest

from symreg.fit.samples import Samples
from symreg.recovery.dependence import dependences


def told(**columns):
    X = np.column_stack(list(columns.values()))
    return list(dependences(Samples(X, X[:, 0], tuple(columns), np.arange(len(X)))))


def uniform(seed, rows=80):
    return np.random.default_rng(seed).uniform(0.2, 1, rows)


@pytest.mark.parametrize("scatter", [0.0, 0.01])
def test_a_feature_that_follows_another_is_named_with_its_formula(scatter):
    x = 2 * uniform(0) - 1.2
    (note,) = told(x=x, u=np.tanh(3 * x) + scatter * uniform(1), z=uniform(2))
    assert "tanh(" in note
    assert note.startswith("u is ")


def test_shares_that_sum_to_one_are_named():
    s, i = uniform(0) / 2, uniform(1) / 2
    (note,) = told(s=s, i=i, r=1 - s - i, z=uniform(2))
    assert " in every row" in note
    assert sum(each in note for each in ("-i - r + 1", "-i - s + 1", "-r - s + 1")) == 1


@pytest.mark.parametrize(
    ("made", "formulas"),
    [
        (lambda a, b: a / b, ("c is a/b", "a is b·c", "b is a/c")),
        (lambda a, b: a**3 + 0 * b, ("c is a^3", "a is c^(1/3)")),
        (lambda a, b: 3 * a * b**2, ("c is 3·a·b^2", "a is 0.333·c/b^2", "b is 0.577·sqrt(c/a)",
                                     "b is 0.577·sqrt(c)/sqrt(a)")),
    ],
)  # fmt: skip
def test_products_of_others_are_named(made, formulas):
    a, b = uniform(0), uniform(1)
    (note,) = told(a=a, b=b, c=made(a, b), z=uniform(2) - 0.5)
    assert note.startswith(formulas)
    assert " in every row" in note


def test_of_two_ways_the_one_with_a_formula_is_told():
    x = 2 * uniform(0)
    (note,) = told(x=x, u=np.tanh(3 * x), z=uniform(2))
    assert note.startswith("u is tanh(3·x) in every row")


def test_independent_features_and_grids_are_not():
    assert not told(a=uniform(0), b=uniform(1), c=uniform(2))
    a, b = np.meshgrid(np.linspace(1, 2, 8), np.linspace(1, 2, 8))
    assert not told(a=a.ravel(), b=b.ravel())
    assert not told(a=uniform(0), b=uniform(0) + 0.1 * uniform(1))  # a tenth of its own


def test_settings_that_are_measured_again_do_not_follow_one_another():
    assert not told(a=np.repeat(uniform(0), 3), b=np.repeat(uniform(1), 3))
