"""The projection search: what it finds exactly, signs, and what it must not claim."""

from dataclasses import replace

import numpy as np
import pytest
import sympy

from symreg.engines.base import Budget, explains_all, pareto_front
from symreg.engines.portfolio import PortfolioEngine
from symreg.engines.projection import ProjectionEngine, search
from symreg.formulas.expressions import evaluate, feature_symbols
from symreg.formulas.watch import Watch
from symreg.projection.products import Product, Target, cost_of_setting, polished

ROUNDED = 1e-24
"""Mean squared relative error of an exact formula: float64's rounding, 1e-16 a step, in logarithms
of numbers up to 1e34, a few thousand times over."""


def rows_of(law, low, high, rows=200, seed=0):
    """Uniform features named as the law's arguments, and its values."""
    names = law.__code__.co_varnames[: law.__code__.co_argcount]
    X = np.random.default_rng(seed).uniform(low, high, (rows, len(names)))
    return X, law(*X.T), names


def closest(law, low, high, **options):
    """The best formula of the search, with its error and the other rows it is held against."""
    X, y, names = rows_of(law, low, high, **options)
    front = pareto_front(
        search(X, y, feature_symbols(names, X), Watch()), X, y, names, 0, "projection"
    )
    return min(front, key=lambda candidate: candidate.loss)


def error_elsewhere(formula, law, low, high):
    """Largest relative error on rows that the search has not seen."""
    X, y, names = rows_of(law, low, high, seed=99)
    return float(np.max(np.abs(evaluate(formula, names, X) / y - 1)))


PRODUCTS = {
    "two waves": (lambda x, y: 2.5 * np.sin(x) / np.sin(y), 0.3, 2.8),
    "an exponential less one": (lambda u: 1 / (np.exp(u) - 1), 0.2, 4.0),
    "Lorentz": (lambda m, v: m * np.sqrt(1 - v**2), 0.1, 0.9),
    "Gauss": (lambda x, s: np.exp(-(x**2) / (2 * s * s)) / s, 0.5, 2.0),
    "a monomial": (lambda a, b: 3.7 * a**1.5 / b**2, 0.5, 4.0),
    "an exponent that is no half": (lambda a: 2 * a**-1.97, 1.0, 3.0),
    "a small constant": (lambda a, b: 6.6e-34 * a * b, 1.0, 3.0),
    "a large constant": (lambda a, b: 1e30 * a / b**2, 1.0, 3.0),
}
SUMS = {
    "the law of cosines": (
        lambda a, b, c: np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(c)), 1.0, 3.0,
    ),
    "a square of a distance": (lambda a, b, c, d: (a - b) ** 2 + (c - d) ** 2, 1.0, 3.0),
    "a plane": (lambda a, b: 3 * a - 2 * b + 0.5, 1.0, 3.0),
    "three terms": (lambda a, b, c: 4 * a * b + 2 * c + 7 / a, 1.0, 3.0),
    "a ratio": (lambda a, b: a * b / (a + b), 1.0, 3.0),
    "a reciprocal of a sum": (lambda a, b: 1 / (0.3 / a + 1.7 / b), 1.0, 3.0),
    "a polynomial through zero": (lambda a: a**2 - 3 * a + 1, 0.0, 3.0),
}  # fmt: skip


@pytest.mark.parametrize("name", [*PRODUCTS, *SUMS])
def test_an_exact_law_is_found_exactly(name):
    law, low, high = (PRODUCTS | SUMS)[name]
    best = closest(law, low, high)
    assert best.loss < ROUNDED, best.expression
    # a hundred times the rounding: differences near zero lose digits
    assert error_elsewhere(best.expression, law, low, high) < 1e-10, best.expression


@pytest.mark.parametrize(
    ("law", "form"),
    [
        (lambda a, b: -2 * a**3 * b, "-2.0*a**3*b"),
        (lambda a, b: np.abs(a) ** 1.5 * b, "1.0*b*Abs(a)**(3/2)"),
        (lambda a, b: 5 * a**2 / b, "5.0*a**2/b"),
        (lambda a, b: 5 * np.abs(a) / b, "5.0*Abs(a)/b"),
    ],
)
def test_signs_of_features_are_written_as_they_are(law, form):
    best = closest(law, -2.0, 2.0)
    X, y, names = rows_of(law, -2.0, 2.0)
    symbols = dict(zip(names, feature_symbols(names, X), strict=True))
    assert sympy.simplify(sympy.nsimplify(best.expression) - sympy.sympify(form, symbols)) == 0
    assert np.all(np.sign(evaluate(best.expression, names, X)) == np.sign(y))


def test_rows_that_are_zero_are_no_obstacle():
    # 5 of 200 rows have a feature of zero, where a logarithm is none
    X, y, names = rows_of(lambda a, b: 3 * a * b**2, 0.5, 2.0)
    X[:5, 0] = 0
    y[:5] = 0
    found = search(X, y, feature_symbols(names, X), Watch())
    best = min(found, key=lambda each: np.max(np.abs(evaluate(each, names, X) - y)))
    # the largest y is 24
    assert np.max(np.abs(evaluate(best, names, X) - y)) < 1e-12


