"""What a table shows without any law: expansions, breaks, and what is therefore no law."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sympy

from symreg.fit.expansions import (
    break_of,
    expansion_of,
    nats_saved,
    points_told,
    smooth_probability,
)
from symreg.fit.noise import misfit_probability
from symreg.fit.refine import CLEARLY_BETTER, Law, refit_law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import feature_symbols
from symreg.recovery.recover import recover
from symreg.recovery.user_table import full_headers, without_unit
from symreg.search.description import charged

QUICK = {"engine": "projection", "null": False, "seeds": 1}
LEAST = 1e-11


def beside(text, x, y):
    """A formula and rows of one feature x."""
    samples = Samples(x[:, None], y, ("x",), np.arange(len(y)))
    (symbol,) = feature_symbols(("x",), samples.X)
    return Law(sympy.sympify(text, locals={"x": symbol}), (), 0.0, 0.0, 5, "test"), samples


@pytest.mark.parametrize("rows", [20, 50, 200])
def test_noise_leaves_no_polynomial_better_than_the_law(rows):
    rng = np.random.default_rng(rows)
    x = rng.uniform(0.5, 3, rows)
    law, samples = beside("3/x**2", x, 3 / x**2 * (1 + 0.05 * rng.standard_normal(rows)))
    expansion = expansion_of(law, samples, LEAST)
    # of some forty polynomials the luckiest leaves little less than the noise
    assert expansion.formula < 2 * expansion.error
    assert break_of(law, samples, LEAST) is None


def noisy(text, y_of, rows=20, noise=0.01):
    """A formula charged its symbols, and rows of y(x) with equal errors."""
    rng = np.random.default_rng(rows)
    x = rng.uniform(-0.9, 0.9, rows)
    y = y_of(x) + noise * np.sqrt(np.mean(y_of(x) ** 2)) * rng.standard_normal(rows)
    law, samples = beside(text, x, y)
    samples = replace(samples, errors=np.full(rows, np.sqrt(np.mean(y**2))))
    return refit_law(replace(law, nodes=charged(law.form)), samples), samples


def test_a_law_is_clearly_shorter_than_polynomials_and_a_curve_that_bends_like_one_is_not():
    assert nats_saved(*noisy("exp(-3*x**2)", lambda x: np.exp(-3 * x**2))) > CLEARLY_BETTER / 2
    # found once for a sum of nine powers: as many symbols as the numbers of a polynomial are worth
    bent = "log(sqrt(x + 1)/2 + 1/3 - 2/(9*(x - 1)**3))"
    powers = noisy(bent, lambda x: sum(x**k for k in range(1, 10)))
    assert nats_saved(*powers) < CLEARLY_BETTER / 2
    # a line is a polynomial itself, and no shorter one says more; other curves take more numbers
    assert nats_saved(*noisy("3*x + 1", lambda x: 3 * x + 1)) > CLEARLY_BETTER / 2


def levels(rng, count, spread, rows=120):
    """(row,) of a feature with so few values, each with a relative spread, and their numbers."""
    place = rng.integers(0, count, rows)
    return np.sort(rng.uniform(0.5, 4, count))[place] * (1 + spread * rng.normal(size=rows)), place


@pytest.mark.parametrize("spread", [0, 1e-4])
@pytest.mark.parametrize("noise", [0, 1e-3, 0.02])
@pytest.mark.parametrize("count", [2, 4, 9])
def test_replicates_tell_no_more_points_than_there_are(count, noise, spread):
    rng = np.random.default_rng(count)
    x, place = levels(rng, count, spread * noise)
    y = rng.uniform(1, 9, count)[place] * (1 + noise * rng.normal(size=len(x)))
    law, samples = beside("x", x, y)
    means = np.array([y[place == k].mean() for k in range(count)])
    through = replace(samples, y=means[place])
    rest = samples.residuals(through.y)
    law = SimpleNamespace(form=law.form, residuals=lambda samples: rest)
    assert count - 1 <= points_told(law, samples) <= count  # two of nine lie side by side


def test_even_rows_tell_more_points_than_laws_have_numbers_at_any_noise_that_shows_a_law():
    for rows, noise in ((8, 1e-3), (20, 0.02), (60, 0.2), (500, 0.2)):
        x = np.random.default_rng(rows).uniform(0.5, 4, rows)
        law, samples = beside("x", x, x * (1 + noise * np.random.default_rng(1).normal(size=rows)))
        assert points_told(law, samples) >= 6


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("count", "spread"),
    [(2, 0.01), (2, 0), (3, 0), (4, 0), (5, 0)],
)
def test_any_numbers_at_a_few_values_of_a_feature_are_no_law(count, spread):
    rng = np.random.default_rng([count, 5])
    x, place = levels(rng, count, spread)
    y = np.sort(rng.uniform(1, 9, count))[place] * (1 + 0.02 * rng.normal(size=len(x)))
    table = pd.DataFrame({"x": x, "y": y})
    assert recover(table, target="y", features="x", time_limit=3, null=False).status != "found"


def test_a_law_of_one_number_at_six_values_is_found():
    x, _ = levels(np.random.default_rng(1), 6, 0)
    y = 3 * x**2 * (1 + 0.02 * np.random.default_rng(2).normal(size=len(x)))
    found = recover(pd.DataFrame({"x": x, "y": y}), target="y", features="x", **QUICK)
    assert found.found, found.explanation


def test_what_a_wrong_formula_leaves_of_few_rows_is_a_polynomial():
    rng = np.random.default_rng(0)
    X, noise = rng.uniform(0, 1, (20, 2)), rng.standard_normal(20)
    y = np.sin(1.5 * X[:, 0]) * np.cos(0.5 * X[:, 1])
    a, b = feature_symbols("ab", X)
    once_found = 1.5 * a * (0.125 * a**2 + sympy.cos(a)) * sympy.exp(-0.13 * b**2)
    for formula, error in ((once_found, 0.0), (sympy.sin(1.5 * a) * sympy.cos(b / 2), 0.01)):
        samples = Samples(X, y + error * noise, ("a", "b"), np.arange(20), errors=np.full(20, 1.0))
        law = refitted(formula, samples, "test")
        # bins of five rows see nothing in twenty
        assert misfit_probability(law.residuals(samples), samples) > 0.01
        smooth = smooth_probability(law, samples)
        assert smooth < 1e-6 if error == 0 else smooth > 0.01


def test_nothing_is_smooth_in_what_a_constant_lacks():
    law, samples = beside("2.5", np.linspace(1, 2, 40), 2.5 + np.linspace(-1, 1, 40) ** 3)
    assert smooth_probability(law, samples) == 1


def test_a_formula_that_leaves_something_smooth_is_beaten_by_a_polynomial():
    x = np.random.default_rng(0).uniform(-1, 1, 20)
    law, samples = beside("x**2 - 1 - x**4/2", x, np.sin(x**2) * np.cos(x) - 1)
    expansion = expansion_of(law, samples, LEAST)
    assert expansion.formula > 100 * expansion.error


def test_a_polynomial_law_ends_and_the_series_of_cosh_does_not():
    x = np.random.default_rng(0).uniform(-1, 1, 40)
    for formula, y, ends in (
        ("3.7*x**2 + 1.2*x + 0.5", 3.7 * x**2 + 1.2 * x + 0.5, True),
        ("cosh(x)", np.cosh(x), False),
    ):
        assert expansion_of(*beside(formula, x, y), LEAST).ends is ends


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_a_kink_is_told_by_its_place(noise):
    rng = np.random.default_rng(1)
    x = rng.uniform(0.1, 10, 200)
    y = np.where(x < 1, x, x**-2.3) * (1 + noise * rng.standard_normal(200))
    law, samples = beside("x/(1 + x**3.3)", x, y)
    assert break_of(law, samples, LEAST).value == pytest.approx(1.0, abs=0.1)  # rows are 0.05 apart


def test_noise_that_goes_with_the_target_makes_no_break():
    x = np.random.default_rng(0).uniform(1, 100, 500)
    y = 3 * x * (1 + 0.01 * np.random.default_rng(1).standard_normal(500))
    found = recover(pd.DataFrame({"x": x, "y": y}), target="y", features="x", **QUICK)
    assert found.found, found.explanation


def test_a_step_is_no_law_and_its_place_is_told():
    x = np.linspace(0, 1, 60)
    found = recover(pd.DataFrame({"x": x, "y": (x < 0.5) * 1.0}), target="y", features="x", **QUICK)
    assert not found.found
    assert found.gap.value == pytest.approx(0.5, abs=0.02)
    assert "breaks at x = 0.5" in found.conclusion


def test_units_in_headers_are_no_part_of_a_name():
    assert [without_unit(h) for h in ("F [N]", "v (m/s)", "log P (dimly)", "[N]")] == [
        "F", "v", "log P (dimly)", "[N]",
    ]  # fmt: skip
    there = ("F [N]", "v (m/s)", "v")
    assert full_headers(("F", "v", "x"), there) == ("F [N]", "v", "x")


def test_what_is_no_table_is_refused_in_one_line():
    for table in (None, [1.0], {"x": 1.0}):
        with pytest.raises(ValueError, match=r"table is .* it should be .*DataFrame"):
            recover(table)


def test_the_kind_of_errors_is_chosen_and_told():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 100, 300)
    kinds = {
        "additive": 2 * x + 5 * rng.standard_normal(300),
        "relative": 2 * x * (1 + 0.1 * rng.standard_normal(300)),
        "in the logarithm": 2 * x * 10 ** (0.11 * rng.standard_normal(300)),
    }
    for kind, y in kinds.items():
        table = pd.DataFrame({"x": x, "y": y})
        found = recover(table, target="y", features="x", form="a*x", **QUICK)
        assert found.noise.startswith(kind)
        assert found.status == "fitted"
