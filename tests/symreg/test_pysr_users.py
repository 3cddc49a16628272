"""What a user of PySR looks for works or is refused in one line, as each row of the page says."""

import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.multioutput import MultiOutputRegressor

import symreg

PAGE = Path(__file__).parents[2] / "notebooks" / "how-to" / "pysr.md"
ROW = re.compile(r"^\| (.+) \| (.+) \| (works|refused) \|$", re.MULTILINE)
QUICK = {"null": False, "seeds": 1, "timeout_in_seconds": 4}


def table():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"m": random.uniform(1, 3, 60), "r": random.uniform(0.5, 2, 60)})
    return X, 4 * X["m"] / X["r"] ** 2


@pytest.fixture(scope="module")
def searched():
    return symreg.LawRegressor(**QUICK).fit(*table())


def fitted(**options):
    return symreg.LawRegressor(**QUICK | {"form": "a*m/r**2"} | options).fit(*table())


def evolved(searched):
    model = symreg.LawRegressor(niterations=2, population_size=40, maxsize=9, **QUICK)
    assert len(model.fit(*table()).equations_)


def operators(searched):
    options = {"binary_operators": ["*", "/"], "unary_operators": [], "guesses": ["m/r**2"]}
    assert fitted(form=None, **options).found_ is not None


def limits(searched):
    assert fitted(random_state=3).recovery_.configuration["seed"] == 3


def equations(searched):
    assert {"complexity", "loss", "score", "equation"} <= set(searched.equations_)
    assert "tabular" in searched.latex_table()


def rows(searched):
    X, y = table()
    np.testing.assert_allclose(searched.predict(X), y, rtol=1e-9)
    last = len(searched.equations_) - 1
    assert np.shape(searched.predict(X, last)) == (60,)
    assert searched.sympy(last) is not None
    assert searched.latex(last)
    with pytest.raises(ValueError, match="counted from 0, and none"):
        searched.predict(X, last + 1)
    with pytest.raises(ValueError, match="has 0 row"):
        fitted().predict(X, 0)


def functions(searched):
    X, y = table()
    tensor = torch.tensor(X.to_numpy(), requires_grad=True)
    searched.function("torch")(tensor).sum().backward()
    np.testing.assert_allclose(tensor.grad[:, 0], y / X["m"], rtol=1e-9)


def code(searched):
    assert "pow(r, 2)" in searched.code("c").replace("r*r", "pow(r, 2)")


def columns_of_y(searched):
    X, y = table()
    several = np.column_stack([y, 2 * y])
    with pytest.raises(ValueError, match=r"shape \(60, 2\).*MultiOutputRegressor"):
        symreg.LawRegressor().fit(X, several)
    each = MultiOutputRegressor(symreg.LawRegressor(form="a*m/r**2", **QUICK)).fit(X, several)
    np.testing.assert_allclose(each.predict(X), several, rtol=1e-9)


def template(searched):
    X, y = table()
    np.testing.assert_allclose(fitted().predict(X), y, rtol=1e-9)


def function_of_a_template(searched):
    with pytest.raises(ValueError, match=r"calls 'f\(m\)'"):
        fitted(form="a*f(m)/r**2")


def category(searched):
    X, y = table()
    X["galaxy"] = np.repeat([1, 2], 30)
    model = symreg.LawRegressor(form="a*m/r**2", per_group="galaxy", **QUICK)
    np.testing.assert_allclose(model.fit(X, y * X["galaxy"]).predict(X), y * X["galaxy"])


def units(searched):
    units_given = {"m": "kg", "r": "m", "y": "N"}
    # N m^2 kg^-1, in base units
    assert fitted(units=units_given).recovery_.coefficients["a"].unit == "m^3 s^-2"


def weights(searched):
    X, y = table()
    wrong = np.where(np.arange(60) < 5, 9.0, y)
    model = symreg.LawRegressor(form="a*m/r**2", **QUICK)
    used = (np.arange(60) >= 5).astype(float)
    np.testing.assert_allclose(model.fit(X, wrong, sample_weight=used).predict(X), y)
    np.testing.assert_allclose(model.fit(X, y, sigma=0.1 * y).predict(X), y)


def files(searched):
    again = pickle.loads(pickle.dumps(searched))
    assert again.sympy() == searched.sympy()


def refused(*options):
    """A constructor's option that there is not."""

    def check(searched):
        for option in options:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
                symreg.LawRegressor(**{option: None})

    return check


def best(searched):
    refused("model_selection")(searched)
    assert not hasattr(searched, "get_best")
    assert searched.recovery_.rivals is not None


def own_operator(searched):
    with pytest.raises(ValueError, match=r"operator 'inv\(x\) = 1/x' is not known. Known: "):
        fitted(form=None, unary_operators=["inv(x) = 1/x"])


CHECKS = {
    "`niterations`": evolved,
    "`binary_operators`": operators,
    "`timeout_in_seconds`": limits,
    "`equations_`": equations,
    "`predict(X, index)`": rows,
    "`pytorch()`": functions,
    "code of another": code,
    "several columns": columns_of_y,
    "`expression_spec`": template,
    "a function inside": function_of_a_template,
    "`category`": category,
    "`X_units`": units,
    "`weights`": weights,
    "`from_file`": files,
    "`select_k_features`": refused("select_k_features", "denoise"),
    "`model_selection`": best,
    "operators of your own": own_operator,
    "`elementwise_loss`": refused("elementwise_loss", "loss_function"),
    "`constraints`": refused("constraints", "nested_constraints", "complexity_of_operators"),
    "`warm_start`": refused("warm_start"),
    "`procs`": refused("procs", "batching", "precision", "turbo"),
}
"""What begins a row of the page, and what holds it."""


def test_every_row_of_the_page_has_a_check():
    theirs = [row[0] for row in ROW.findall(PAGE.read_text()) if row[0] != "–"]
    assert len(theirs) == len(CHECKS)
    for row, start in zip(theirs, CHECKS, strict=True):
        assert row.startswith(start)


@pytest.mark.few(8)
@pytest.mark.parametrize("check", CHECKS.values(), ids=[each.strip("`") for each in CHECKS])
def test_a_row_of_the_page(check, searched):
    check(searched)
