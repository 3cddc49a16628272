"""Wrong rows: found by a robust fit, whatever their value, and never explained by a term."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symreg.fit.grouped import group_parts, refit_grouped, started
from symreg.fit.outliers import concentrated, outlier_note, outliers, outlying_rows
from symreg.fit.refine import refit_law, refitted
from symreg.fit.samples import Samples
from symreg.recovery.neighbours import shortened, without_lone_part
from symreg.recovery.recover import recover
from symreg.recovery.user_table import UserTable, samples_of, with_indicators

WRONG = {
    "zero": lambda y: 0.0,
    "tiny": lambda y: 1e-9 * y,
    "huge": lambda y: 1e12 * y,
    "ten times": lambda y: 10 * y,
    "sign": lambda y: -y,
    "-999": lambda y: -999.0,
}
"""Values of a row that its law does not have; -999 stands for a missing one."""
LAWS = (
    "2.3*a**2/b",
    "1.7*a + 0.6*b**2",
    "3.1*b*sin(1.3*a)",
    "2.2*a*b/(1.4 + a)",
    "4.5*a*exp(-0.8*b)",
)
"""Of both signs among them, sums and functions."""


def drawn(law, rows, noise, seed):
    """Rows of a law, and the law fitted to nothing yet."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.5, 4, (rows, 2))
    formula = sympy.sympify(law)
    y = sympy.lambdify(sympy.symbols("a b"), formula)(*X.T) * (
        1 + noise * rng.standard_normal(rows)
    )
    return Samples(X, np.asarray(y), ("a", "b"), np.arange(rows)), formula


@settings(max_examples=40, deadline=None)
@given(
    law=st.sampled_from(LAWS), value=st.sampled_from(sorted(WRONG)), rows=st.integers(30, 120),
    place=st.floats(0, 1), noise=st.sampled_from([0.0, 0.03]), seed=st.integers(0, 10**6),
)  # fmt: skip
@example("2.2*a*b/(1.4 + a)", "zero", 30, 0.0, 0.0, 57777)  # of all rows 1.4 becomes 1e18
def test_the_wrong_row_is_the_outlier_of_a_robust_fit(law, value, rows, place, noise, seed):
    """Least squares of all rows may bend to it; no other row is one."""
    samples, formula = drawn(law, rows, noise, seed)
    row = int(place * (rows - 1))
    y = samples.y.copy()
    y[row] = WRONG[value](y[row])
    # a tenth of the usual size is what a sine may be anyway
    if abs(samples.y[row]) < 0.3 * np.median(np.abs(samples.y)):
        return
    wrong = replace(samples, y=y)
    bent = refitted(formula, wrong, "")
    assert list(np.flatnonzero(outliers([bent], wrong, 0.0))) == [row]
    assert not outliers([refit_law(bent, samples)], samples, 0.0).any()


@settings(max_examples=40, deadline=None)
@given(
    powers=st.tuples(*[st.sampled_from([-2, -1, -0.5, 0.5, 1, 2])] * 2), seed=st.integers(0, 10**6),
    value=st.sampled_from(sorted(WRONG)), noise=st.sampled_from([0.0, 0.03]), groups=st.booleans(),
)  # fmt: skip
def test_a_wrong_row_stands_out_before_any_search(powers, value, noise, groups, seed):
    """From a product of powers, with a factor for each group of constants if there are groups."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(0.5, 4, (2, 60))
    group = np.arange(60) % 2
    y = np.where(group & groups, 7.0, 2.0) * a ** powers[0] * b ** powers[1]
    y *= 1 + noise * rng.standard_normal(60)
    table = pd.DataFrame({"a": a, "b": b, "y": y, "group": group})
    samples = samples_of(UserTable(table, 60, ()), "y", ["a", "b"])
    if groups:
        samples, _ = with_indicators(samples, table, "group", ("y", "a", "b"))
    assert not outlying_rows(samples).any()
    y = y.copy()
    y[11] = WRONG[value](y[11])
    assert list(np.flatnonzero(outlying_rows(replace(samples, y=y)))) == [11]


def test_a_zero_among_features_hides_no_other_row():
    samples, _ = drawn("2.3*a**2/b", 60, 0.02, 0)
    X, y = samples.X.copy(), samples.y.copy()
    X[5, 0] = y[5] = 0.0
    y[20] *= 10
    assert outlying_rows(replace(samples, X=X, y=y))[20]


def test_a_term_for_one_row_is_no_term():
    samples, _ = drawn("2.3*a/b**2", 40, 0.0, 1)
    a, b = map(float, samples.X[3])
    y = samples.y.copy()
    y[3] = 0.0
    wrong = replace(samples, y=y)
    size = -2.3 * a / b**2 * 1e-14
    pole = refitted(
        sympy.sympify(f"2.3*a/b**2 + ({size!r})/(a*b - {a * b - 1e-7!r})**2"), wrong, ""
    )
    assert pole.mean_square < 1e-14  # it explains every row
    short = without_lone_part(pole, shortened(pole, wrong), wrong, 0.0)
    assert short is not None
    assert short.key == "_c0*a/b**2"
    assert outliers([pole, short], wrong, 0.0)[3]


@pytest.mark.parametrize("law", [*LAWS, "0.3*a + 1e-6*exp(4*a)", "a/(1.02 - 0.25*a)"])
def test_the_terms_of_a_law_are_for_many_rows(law):
    """A steep one too: where nothing else is in the rows, few show it, but each of them does."""
    samples, formula = drawn(law, 60, 0.0, 2)
    fitted = refitted(formula, samples, "")
    assert without_lone_part(fitted, shortened(fitted, samples), samples, 0.0) is None


def test_the_end_of_a_steep_law_is_no_outlier():
    """Rows that a wrong formula misses most lie together there, whatever their other features."""
    X = np.random.default_rng(77).uniform([0.02, 0.5], [1, 2], (60, 2))
    samples = Samples(X, X[:, 1] / (1.02 - X[:, 0]) ** 1.7, ("a", "b"), np.arange(60))
    formulas = ("1.1*a**2.1*b**1.5", "1.2*b*exp(2.1*a)", "1.1*b/(1.5 - a)")
    wrong = [refitted(sympy.sympify(formula), samples, "") for formula in formulas]
    assert not outliers(wrong, samples, 0.0).any()


def test_errors_that_are_given_say_what_an_outlier_is():
    """A row at five of its standard errors is none, however well the others agree."""
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 5, 100)
    table = pd.DataFrame({"x": x, "y": 3 * x + 0.02 * rng.standard_normal(100)})
    table.loc[7, "y"] += 1.0
    for sigma, away in (("0.2", []), ("0.1", [7])):
        samples = samples_of(UserTable(table, 100, ()), "y", ["x"], sigma=sigma)
        law = refitted(sympy.sympify("2.5*x"), samples, "")
        assert list(np.flatnonzero(outliers([law], samples, 0.0))) == away
    assert "8 or more of the standard errors given" in outlier_note(
        np.arange(9) == 7, "row 8", True
    )


def surfaces(wrong, rows=80, seed=0):
    """A drag on two surfaces, 5 % noise, some rows eight times too large."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "d": rng.uniform(0.05, 0.3, rows), "v": rng.uniform(2, 30, rows),
        "surface": np.where(np.arange(rows) % 2, "rough", "smooth"),
    })  # fmt: skip
    size = np.where(table.surface == "rough", 0.8, 0.3) * table.d**2 * table.v**2
    table["F"] = size * (1 + 0.05 * rng.standard_normal(rows))
    table.loc[wrong, "F"] *= 8
    return table