def test_a_column_of_zeros_and_ones_is_a_term():
    rng = np.random.default_rng(0)
    a, on = rng.uniform(1, 3, 200), rng.integers(0, 2, 200).astype(float)
    X = np.column_stack([a, on])
    # half the rows say nothing of the second term
    y = 3 * a**2 + 5 * a * (1 - on)
    found = search(X, y, feature_symbols(("a", "on"), X), Watch())
    errors = [np.max(np.abs(evaluate(e, ("a", "on"), X) / y - 1)) for e in found]
    assert min(errors) < 1e-12


def test_noise_is_not_explained():
    # nothing is exact, and what is simplest says nothing: no formula of three constants halves the
    # variance of 200 independent rows
    X = np.random.default_rng(0).uniform(0.5, 2, (200, 2))
    y = np.exp(np.random.default_rng(1).standard_normal(200))
    front = pareto_front(
        search(X, y, feature_symbols("ab", X), Watch()), X, y, "ab", 0, "projection"
    )
    assert min(candidate.loss for candidate in front) > 0.5 * np.var(np.log(y))


def one_and_a_product(noise, rows=300):
    """Columns of sqrt(1 + m), m between a thousandth and a thousand, noise relative."""
    rng = np.random.default_rng(4)
    X = np.exp(rng.uniform(-1.15, 1.15, (rows, 3)))
    a, b, c = X.T
    return X, np.sqrt(1 + a**2 * b / c**3) * (1 + noise * rng.standard_normal(rows))


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_one_more_step_around_a_product_is_taken(noise):
    X, y = one_and_a_product(noise)
    symbols = feature_symbols(("a", "b", "c"), X)
    # the time is over before it begins: what stands first is there all the same
    found = search(X, y, symbols, Watch(0.0))
    truth = one_and_a_product(0.0)[1]
    off = [np.median(np.abs(evaluate(each, ("a", "b", "c"), X) / truth - 1)) for each in found]
    assert min(off) < (1e-9 if noise == 0 else noise / 4)


def test_what_it_costs_to_set_a_number_is_what_it_costs():
    X, y, _ = rows_of(lambda a, b: 2 * a**1.4 / b, 1.0, 4.0)
    y = y * (1 + 0.02 * np.random.default_rng(1).standard_normal(len(y)))
    target = Target(y, np.column_stack([np.ones(len(y)), np.log(X)]), np.ones(len(y)))
    free = polished(Product((), np.zeros(3), np.zeros(3, dtype=bool), ()), target)
    halves = np.array([free.linear[0], 1.5, -1.0])
    promised = cost_of_setting(free, halves, target)
    for i in (1, 2):
        fixed = np.arange(3) == i
        held = replace(free, linear=np.where(fixed, halves, free.linear), fixed=fixed)
        grown = polished(held, target).mean_square - free.mean_square
        assert promised[i] == pytest.approx(grown, rel=1e-6)
    assert promised[1] > 10 * promised[2]


def test_an_exponent_is_set_in_noise_and_not_in_exact_data():
    rng = np.random.default_rng(3)
    a = rng.uniform(1, 3, (200, 1))
    y = 2 * a[:, 0] ** 1.97
    symbols = feature_symbols("a", a)

    def first_power(targets):
        # lines, whose power is one, are always among the formulas
        powers = (
            each.as_powers_dict()[symbols[0]] for each in search(a, targets, symbols, Watch())
        )
        return next(power for power in powers if power not in (0, 1))

    assert first_power(y) == pytest.approx(1.97, abs=1e-12)
    # the exponent's own error is 0.3/sqrt(200)/sd(log a) = 0.07, so 1.97 is 2
    assert first_power(y * np.exp(0.3 * rng.standard_normal(200))) == 2


def test_the_search_is_exhaustive_whatever_the_seed():
    X, y, names = rows_of(lambda a: a**2 * (1 + 0.02 * np.sin(40 * a)), 1.0, 3.0, rows=120)
    engine, budget = ProjectionEngine(), Budget()
    fronts = [engine.search(X, y, names, seed, budget) for seed in (0, 5)]
    # fewer rows than the budget: all of them are drawn, by every seed
    assert [c.expression for c in fronts[1]] == [c.expression for c in fronts[0]]


def test_the_portfolio_stops_at_an_exact_formula(monkeypatch):
    X, y, names = rows_of(lambda a, b: 3 * a / b, 1.0, 3.0)
    engine = PortfolioEngine()
    monkeypatch.setattr("symreg.engines.portfolio.OperonEngine.search", None)
    monkeypatch.setattr("symreg.engines.portfolio.PySREngine.search", None)
    front = engine.search(X, y, names, 7, Budget())
    assert min(c.loss for c in front) < ROUNDED
    assert {c.engine for c in front} == {"projection"}
    assert {c.seed for c in front} == {7}


def test_what_is_left_over_is_seen():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (300, 2))
    a, b = feature_symbols("ab", X)
    line = 2 * X[:, 0] / X[:, 1]
    noise = 1 + 0.01 * rng.standard_normal(300)
    assert explains_all(2.0 * a / b, X, line * noise, "ab")
    assert not explains_all(2.0 * a / b, X, line * noise * (1 + 0.02 * np.sin(6 * X[:, 0])), "ab")
