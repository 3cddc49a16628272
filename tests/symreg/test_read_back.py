"""What is written is read by its own reader: formulas, names of columns, results."""

import math
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

import orbits
import symreg
from orbits.expressions import OWN, in_range, names_of, parse_expression
from symreg.fit.samples import Samples
from symreg.formulas.expressions import (
    constant_symbol,
    evaluate,
    in_full,
    normal_form,
    skeleton,
    symbol,
    written,
)
from symreg.formulas.reading import read_formula
from symreg.formulas.written import simplest
from symreg.recovery.result import Quantity
from symreg.recovery.user_table import written_names

LONG = "r" * 150, "m" * 150
headers = st.text(min_size=1, max_size=200) | st.sampled_from(
    ["x y", "x_y", "r²", "r2", "µ", "μ", "lambda", "pi", "E", "I", "N", "S", "exp", "None", "F [N]",
     "e5"]
)  # fmt: skip


@given(st.lists(headers, min_size=1, max_size=6, unique=True))
@example(["lambda", "pi", "exp", "Abs"])
@settings(max_examples=200, deadline=None)
def test_formulas_can_hold_every_name_of_a_column(names):
    spelled = list(written_names(names).values())
    assert len(set(spelled)) == len(names)
    formula = sympy.Add(*(sympy.Integer(2 + i) * symbol(text) for i, text in enumerate(spelled)))
    assert names_of(written(formula), OWN) == set(spelled)
    assert parse_expression(written(formula), limits=OWN) == formula


a, b = map(symbol, LONG)
numbers = st.floats(0.01, 20) | st.floats(-20, -0.01)


def of_floats(formula):
    """Whether floats hold its numbers, as those that a search writes."""
    return all(abs(number) <= OWN.number for number in formula.atoms(sympy.Number))


def exponential(inner):
    """exp of what floats hold: sympy never ends exp(1e90), and has no room for a tower."""
    if inner.is_number and not (inner.is_real and abs(inner) < OWN.exponential):
        return inner
    return sympy.exp(inner)


leaves = numbers.map(sympy.Float) | st.sampled_from(
    [a, b, a * 1e-250, b * 1e250, sympy.pi, sympy.E, sympy.Rational(7, 3), sympy.Rational(12, 5)]
)
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, st.sampled_from([-157.9, -2, 0.5, 1.5])).map(lambda p: p[0] ** p[1]),
        inner.map(sympy.Abs), inner.map(sympy.tanh), inner.map(sympy.sin), inner.map(exponential),
        inner.map(lambda e: sympy.log(1 + e**2)),
    ).filter(of_floats),
    max_leaves=8,
)  # fmt: skip


@given(formulas)
@example(a**-157.9 + 1.2e300 * b)
@settings(max_examples=60, deadline=None)
def test_what_a_search_writes_is_read_with_the_same_values(formula):
    if formula.has(sympy.zoo, sympy.nan, sympy.oo, sympy.I) or not formula.free_symbols:
        return
    again = parse_expression(in_full(formula), limits=OWN)
    points = np.random.default_rng(0).uniform(0.5, 2, (20, 2))
    before, after = (evaluate(each, LONG, points) for each in (formula, again))
    # the last digit decides of a sine of 1e248
    beside = evaluate(formula, LONG, points * (1 + 1e-15))
    settled = ~(np.abs(beside - before) > 1e-9 * np.abs(before))
    np.testing.assert_allclose(after[settled], before[settled], rtol=1e-8)


def test_a_sum_of_many_terms_is_read():
    formula = sympy.Add(*(sympy.Float(i + 0.5) * a**i for i in range(2, 200)))
    assert parse_expression(sympy.sstr(formula), limits=OWN).free_symbols == {a}


@pytest.mark.parametrize("text", ["-" * 400 + "r", "(" * 90 + "r" + ")" * 90 + "**2" * 300])
def test_what_is_nested_without_end_is_refused_in_one_line(text):
    for limits in ({}, {"limits": OWN}):
        with pytest.raises(ValueError, match=r"nested|cannot be read|at most"):
            parse_expression(text, **limits)
    with pytest.raises(ValueError, match="cannot be read"):
        orbits.parse_law(text)


def test_a_column_called_nearly_as_a_law_is_no_misspelt_law():
    assert read_formula("2*hooke").free_symbols == {symbol("hooke")}


def fitted(form="k*a**1.5", units=(), names=("a", "T"), exponent=1.5):
    x = np.linspace(0.4, 30, 12)
    table = pd.DataFrame({names[0]: x, names[1]: 1.1 * x**exponent})
    return symreg.recover(
        table, target=names[1], features=names[0], form=form, units=units, null=False
    )


