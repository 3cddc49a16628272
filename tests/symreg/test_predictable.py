"""What a right formula leaves is not predicted by anything; what a wrong one leaves is."""

import numpy as np
import pytest
import sympy

from symreg.fit.predictable import _likelihood, predictable
from symreg.fit.refine import refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol
from symreg.recovery.evidence import evidence_of
from symreg.recovery.thresholds import THRESHOLDS

RIGHT = 12
"""Draws: at a line of 1e-4 that one of them is refused has a chance of 0.1 %."""


def fitted(columns, y):
    """(row,) what least squares leaves."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return y - design @ np.linalg.lstsq(design, y, rcond=None)[0]


def distance(rng, rows=200):
    v = rng.uniform(1, 5, (rows, 4))
    a, b, angle = v[:, 0], v[:, 1], np.cos(v[:, 2] - v[:, 3])
    y = np.sqrt(a**2 + b**2 - 2 * a * b * angle)
    terms = (a, b, a * b, a**2, b**2, a * b * angle, angle, a * angle, b * angle, angle**2)
    return v, fitted(terms, y)


def border(rng, rows=200):
    x, z = rng.uniform(0, 10, rows), rng.uniform(0, 5, rows)
    y = np.where(x < 4, 2 * x * z, 8 + z**2 - x)
    return np.column_stack([x, z]), fitted((x, z, x * z, z**2, x**2), y)


def triangular(rng):
    x = np.arange(1, 51.0)
    return x[:, None], x * (x + 1) / 2 - 0.778 * (x - 1) ** 1.9


def inverse_sinh(rng, rows=100):
    x = rng.uniform(0, 100, rows)
    return x[:, None], np.arcsinh(x) - np.log(2.07 * x)


@pytest.mark.parametrize("table", [distance, border, triangular, inverse_sinh])
def test_what_a_wrong_formula_leaves_is_predicted(table):
    X, errors = table(np.random.default_rng(1))
    chance, left = predictable(errors, X)
    assert chance < THRESHOLDS.misfit_p
    assert left < 0.9


@pytest.mark.parametrize("kind", ["equal", "growing", "heavy", "skew"])
def test_noise_of_any_kind_is_not_predicted(kind):
    """Beside the fitted constants of a law, as they leave a table."""
    refused = 0
    for draw in range(RIGHT):
        rng = np.random.default_rng([draw, 69])
        X = rng.uniform(0.5, 4, (int(rng.choice([60, 100, 150])), int(rng.choice([1, 2, 4]))))
        noise = {
            "equal": rng.standard_normal(len(X)),
            "growing": X[:, 0] * rng.standard_normal(len(X)),
            "heavy": np.clip(rng.standard_t(2, len(X)), -8, 8),  # beyond, rows are left out
            "skew": rng.exponential(1, len(X)),
        }[kind]
        errors = fitted(X.T, noise)
        refused += predictable(errors, X)[0] < THRESHOLDS.misfit_p
    assert refused == 0


def judged(text, x, y, left_out):
    """Chance of a misfit as large as a formula's, some rows left out of its fit as outliers."""
    every = Samples(
        x[:, None], y, ("x",), np.arange(len(y)), errors=np.full(len(y), np.sqrt(np.mean(y**2)))
    )
    whole = every.rows(~left_out)
    law = refitted(sympy.sympify(text, locals={"x": symbol("x")}), whole, "test")
    return evidence_of(law, whole, whole, whole, every).misfit_p


def test_an_outlier_that_only_the_formula_needs_is_a_misfit():
    """Four rows at one end that follow something else; a slip of the pen is no misfit."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.1, 4, 100))
    needed = np.arange(100) < 4
    y = np.sqrt(x) + 0.2 * needed + 0.01 * rng.standard_normal(100)
    assert judged("1.0*x**0.5", x, y, needed) < THRESHOLDS.misfit_p
    slip = np.zeros(100, dtype=bool)
    slip[40] = True
    y = np.where(slip, 3.0, 1.0) * np.sqrt(x) + 0.01 * rng.standard_normal(100)
    assert judged("1.0*x**0.5", x, y, slip) > THRESHOLDS.misfit_p


def test_the_slopes_of_the_likelihood_are_its_slopes():
    rng = np.random.default_rng(1)
    X, errors = rng.uniform(1, 5, (40, 2)), rng.standard_normal(40)
    distances = np.array([(column[:, None] - column) ** 2 for column in X.T])
    place = np.array([-0.3, 0.2, 0.1, -1.0])
    value, slopes = _likelihood(place, errors, distances)
    for k, slope in enumerate(slopes):
        step = np.eye(4)[k] * 1e-6
        assert (_likelihood(place + step, errors, distances)[0] - value) / 1e-6 == pytest.approx(
            slope, rel=1e-3, abs=1e-4
        )
