"""Exact algebraic relations: quotients, roots beside polynomials, functions of columns."""

import numpy as np
import pytest
import sympy

from symreg.engines.algebraic import AlgebraicEngine, relation_degrees
from symreg.engines.base import Budget, is_exact
from symreg.enumeration.algebraic import SPARE
from symreg.enumeration.rational import coefficients_of
from symreg.formulas.expressions import evaluate
from symreg.formulas.precision import FITTED

LAWS = {
    "a quotient beside a polynomial": lambda a, b, c: 2.01 * a / (14.71 - 4.97 * b) + a * b - c**2,
    "a pole among the rows": lambda a, b, c: a + 1 / (b - 1.3) + c / (2.7 - a),
    "a product of sums": lambda a, b, c: -2.85 * (a - 1.43) * (a + b) * (a - c) / a,
    "squares below": lambda a, b, c: (0.91 - c) ** 2 * (a / 2 + b) ** 2 / (0.34 * b**2 + 1) ** 2,
    "a root beside a polynomial": lambda a, b, c: a**2 - b - 2.18 * np.sqrt(0.42 * a + 0.2 * c + 1),
    "a root times what changes its sign": lambda a, b, c: c + (a - b) * np.sqrt(a**2 + b * c + 0.3),
    "a root in a quotient": lambda a, b, c: (a - np.sqrt(a * b + c)) / (b + 0.7),
    "numbers that are no decimals": lambda a, b, c: (
        2**0.5 * a - b * np.sqrt(np.pi * a**2 + np.e * b * c + 0.3)
    ),
    "a logarithm of a quotient": lambda a, b, c: np.log(a * (b + c) / b**2 + 4.68 * b**2 * c),
    "a logarithm beside a quotient": lambda a, b, c: (1.3 + np.log(a)) / (c + 0.4 * b) - a * b,
    "roots of columns": lambda a, b, c: a / b - 2.23 * a * c - 2.23 * np.sqrt(c) + np.log(a),
    "a wave over a sum": lambda a, b, c: b - (2.2 * c - np.sin(b)) / (1.36 * a + 2.9 * c + 2.8),
}


def rows(count=400, seed=0):
    return np.random.default_rng(seed).uniform(0.3, 3.0, (count, 3))


def searched(X, y):
    """The engine, and its formulas."""
    engine = AlgebraicEngine()
    front = engine.search(X, y, list("abc"), 0, Budget())
    return engine, [candidate.expression for candidate in front]


@pytest.mark.parametrize("name", LAWS)
def test_a_relation_is_found_and_holds_beyond_its_rows(name):
    X, elsewhere = rows(), rows(200, 1) * 1.2
    engine, formulas = searched(X, LAWS[name](*X.T))
    assert formulas
    assert all(is_exact(each, X, LAWS[name](*X.T), list("abc")) for each in formulas)
    truth = LAWS[name](*elsewhere.T)
    best = min(formulas, key=lambda each: len(each.atoms(sympy.Float)))
    left = np.abs(evaluate(best, list("abc"), elsewhere) - truth)
    assert np.median(left) < FITTED * np.median(np.abs(truth))
    assert engine.exhausted == ()


def test_numbers_that_are_no_decimals_are_few_in_what_is_handed_over():
    """Over a common denominator this has nine numbers, and no law is refitted with so many."""
    X = rows()
    _, formulas = searched(X, LAWS["a quotient beside a polynomial"](*X.T))
    assert min(len(each.atoms(sympy.Float)) for each in formulas) <= 2


@pytest.mark.parametrize(
    "law",
    [
        lambda a, b, c: 0.4 + 0.3 * 2**b,  # quotients agree with it to fourteen digits
        lambda a, b, c: np.sin(1.7 * a * b) + np.exp(-c * a),
        lambda a, b, c: a + np.random.default_rng(1).standard_normal(len(a)),
        lambda a, b, c: (
            LAWS["a root in a quotient"](a, b, c)
            * (1 + 1e-8 * np.random.default_rng(1).standard_normal(len(a)))
        ),
    ],
    ids=["an exponential", "waves", "noise", "a little noise"],
)
def test_what_is_no_relation_has_none(law):
    X = rows()
    engine, formulas = searched(X, law(*X.T))
    assert formulas == []
    assert engine.exhausted


@pytest.mark.parametrize("variables", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("powers", [1, 2])
def test_relations_have_fewer_coefficients_than_rows(variables, powers):
    counts = [coefficients_of(variables, each) for each in relation_degrees(120, variables, powers)]
    assert counts == sorted(counts)
    assert len(counts) >= 3
    assert max(counts) <= 120 - SPARE