@pytest.mark.parametrize("exponent", [1.5, 0.5, -0.5, -1.5, 1 / 3, 2, -2.5, 40])
def test_a_law_with_units_is_written_whatever_its_exponent(exponent, tmp_path):
    result = fitted(f"k*a**({exponent})", "T=yr a=au", exponent=exponent)
    path = tmp_path / "law.json"
    result.write(path)
    again = symreg.Recovery.read(path)
    assert again.summary == result.summary
    assert again.sympy() == result.sympy()


def test_names_of_any_length_are_written_and_read(tmp_path):
    text = "k*{0}**1.5 + c*{0}**2 + d*{0} + e".format(LONG[0])
    result = fitted(text, names=(LONG[0], "T"))
    result.write(tmp_path / "law.json")
    again = symreg.Recovery.read(tmp_path / "law.json")
    assert again.predict({LONG[0]: [4.0]}) == pytest.approx(8.8, rel=1e-6)
    for each in (again.expression, again.written, again.form):
        assert again.sympy(each).free_symbols
    # what is printed may be given back
    assert symreg.compare(again.expression, again.expression).verdict == "exact"


def test_a_constant_in_exp_is_as_large_as_the_years_want_it(tmp_path):
    # exp(803.72) is more than a float holds, and so is its inverse
    x = np.linspace(1990, 2024, 40)
    for form, sign in (("K/(1 + exp(-(c + d*a)))", 1), ("K/(1 + exp(c + d*a))", -1)):
        line = fitted("c*a + d", names=("a", "y"))
        numbers = {"K": 5.0, "c": -803.72 * sign, "d": 0.4 * sign}
        told = {name: Quantity(name=name, value=value) for name, value in numbers.items()}
        law = replace(line, form=form, coefficients=told, covariance=())
        law.write(tmp_path / "law.json")
        true = 5 / (1 + np.exp(803.72 - 0.4 * x))
        for each in (law, symreg.Recovery.read(tmp_path / "law.json")):
            assert each.predict({"a": x}) == pytest.approx(true, rel=1e-12)
            assert evaluate(each.sympy(written(each.formula)), ["a"], x[:, None]) == pytest.approx(
                true, rel=1e-12
            )
            assert written(each.formula) == "5.0/(exp(803.72 - 0.4*a) + 1)"
            assert "e^{803.7 - 0.4 a}" in each.latex()


@pytest.mark.few(4)
@pytest.mark.parametrize("offset", [-1500.5, -803.7, 803.7, 1500.5])
@pytest.mark.parametrize("text", ["2*{0}/(3 + {0})", "2*b*{0}**2.5", "-b*{0}*sqrt(1 + {0})"])
def test_a_formula_with_a_large_constant_in_exp_is_read_and_normal(text, offset):
    x = np.linspace(0, 1, 9)
    true = eval(text.format("np.exp(x)"), {"np": np, "sqrt": np.sqrt, "x": x, "b": 1.5})
    rows = np.column_stack([x - offset, np.full(9, 1.5)])
    samples = Samples(rows, true, ("r", "b"), np.arange(9))
    read = read_formula(text.format(f"exp({offset} + r)"))
    for formula in (read, normal_form(1.0 * read), simplest(1.0 * read, samples)):
        again = parse_expression(in_full(formula), limits=OWN)
        for each in (formula, again, in_range(formula.xreplace({symbol("b"): 1.0 * symbol("b")}))):
            assert evaluate(each, ["r", "b"], rows) == pytest.approx(true, rel=1e-11)
        form, numbers = skeleton(formula)
        assert np.all(np.abs(numbers) < 5000)
        assert evaluate(form, ["r", "b"], rows, numbers) == pytest.approx(true, rel=1e-11)


def numbers_in(value):
    """Every place of a float in a result, as a path of fields."""
    if is_dataclass(value):
        for field in fields(value):
            for path in numbers_in(getattr(value, field.name)):
                yield (field.name, *path)
    elif isinstance(value, float):
        yield ()


def with_number(value, path, number):
    if not path:
        return number
    inner = with_number(getattr(value, path[0]), path[1:], number)
    return replace(value, **{path[0]: inner})


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_results_with_numbers_that_json_cannot_hold_are_read(number, tmp_path):
    result = fitted()
    paths = list(numbers_in(result))
    assert len(paths) > 5
    for path in paths:
        changed = with_number(result, path, number)
        changed.write(tmp_path / "law.json")
        assert str(symreg.Recovery.read(tmp_path / "law.json"))
    spread = replace(result, covariance=((number,),), gates=())
    spread.write(tmp_path / "law.json")
    assert math.isnan(symreg.Recovery.read(tmp_path / "law.json").covariance[0][0])


def test_constants_of_a_skeleton_are_names_of_no_column():
    with pytest.raises(ValueError, match="rename"):
        fitted(names=(f"{constant_symbol(0)}", "T"))
    assert Quantity(name="c").value is None
