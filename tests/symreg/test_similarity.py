"""Products of powers of which a target is a function: the law's, and none where there are none."""

import numpy as np
import pytest
import sympy

from symreg.engines.base import Budget
from symreg.engines.portfolio import PortfolioEngine
from symreg.formulas.expressions import evaluate, feature_symbols
from symreg.search.similarity import similarity

ONE = [
    lambda p: 1 + p,
    lambda p: 1 / (2 + p),
    lambda p: np.sqrt(1 + p**2),
    lambda p: np.exp(-p),
    lambda p: p - 1.5,
]
TWO = [
    lambda p, q: 1 + p + q,
    lambda p, q: np.exp(-p) / (1 + q),
    lambda p, q: np.sqrt(1 + p + q),
    lambda p, q: 1 / (1 + p) - q,
]


def drawn(seed, functions, noise=0.0):
    """A table of a drawn law, and its (product, column) exponents, those in front first."""
    rng = np.random.default_rng(seed)
    function = functions[seed % len(functions)]
    products = function.__code__.co_argcount
    count = int(rng.integers(products + 2, 7))
    exponents = rng.choice([-2, -1, -0.5, 0, 0, 0, 0, 0, 0.5, 1, 2], (products + 1, count))
    # each has a column of its own
    exponents[1:, :products] = np.eye(products)
    X = rng.uniform(0.5, 2.5, (300, count))
    front, *inside = (np.prod(X**own, axis=1) for own in exponents)
    y = front * function(*(each / np.median(each) for each in inside))
    return X, y + noise * np.sqrt(np.mean(y**2)) * rng.standard_normal(300), exponents


def is_true(found, exponents):
    """Whether a law with these exponents is a function of the products found."""
    inside = np.linalg.matrix_rank(np.vstack([found.products, exponents[1:]]))
    together = np.vstack([found.products, found.front - exponents[0]])
    return inside == np.linalg.matrix_rank(together) == len(found.products)


@pytest.mark.few(2)
@pytest.mark.parametrize("functions", [ONE, TWO], ids=["one", "two"])
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_the_products_of_drawn_laws_are_found(functions, noise):
    """Nearly all without noise; some that are said are wrong, and cost the time of a search."""
    tables = [drawn(seed, functions, noise) for seed in range(20)]
    found = [similarity(X, y) for X, y, _ in tables]
    said = [is_true(each, e) for each, (_, _, e) in zip(found, tables, strict=True) if each]
    assert sum(said) >= (12 if noise else 17)
    assert len(said) - sum(said) <= (2 if noise else 1)


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [40, 150])
def test_noise_and_powers_have_none(rows):
    rng, said = np.random.default_rng(rows), 0
    for _ in range(10):
        X = rng.uniform(0.5, 3, (rows, int(rng.integers(2, 7))))
        near = np.exp(0.1 * rng.standard_normal(rows))
        for y in (rng.standard_normal(rows), near, 3 / X[:, 0] * near):
            said += similarity(X, y) is not None
    assert said <= 1  # of 30


def test_a_sum_of_all_columns_has_none():
    rng = np.random.default_rng(0)
    for count in range(2, 6):
        X = rng.uniform(0.5, 3, (300, count))
        assert similarity(X, 1 + X @ rng.uniform(0.5, 2, count)) is None


def test_columns_without_a_logarithm_stay_alone():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 2.5, (300, 5))
    X[:, 3] = rng.uniform(-2, 2, 300)
    a, b, c, d, f = X.T
    one, alone = [0, -0.5, 1, 0, 0], [0, 0, 0, 1, 0]
    # the column matters, alone or not, and is idle
    for y, front, products in (
        (a * (1 + b / c**2 + d**2) / f, [1, 0, 0, 0, -1], [one, alone]),
        (a**2 * b / c * np.sin(d), [2, 1, -1, 0, 0], [alone]),
        (a * (1 + b / c**2) / f, [1, 0, 0, 0, -1], [one, alone]),
    ):
        found = similarity(X, y)
        assert found.front.tolist() == front
        assert found.products.tolist() == products


def test_values_are_those_of_the_expressions():
    X, y, _ = drawn(1, TWO)
    found = similarity(X, y)
    names = list("abcdfg")[: X.shape[1]]
    front, inside = found.expressions(feature_symbols(names, X))
    values, columns = found.values(X)
    np.testing.assert_allclose(evaluate(front, names, X), values, rtol=1e-12)
    for expression, column in zip(inside, columns.T, strict=True):
        np.testing.assert_allclose(evaluate(expression, names, X), column, rtol=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        lambda X: (X[:3], X[:3, 0]),
        lambda X: (X[:, :1], X[:, 0]),
        lambda X: (X, np.zeros(len(X))),
        lambda X: (X, np.ones(len(X))),
        lambda X: (np.ones_like(X), X[:, 0]),
        lambda X: (-X, X[:, 0]),
        lambda X: (np.column_stack([X, np.zeros(len(X))]), X[:, 0] * (1 + X[:, 1])),
        lambda X: (1e-200 * X, 1e200 * X[:, 0] * (1 + X[:, 1] / X[:, 2])),
        lambda X: (np.round(X), np.round(X[:, 0])),
    ],
)
@pytest.mark.filterwarnings("error")
def test_any_table_has_an_answer(table):
    X, y = table(np.random.default_rng(0).uniform(0.5, 3, (200, 4)))
    found = similarity(X, y)
    assert found is None or found.products.shape[1] == X.shape[1]


def test_a_sum_of_long_products_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 3, (200, 6))
    m, p, w, x, a, b = X.T
    y = (p**2 + m**2 * w**2 * x**2 * (1 + 0.3 * a * x / b)) / (2 * m)
    names = list("mpwxab")
    (front,) = PortfolioEngine(most=5).search_all(X, y, names, [0], Budget())
    best = min(front, key=lambda each: each.loss)
    beyond = rng.uniform(3, 5, (50, 6))
    m, p, w, x, a, b = beyond.T
    truth = (p**2 + m**2 * w**2 * x**2 * (1 + 0.3 * a * x / b)) / (2 * m)
    np.testing.assert_allclose(evaluate(best.expression, names, beyond), truth, rtol=1e-9)
    assert best.expression.atoms(sympy.Symbol) == set(feature_symbols(names, X))
