"""Units: those that are known, those of constants, and formulas that they refute."""

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from orbits.units import parse_unit
from symreg.fit.refine import Law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol, evaluate
from symreg.formulas.units import constant_units
from symreg.recovery.selection import _consistent

ONE, C0, C1, C2 = parse_unit("1"), *(constant_symbol(i) for i in range(3))
NAMES = sympy.symbols("x t m n T V u", positive=True)
x, t, m, n, T, V, u = NAMES
BY_NAME = {
    "x": parse_unit("m"), "t": parse_unit("s"), "m": parse_unit("kg"), "n": parse_unit("mol"),
    "T": parse_unit("K"), "V": parse_unit("m^3"), "u": ONE,
}  # fmt: skip


def units_of(form, target):
    """Texts of the constants' units."""
    found = constant_units(form, BY_NAME, parse_unit(target))
    return {name: unit.text for name, unit in found.items()}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("V*A", "W"), ("A*s", "C"), ("J/C", "V"), ("1/s", "Hz"), ("V/A", "ohm"), ("C/V", "F"),
        ("N/m^2", "Pa"), ("V*s", "Wb"), ("Wb/m^2", "T"), ("Wb/A", "H"), ("N*m", "J"),
        ("J/s", "W"), ("kg*m/s^2", "N"), ("1000*m^0/m^0", None),
    ],
)  # fmt: skip
def test_derived_units_are_products_of_others(text, same):
    if same is None:
        with pytest.raises(ValueError, match="cannot be read"):
            parse_unit(text)
        return
    assert parse_unit(text).powers == parse_unit(same).powers
    assert parse_unit(text).size == pytest.approx(parse_unit(same).size, rel=1e-15)


@pytest.mark.parametrize(
    ("form", "target", "expected"),
    [
        # the gas constant, J/(mol K)
        (C0 * n * T / V, "Pa", {"_c0": "m^2 kg s^-2 K^-1 mol^-1"}),
        (C0 * t**2 + C1 * t + C2, "m", {"_c0": "m s^-2", "_c1": "m s^-1", "_c2": "m"}),
        (C0 * sympy.exp(C1 * t), "V", {"_c0": "m^2 kg s^-3 A^-1", "_c1": "s^-1"}),
        (C0 * sympy.sqrt(x + C1), "m/s", {"_c0": "m^(1/2) s^-1", "_c1": "m"}),
        (C0 / (x**2 + C1), "N", {"_c0": "m^3 kg s^-2", "_c1": "m^2"}),
        (C0 * m * sympy.Abs(x), "N", {"_c0": "s^-2"}),
        (C0 * sympy.sin(C1 * x + C2), "m", {"_c0": "m", "_c1": "m^-1", "_c2": "dimensionless"}),
    ],
)
def test_constants_get_the_units_that_the_formula_needs(form, target, expected):
    assert units_of(form, target) == expected


@pytest.mark.parametrize(
    ("form", "target"),
    [
        (x + t, "m"),
        (sympy.exp(x), "1"),
        (C0 * sympy.log(x) * t, "m"),
        (x * t, "m"),
        (C0 * (x + t * u), "m"),
        (sympy.sin(x / t), "1"),
        (u**x, "1"),
        (C0 * t ** (x / C1), "1"),
    ],
)
def test_a_formula_that_no_constants_mend_is_refused(form, target):
    with pytest.raises(ValueError, match=r"adds|takes a function|has the dimension"):
        units_of(form, target)


def test_a_fitted_exponent_leaves_the_unit_in_front_open():
    # m s^-c1: there is no such unit, and metres would be wrong
    assert "_c0" not in units_of(C0 * t**C1, "m")
    # of a pure number any power is one
    assert units_of(C0 * u**C1, "m")["_c0"] == "m"
    assert units_of(C0 * u ** (C1 * t), "m") == {"_c0": "m", "_c1": "s^-1"}


def test_a_unit_beyond_numbers_has_no_size_and_is_no_error():
    """Formulas of high powers have such; a unit that a user names is refused."""
    tiny = parse_unit("m**12/Mpc**12") ** Fraction(2)
    assert tiny.size == 0
    assert (tiny ** Fraction(-1)).size == math.inf
    assert (parse_unit("Mpc**12") ** Fraction(12)).size == math.inf
    with pytest.raises(ValueError, match="too large or too small"):
        parse_unit("Mpc**12*Mpc**12")


@pytest.mark.parametrize(
    ("law", "target", "unit"),
    [
        (C0 * m / (x + 1), "kg", "m"), (C0 * m / (1 - x), "kg", "m"),
        (C0 * m * (x + 2), "kg*m", "m"),
        (C0 * m * sympy.exp(-x), "kg", "m^-1"), (C0 * m * sympy.sqrt(x**2 + 1), "kg*m", "m^2"),
        (C0 * sympy.sin(x) + 1, "m", "m^-1"), (C0 * m * sympy.log(t + 1), "kg", "s^-1"),
        (C0 * m / (1 + x / t), "kg", "m s^-1"),
    ],
)  # fmt: skip
def test_a_bare_number_beside_a_column_gets_its_unit(law, target, unit):
    rng = np.random.default_rng(0)
    columns = ("x", "t", "m")
    X = rng.uniform(0.2, 0.8, (40, 3))
    y = evaluate(law, columns, X, [2.5])
    samples = Samples(X, y, columns, np.arange(40), target="y")
    units = {name: BY_NAME[name] for name in columns} | {"y": parse_unit(target)}
    fitted = refitted(law.xreplace({C0: sympy.Float(2.5)}), samples, "")
    (found,) = _consistent([fitted], samples, units)
    np.testing.assert_allclose(found.values(samples), y, rtol=1e-9)
    assert unit in {each.text for each in constant_units(found.form, units, units["y"]).values()}


def test_what_no_number_mends_has_no_units():
    samples = Samples(np.ones((10, 2)), np.ones(10), ("x", "m"), np.arange(10), target="y")
    law = Law(C0 * sympy.sqrt(x + m), (1.0,), 0.0, 0.0, 5, "")
    units = {"x": BY_NAME["x"], "m": BY_NAME["m"], "y": parse_unit("kg")}
    assert not _consistent([law], samples, units)
