"""What says nothing of a law changes neither it nor its status: order, names, units."""

import numpy as np
import pandas as pd
import pytest
import sympy

import symreg
from symreg.fit.refine import in_any_unit, is_same_law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.config import EXPONENT_MARGIN
from symreg.formulas.expressions import feature_symbols, with_floats

LAWS = {
    "a*b/(b + c)": {"a": (1, 5), "b": (1, 6), "c": (0.5, 4)},
    "u*v/(u + v)": {"u": (1, 9), "v": (2, 7)},
    "4.2*s/(1.7 + s)": {"s": (0.1, 9)},
    "A*exp(-t/2.3)": {"t": (0.2, 6), "A": (1, 9)},
    "2.5*m**1.5/r**2": {"m": (1, 8), "r": (0.5, 4)},
    "sqrt(1 + x**2)*y": {"x": (0.3, 3), "y": (1, 4)},
    "0.5*p*q**2 + 9.81*p": {"p": (1, 4), "q": (1, 8)},
    "exp(-x**2/(2*s**2))/s": {"x": (-3, 3), "s": (0.8, 3)},
}
"""With the ranges of their columns."""
FACTORS = (60.0, 1000.0, 2.54, 0.01, 0.3048)
"""Units of others: minutes, metres, inches, per cent, feet."""
VARIANTS = ("target", "column", "columns", "names", "idle")


def drawn(text, rng):
    """A table of 80 to 150 rows with 1 or 2 % of noise, relative to each target or to all."""
    rows, noise = rng.integers(80, 151), rng.choice([0.01, 0.02])
    columns = {name: rng.uniform(*ends, rows) for name, ends in LAWS[text].items()}
    y = sympy.lambdify(list(columns), sympy.sympify(text, locals=dict(zip(columns, map(
        sympy.Symbol, columns), strict=True))))(**columns)  # fmt: skip
    size = np.abs(y) if rng.random() < 0.5 else np.sqrt(np.mean(y**2))
    return pd.DataFrame(columns | {"target": y + noise * size * rng.standard_normal(rows)})


def varied(kind, table, rng):
    """The table in another form; the factors of its columns, and their names as they were."""
    *features, target = table
    scaled = {"target": target, "column": str(rng.choice(features))}.get(kind)
    if scaled:
        factor = float(rng.choice(FACTORS))
        return table.assign(**{scaled: factor * table[scaled]}), {scaled: factor}, {}
    names = dict(zip(features, ("zeta", "alpha", "mu"), strict=False))
    tables = {
        "columns": lambda: table[[*features[::-1], target]],
        "names": lambda: table.rename(columns=names),
        "idle": lambda: table.assign(idle=rng.uniform(1, 5, len(table))),
    }
    before = {new: old for old, new in names.items()} if kind == "names" else {}
    return tables[kind](), {}, before


def recovered(table):
    features = [name for name in table if name != "target"]
    return symreg.recover(table, target="target", features=features, null=False)


def same(found, other, table, factors, before):
    """Whether two results have one status and one form, numbers aside, in the first's columns."""
    features = [name for name in table if name != "target"]
    X, y = table[features].to_numpy(), table["target"].to_numpy()
    samples = Samples(X, y, tuple(features), np.arange(len(y)))
    symbols = dict(zip(features, feature_symbols(features, X), strict=True))
    forms = []
    for law, scales, names in ((found, {}, {}), (other, factors, before)):
        formula = law.sympy()
        own = {s: names.get(s.name, s.name) for s in formula.free_symbols}
        if not set(own.values()) <= set(features):
            return False
        formula = formula.xreplace({s: scales.get(n, 1) * symbols[n] for s, n in own.items()})
        formula = with_floats(formula / scales.get("target", 1))
        forms.append(in_any_unit(refitted(formula, samples, "test"), samples))
    one, two = forms
    alike = (is_same_law(*pair, samples, EXPONENT_MARGIN) for pair in ((one, two), (two, one)))
    return found.status == other.status and all(alike)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(LAWS)))
def test_a_table_in_another_form_has_the_same_law(number):
    """That rows and copies of them decide nothing is seen in the samples (`test_columns`)."""
    rng = np.random.default_rng([86, number])
    table = drawn([*LAWS][number], rng)
    first = recovered(table)
    for kind in rng.permutation(VARIANTS)[:3]:
        other, *back = varied(kind, table, rng)
        second = recovered(other)
        assert same(first, second, table, *back), (kind, first.expression, second.expression)
