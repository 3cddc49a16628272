"""Laws of textbooks are recognised by form and units, whatever the columns are called."""

import numpy as np
import pandas as pd
import pytest
import sympy

from orbits.expressions import parse_expression
from orbits.units import parse_unit
from symreg import recover
from symreg.fit.refine import refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol, with_floats
from symreg.formulas.units import constant_units, units_in_headers
from symreg.recovery.textbook_laws import LAWS, recognised_laws


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name}: {law.formula}")
def test_every_law_is_recognised_under_other_names(law):
    names = [f"column{i}" for i in range(len(law.variables))]
    renamed = {symbol(v): symbol(n) for v, n in zip(law.variables, names, strict=True)}
    formula = parse_expression(law.formula)
    constants = formula.free_symbols - set(renamed)
    numbers = {c: sympy.Float(0.7 + 0.2 * i) for i, c in enumerate(sorted(constants, key=str))}
    formula = with_floats(formula.xreplace(numbers)).xreplace(renamed)
    X = np.random.default_rng(0).uniform(1.0, 2.0, (60, len(names)))
    X[:, -1] += 2.0  # of two integers the second is the larger
    values = np.asarray(sympy.lambdify([symbol(n) for n in names], formula)(*X.T))
    found = refitted(formula, Samples(X, values, tuple(names), np.arange(60)), "test")
    units = {n: parse_unit(u) for n, u in zip(names, law.variables.values(), strict=True)}
    units["F"] = parse_unit(law.target)
    assert law.name in recognised_laws(found, names, "F", units)
    constant_units(found.form, units, units["F"])  # consistent
    assert not recognised_laws(found, names, "F", units | {"F": parse_unit("kg^3")})


def test_units_are_read_from_headers_if_every_column_has_one():
    units, said = units_in_headers(("Force [N]", "r (m)"))
    assert set(units) == {"Force [N]", "r (m)"}
    assert said == ""
    assert units_in_headers(("Force", "r")) == ({}, "")
    for names, wrong in ((("Force [N]", "r"), "r has"), (("Force [lots]", "r [m]"), "[lots] has")):
        units, said = units_in_headers(names)
        assert units == {}
        assert wrong in said


@pytest.mark.slow
def test_newton_is_recognised_by_a_real_header():
    rng = np.random.default_rng(0)
    m, M, r = rng.uniform(1, 9, (3, 120))
    table = pd.DataFrame({"mass one [kg]": m, "mass two [kg]": M, "distance [m]": r})
    table["Force [N]"] = 6.674e-11 * m * M / r**2 * (1 + 0.01 * rng.standard_normal(120))
    found = recover(
        table, target="Force [N]", features=list(table)[:3], null=False, engine="projection"
    )
    assert found.forms == ("Newton's law of gravitation",)
    assert "the form and the units of Newton's law of gravitation" in found.explanation
    plain = table.set_axis(["p", "q", "s", "W"], axis=1)
    plain["W"] = 6.674e-11 * m * M / r**2
    found = recover(plain, target="W", features="p,q,s", null=False, engine="projection")
    assert found.forms == ("Newton's law of gravitation", "Coulomb's law")
