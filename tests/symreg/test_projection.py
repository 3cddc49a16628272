"""The projection search: what it finds exactly, signs, and what it must not claim."""

import numpy as np
import pytest
import sympy

from symreg.engines import projection
from symreg.engines.base import pareto_front
from symreg.engines.projection import search
from symreg.formulas.expressions import evaluate, feature_symbols
from symreg.formulas.watch import Watch

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
}
SUMS = {
    "the law of cosines": (
        lambda a, b, c: np.sqrt(a**2 + b**2 - 2 * a * b * np.cos(c)), 1.0, 3.0,
    ),
    "a ratio": (lambda a, b: a * b / (a + b), 1.0, 3.0),
    "a reciprocal of a sum": (lambda a, b: 1 / (0.3 / a + 1.7 / b), 1.0, 3.0),
    "a wave of its own frequency": (lambda x: 2 * np.sin(1.7 * x) + 0.5 * x**2 - 3 / x, 1.0, 9.0),
    "two waves beside a line": (
        lambda t: 2 * np.sin(3 * t) + 0.5 * np.cos(1.1 * t) + t, 0.1, 9.0,
    ),
    "a wave in one of three terms": (
        lambda t, x: 2 * np.sin(3 * t) * x + 0.5 * x**3 - 1.2 * x, 0.5, 5.0,
    ),
}  # fmt: skip


@pytest.mark.few(4)
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


def test_targets_near_zero_whose_sign_noise_turns_hide_no_product():
    # rows of a thousandth of the target's size, one in ten
    X, y, names = rows_of(lambda x, y: x**2 * y**3, 0.0, 1.0, rows=20)
    given = np.where(y < np.quantile(y, 0.1), -1e-6, y)
    assert np.sum(given < 0) == 2
    formulas = search(X, given, feature_symbols(names, X), Watch(), factors=False)
    a, b = feature_symbols(names, X)
    assert any((each / (a**2 * b**3)).is_number for each in formulas)


def test_a_law_of_equal_errors_is_handed_over_though_small_targets_are_noise():
    # half of the targets are noise of 1e-6, which a shorter formula happens to have
    x = np.concatenate([np.zeros(30), np.linspace(1, 2, 30)])
    y = np.where(x == 0, 2e-6, 1.03 * x)
    (symbol,) = feature_symbols(["x"], x[:, None])
    near, law = symbol + 2e-6, 1.03 * symbol + 1e-6
    front = pareto_front([near, law], x[:, None], y, ["x"], 0, "projection", exhaustive=True)
    assert [candidate.expression for candidate in front] == [near, law]
    noise = np.random.default_rng(0).standard_normal(60)
    front = pareto_front([near, near + noise[0]], x[:, None], y, ["x"], 0, "x", exhaustive=True)
    assert len(front) == 1, "what is worse by either is not"


def test_noise_is_not_explained():
    # nothing is exact, and what is simplest says nothing: no formula of three constants halves the
    # variance of 200 independent rows
    X = np.random.default_rng(0).uniform(0.5, 2, (200, 2))
    y = np.exp(np.random.default_rng(1).standard_normal(200))
    front = pareto_front(
        search(X, y, feature_symbols("ab", X), Watch()), X, y, "ab", 0, "projection"
    )
    assert min(candidate.loss for candidate in front) > 0.5 * np.var(np.log(y))


@pytest.mark.parametrize("unit", [1.0, np.pi / 180])
def test_snells_law_is_found_in_radians_and_in_degrees(unit):
    rng = np.random.default_rng(1)
    X = np.column_stack([*rng.uniform(1.0, 1.5, (2, 200)), rng.uniform(0, 0.7, 200) / unit])
    y = np.arcsin(X[:, 0] * np.sin(unit * X[:, 2]) / X[:, 1]) / unit
    names = ("n1", "n2", "angle")
    found = search(X, y, feature_symbols(names, X), Watch())
    errors = [np.max(np.abs(evaluate(each, names, X) / y - 1)) for each in found]
    assert min(errors) < 1e-12


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


@pytest.mark.parametrize("size", [0.0, 1e-44, 1e44])
def test_a_target_of_which_nothing_can_be_fitted_is_no_error(size):
    r = np.linspace(0.5, 2, 40)
    y = np.where(np.arange(40) < 38, size, 1.0 * (size == 0))
    symbols = feature_symbols(["r"], r[:, None])
    found = search(r[:, None], y, symbols, Watch())
    assert all(form.free_symbols <= set(symbols) for form in found)


def test_a_monomial_with_equal_noise_ends_the_search_though_signs_are_turned(monkeypatch):
    # Sabine: the least targets lie below the noise, so that some are negative
    rng = np.random.default_rng(1)
    X = np.column_stack([np.exp(rng.uniform(3.9, 8.5, 200)), rng.uniform(1, 15, 200)])
    truth = 0.161 * X[:, 0] / X[:, 1]
    y = truth + 0.02 * np.sqrt(np.mean(truth**2)) * rng.standard_normal(200)
    assert np.any(y < 0)
    monkeypatch.setattr(projection, "_products", stopped(projection._products))
    with pytest.raises(StopIteration, match="1"):
        search(X, y, feature_symbols("Va", X), Watch())


def stopped(products):
    """The search of products without factors as it is; with them it says how many, and ends."""

    def made(columns, y, weights, arguments, watch, most=2):
        if arguments:
            raise StopIteration(most)
        return products(columns, y, weights, arguments, watch, most)

    return made
