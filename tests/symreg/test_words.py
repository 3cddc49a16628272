"""What a result says of itself is true, and names what to try first."""

import re

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

import symreg
from symreg import LawRegressor
from symreg.recovery.result import Quantity
from symreg.recovery.words import interval

X = np.linspace(0.5, 3, 40)


def fitted(form, y, **options):
    table = pd.DataFrame({"x": X, "y": y, "kind": np.repeat(["a", "b"], 20)})
    return symreg.recover(table, target="y", features="x", form=form, null=False, **options)


@pytest.mark.parametrize(
    ("form", "y", "power"),
    [
        ("x + c", X + 1, False), ("c*x", 2 * X, True), ("c*x**p", 2 * X**0.7, True),
        ("c*exp(-x)", np.exp(-X), False), ("c/(x + d)", 1 / (X + 1), False),
        ("c*sqrt(x)", X**0.5, True),
    ],
)  # fmt: skip
def test_only_a_product_of_powers_has_exponents(form, y, power):
    assert ("exponent of x" in fitted(form, y).summary) == power


def test_what_predicts_nothing_has_no_exponent():
    noise = np.random.default_rng(0).normal(size=40) + 5
    assert "exponent of x" not in fitted("c*x", noise).summary


def test_a_repr_says_of_what_law_it_is_another_form():
    assert repr(fitted("c*x", 2 * X)).endswith("; fitted)")
    other = repr(fitted("c*x**3 + d", 2 * X**3 + 1, law="k*x"))
    assert other.endswith("; fitted, not recovered; k*x: different)")


def test_the_first_thing_to_try_is_a_column_of_labels(monkeypatch):
    from symreg.engines.base import Candidate
    from symreg.formulas.expressions import symbol
    from symreg.recovery.selection import Search

    found = [Candidate(2.0 * symbol("x"), 3, 0.1, 0.0, 0, "none")]
    monkeypatch.setattr(Search, "candidates", lambda self, rows: found)
    y = np.where(np.arange(40) < 20, 2 * X, 5 * X**2)
    kinds, names = np.repeat(["a", "b"], 20), np.arange(40).astype(str)
    table = pd.DataFrame({"x": X, "y": y, "name": names, "kind": kinds})
    options = {"target": "y", "features": "x", "null": False}
    assert "the first thing to try is --per-group kind" in str(symreg.recover(table, **options))
    assert "--per-group" not in str(symreg.recover(table.drop(columns="kind"), **options))
    exact = table.assign(y=2 * table.x)
    assert "--per-group" not in str(symreg.recover(exact, **options))


@pytest.mark.parametrize(
    "value", [1 + 2j, "(1.234567890123456789+2.345678901234567890j)", "1.5 + 2i", np.complex64(1j)]
)
def test_complex_values_are_called_so_and_shown_whole(value):
    table = pd.DataFrame({"x": X, "y": [value] * 40})
    with pytest.raises(ValueError, match="complex values, such as") as refused:
        symreg.recover(table, target="y", features="x")
    shown = str(refused.value)
    assert str(value) in shown
    assert "columns of their own" in shown


def test_the_formula_is_had_in_sympy_and_latex():
    result = fitted("c*x**2", 2.5 * X**2)
    assert result.sympy() == result.formula
    assert result.sympy("x**2/3") == sympy.Symbol("x", positive=True) ** 2 / 3


def test_the_estimator_takes_units():
    rows = pd.DataFrame({"z": X})
    model = LawRegressor(form="a/(z + b)", units={"z": "m", "y": "K"}, null=False)
    found = model.fit(rows, 2.725 / (X + 1)).recovery_
    assert {name: each.unit for name, each in found.coefficients.items()} == {"a": "m K", "b": "m"}
    assert model.equations_.empty


def test_units_are_multiplied_out_as_the_columns_have_them():
    # a distance at a speed takes hours, and waiting half of one
    table = pd.DataFrame({"v": 30 + 20 * X, "d": 100 * X**2})
    for unit, size in (("h", 1), ("min", 60)):
        table["y"] = size * (table.d / table.v + 0.5)
        law = symreg.recover(
            table, target="y", features=("d", "v"), units=f"y={unit} d=km v=km/h",
            form="a*d/v + b", null=False,
        )  # fmt: skip
        assert law.summary["a"] == "1 [1, 1]"
        assert law.summary["b"] == f"{size / 2:g} [{size / 2:g}, {size / 2:g}] {unit}"
        assert law.coefficients["b"].unit_in_si == 3600 / size


@given(st.floats(-1e5, 1e5), st.floats(1e-5, 1e4))
def test_a_value_and_its_interval_have_two_digits_of_the_half_width(value, half):
    shown = interval(Quantity(value, value - half, value + half))
    numbers = re.findall(r"-?\d+(?:\.\d+)?", shown)
    assert len({len(text.partition(".")[2]) for text in numbers}) == 1
    last = 10.0 ** -len(numbers[0].partition(".")[2])
    assert last == 1 or 0.00999 * half < last <= 0.1001 * half