def test_outliers_of_groups_are_those_of_one_robust_fit():
    table = surfaces([7, 20])
    samples = samples_of(UserTable(table, 80, ()), "F", ["d", "v"])
    samples, _ = with_indicators(samples, table, "surface", ("F", "d", "v"))
    bent = started(refitted(sympy.sympify("d**1.5*v**1.5"), group_parts(samples)[0], ""), samples)
    law = bent.joint(samples)
    away, _ = concentrated(law, samples, lambda _, rows: refit_grouped(bent, rows).joint(rows))
    assert list(np.flatnonzero(away)) == [7, 20]


def test_a_row_that_stands_out_and_is_explained_comes_back():
    """A row beside a pole is far from any product of powers; another is wrong."""
    rng = np.random.default_rng(0)
    r = rng.uniform(1.5, 4, 60)
    r[7] = 1.02
    table = pd.DataFrame({"r": r, "F": 2 / (r - 1) ** 2 * (1 + 0.01 * rng.normal(size=60))})
    table.loc[20, "F"] *= 4
    result = recover(table, target="F", features="r", form="c/(r-1)**2")
    assert result.rows_left_out == 1
    assert "row 21" in result.explanation


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [[7], [7, 20], [7, 21]])
def test_a_wrong_row_breaks_no_law_with_groups(wrong):
    result = recover(
        surfaces(wrong), target="F", features="d,v", per_group="surface", null=False, time_limit=15
    )
    assert result.per_group.form == "c1*d**2*v**2"
    assert result.rows_left_out == len(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("value", sorted(WRONG))
@pytest.mark.parametrize("law", ["3.7*a/b**2", "3.1*b*sin(1.3*a)"])
def test_a_wrong_row_breaks_no_exact_law(law, value):
    samples, _ = drawn(law, 40, 0.0, 0)
    table = pd.DataFrame({"a": samples.X[:, 0], "b": samples.X[:, 1], "y": samples.y})
    table.loc[3, "y"] = WRONG[value](table.y[3])
    result = recover(table, target="y", features="a,b", null=False, time_limit=15)
    assert result.rows_left_out == 1
    assert "row 4" in result.explanation
    np.testing.assert_allclose(result.predict(table.drop(3)), table.drop(3).y, rtol=1e-6)


@pytest.mark.parametrize("law", ["3.1*b*sin(1.3*a)", "2.3*a - b**2", "a*cos(b)", "b*sin(3*a)"])
def test_a_wrong_row_among_both_signs_is_seen_whatever_the_law(law):
    """Magnitudes say nothing there; a smooth function of the other rows does."""
    samples, _ = drawn(law, 60, 0.0, 1)
    assert not outlying_rows(samples).any()
    for value in ("zero", "huge", "sign"):
        y = samples.y.copy()
        y[3] = WRONG[value](y[3])
        assert list(np.flatnonzero(outlying_rows(replace(samples, y=y)))) == [3]


def test_a_wrong_row_among_both_signs_is_seen_beside_many_columns(monkeypatch):
    """No row is near another in thirty dimensions: no smooth function of them is learned there."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(1, 3, (200, 30)), rng.standard_normal(200)
    y[17] = 60.0
    monkeypatch.setattr("symreg.fit.outliers.beside_others", None)
    samples = Samples(X, y, tuple(f"x{i}" for i in range(30)), np.arange(200))
    assert np.flatnonzero(outlying_rows(samples)).tolist() == [17]
