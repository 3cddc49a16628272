"""A search keeps to the operators that it is given, whichever engine, and whatever comes later."""

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symreg
from symreg.engines.base import Budget, Question
from symreg.engines.expressions import ExpressionsEngine
from symreg.engines.portfolio import PortfolioEngine
from symreg.enumeration.search import EFFORTS
from symreg.formulas.expressions import evaluate, normal_form, symbol
from symreg.formulas.operators import OPERATORS, lacking
from symreg.recovery.config import RecoverConfig

X, Y = symbol("x"), symbol("y")
STEPS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "inv": lambda a, b: 1 / a, "sqrt": lambda a, b: sympy.sqrt(a),
    "square": lambda a, b: a**2, "exp": lambda a, b: sympy.exp(a), "log": lambda a, b: sympy.log(a),
    "sin": lambda a, b: sympy.sin(a), "cos": lambda a, b: sympy.cos(a),
    "^": lambda a, b: a ** sympy.Float(1.7),
}  # fmt: skip
LEAVES = st.sampled_from([X, Y, 1.3 * X, 2.0 * Y])


@st.composite
def formulas(draw):
    """A formula made with some operators, and these."""
    operators = draw(st.sets(st.sampled_from(OPERATORS), min_size=1, max_size=5))
    made = draw(LEAVES)
    for operator in draw(st.lists(st.sampled_from(sorted(operators)), max_size=3)):
        made = STEPS[operator](made, draw(LEAVES))
    return made, operators


@settings(max_examples=200, deadline=None)
@given(formulas())
def test_what_is_made_with_some_operators_needs_no_other(made):
    formula, operators = made
    assume(not {"exp", "log"} <= operators)  # with both, sympy writes products and powers
    assert lacking(formula, operators) is None


@pytest.mark.parametrize(
    ("text", "operators", "missing"),
    [
        ("3.0*exp(-x)", "* + square", "exp"), ("x + y", "* exp", "+"), ("x*y", "+", "*"),
        ("x**1.5", "* square", "sqrt"), ("x**1.7", "* sqrt", "^"), ("x/y", "*", "/"),
        ("tanh(x)", "* + exp", "tanh"), ("x**y", "* exp", "^"), ("x**3", "square", "*"),
        ("2.5*x", "sin", None), ("x**4", "square", None), ("1.3*x - 2*y", "-", None),
        ("x**1.5", "* sqrt", None), ("3/x**2", "inv *", None),
        ("x/y", "inv +", "*"), ("Abs(cos(x))**(17/5)", "cos square ^", None),
        ("Abs(cos(x))", "cos sqrt *", None), ("Abs(cos(x))", "cos square", "Abs"),
    ],
)  # fmt: skip
def test_the_operator_that_is_lacking_is_named(text, operators, missing):
    formula = sympy.nsimplify(sympy.sympify(text, locals={"x": X, "y": Y}), rational=True)
    assert lacking(formula, operators.split()) == missing


def test_a_fitted_exponent_is_no_nest_of_roots():
    assert lacking(X ** sympy.Float(1.7), ("*", "sqrt")) == "^"


def decay(rows=60):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 3, rows)
    y = 3 * np.exp(-x) * (1 + 0.01 * rng.standard_normal(rows))
    return pd.DataFrame({"x": x, "y": y})


def test_the_enumeration_is_made_of_them():
    """A law of them is found where what lacks none would be handed over first."""
    x = decay()[["x"]].to_numpy()
    y = 0.3 * (x[:, 0] - 3.1) ** 2 + 0.02 * np.random.default_rng(1).standard_normal(len(x))
    question = Question(("+", "*", "square"))
    front = ExpressionsEngine(question, EFFORTS[:1]).search(x, y, ["x"], 0, Budget())
    assert all(lacking(each.expression, question.operators) is None for each in front)
    assert min(np.mean((evaluate(e.expression, ["x"], x) - y) ** 2) for e in front) < 5e-4


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "projection", "expressions"])
def test_every_engine_keeps_to_the_operators(engine):
    """The law, 3·exp(−x), needs another: neighbours, laws with names and simpler forms keep to
    them too."""
    found = symreg.recover(
        decay(), target="y", features="x", engine=engine, operators="+,*,square", null=False,
        time_limit=4, seeds=1,
    )  # fmt: skip
    for text in (found.expression, *(rival.expression for rival in found.rivals)):
        formula = sympy.sympify(text)
        assert not formula.atoms(sympy.Function)
        assert all(p.exp.is_integer and p.exp > 0 for p in formula.atoms(sympy.Pow))


@pytest.mark.slow
def test_operators_of_one_kind_leave_the_other_kind_free():
    table = decay()
    model = symreg.LawRegressor(
        unary_operators=["exp"], null=False, timeout_in_seconds=4, seeds=1, niterations=5
    )
    assert "exp" in str(model.fit(table[["x"]], table["y"]).sympy())
    model = symreg.LawRegressor(
        unary_operators=["square"], binary_operators=["*", "+"], null=False, timeout_in_seconds=4,
        seeds=1, niterations=5,
    )  # fmt: skip
    assert not model.fit(table[["x"]], table["y"]).sympy().atoms(sympy.Function)


@pytest.mark.parametrize("given", ["exp, sin", ("exp", "sin"), ["exp", "sin"]])
def test_operators_may_be_one_text(given, monkeypatch):
    asked = {}
    monkeypatch.setattr("symreg.estimator.recover", lambda table, **each: asked.update(each) or 1)
    with pytest.raises(AttributeError, match="found"):  # nothing is searched
        symreg.LawRegressor(unary_operators=given).fit(decay()[["x"]], decay()["y"])
    assert set(asked["operators"]) == {"+", "-", "*", "/", "exp", "sin"}


def test_no_operators_at_all_are_refused():
    model = symreg.LawRegressor(unary_operators=[], binary_operators=())
    with pytest.raises(ValueError, match="are empty; give one at least"):
        model.fit(decay()[["x"]], decay()["y"])


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(st.sets(st.sampled_from(OPERATORS), min_size=1, max_size=4))
def test_a_search_hands_over_what_its_operators_make(operators):
    table = decay(40)
    question = Question(tuple(sorted(operators)))
    budget = Budget()
    budget.watch.seconds = 2.0
    fronts = PortfolioEngine(question).search_all(
        table[["x"]].to_numpy(), table["y"].to_numpy(), ["x"], [0], budget
    )
    assert fronts[0]
    for candidate in fronts[0]:
        assert lacking(normal_form(candidate.expression), operators) is None


def test_a_guess_of_other_operators_is_refused():
    with pytest.raises(ValueError, match=r"the guess exp\(x\) needs exp"):
        Question(("+", "*"), guesses=("exp(x)",))
    assert RecoverConfig(operators=("+,*",)).question.operators == ("+", "*")
