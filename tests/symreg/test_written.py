"""A formula as a person would write it: the same function, never longer."""

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import symreg
from orbits.estimates import Estimate
from symreg.fit.samples import Samples
from symreg.formulas.expressions import evaluate, merged, skeleton, symbol, written
from symreg.formulas.numbers import exact, is_simple, price, simple_near
from symreg.formulas.written import recast, simple_numbers, simple_together, simplest

X, Y = symbol("x"), symbol("y")
RNG = np.random.default_rng(0)
ROWS = Samples(RNG.uniform(0.5, 3, (60, 2)), np.ones(60), ("x", "y"), np.arange(60))


def told(formula):
    return written(simplest(formula, ROWS))


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (
            4 / (Y**2 * (X**2 / (2 * Y**2) + 0.5 + sympy.sin(X) ** 2 / Y**2
                         + sympy.cos(X) ** 2 / Y**2)),
            "8/(x**2 + y**2 + 2)",
        ),
        (sympy.exp(1.0 * Y * sympy.log(1.0 * X), evaluate=False), "x**y"),
        (1.0 * X * (X**6 - 1) / (X - 1), "x**6 + x**5 + x**4 + x**3 + x**2 + x"),
        (39.478 * (1 + 1 / X) * sympy.exp(-X) / X, "39.478*(x + 1)*exp(-x)/x**2"),
        (X**0.3333333333333333, "x**(1/3)"),
        (1.0 * X + 2.0 * X * Y, "2*x*y + x"),
        (0.5 * X**2.0, "x**2/2"),
        (Y * sympy.sqrt(-1 / (X**2 - 11.37)), "y/sqrt(11.37 - x**2)"),
        (-0.77 * sympy.cos(0.52 * X - 1.5707963267949), "-0.77*sin(0.52*x)"),
        (
            0.398942280401433 * sympy.exp(-0.5 * X**2),
            "sqrt(2)*exp(-x**2/2)/(2*sqrt(pi))",
        ),
        (0.0795774715459477 * Y * sympy.sin(6.28318530717959 * X), "y*sin(2*pi*x)/(4*pi)"),
        (
            2**0.5 * sympy.sqrt((X**2 / 2 - 3.37 * X * Y + 5.67845 * Y**2) / (7.73 - X)),
            "Abs(x - 3.37*y)/sqrt(7.73 - x)",
        ),
        (84476.1875 / (X**3 + 43 * X**2 + 462.25 * X), "84476.2/(x*(x + 21.5)**2)"),
        ((8.314 * Y * X**2 - 3.64 * X + 0.155428) / (X**3 - 0.0427 * X**2),
         "8.314*y/(x - 0.0427) - 3.64/x**2"),
        (2.7 * Y * X**2 - 7.02 * Y * X + 4.563 * Y + 1.62 * X**2 - 4.212 * X + 2.7378,
         "2.7*(x - 1.3)**2*(y + 0.6)"),
        (39886.8 * X / (100.698 * X**2 + 1) ** 1.5, "39.4728*x/(x**2 + 0.00993068)**(3/2)"),
        (40.78 / (X + 0.0256) ** 2, "40.78/(x + 0.0256)**2"),
        (-3.1 * sympy.exp(-1.2 * X) + 17.4 * X**0.4, "17.4*x**0.4 - 3.1*exp(-1.2*x)"),
    ],
)  # fmt: skip
def test_formulas_are_written_as_one_would(formula, text):
    assert told(formula) == text


def test_a_column_called_pi_is_not_mistaken_for_the_number():
    rows = Samples(ROWS.X, ROWS.y, ("x", "pi"), ROWS.groups)
    formula = 6.28318530717959 * X + symbol("pi")
    assert "6.28" in written(simplest(formula, rows))


def numbers_of(formula):
    numbers = {f"{abs(float(number)):.12g}" for number in formula.atoms(sympy.Float)}
    return sum(not is_simple(float(number)) for number in numbers)


def test_a_law_has_as_many_numbers_as_were_fitted():
    # Yukawa's: sympy makes three numbers of two
    for gm, length in ((39.49324518431957, 0.9995035896163429), (39.478, 1.7)):
        force = gm * (sympy.exp(-X / length) / X**2 + sympy.exp(-X / length) / (length * X))
        assert numbers_of(force) == 3
        assert numbers_of(simplest(force, ROWS)) == 2


def is_quotient(formula):
    """Whether a sum stands below."""
    return any(power.base.is_Add and power.exp < 0 for power in formula.atoms(sympy.Pow))


def length(formula):
    return len(written(formula).replace("**", "^"))


NUMBERS = st.sampled_from([0.5, 1.0, 2.0, 1.7, -3.0, -0.25, 12.34567])
ATOMS = st.sampled_from([X, Y]) | NUMBERS.map(sympy.Float)


def joined(parts):
    two = st.tuples(parts, parts)
    return (
        two.map(lambda p: p[0] + p[1])
        | two.map(lambda p: p[0] * p[1])
        | parts.map(lambda p: p**2)
        | parts.map(lambda p: 1 / (1 + p**2))
        | parts.map(sympy.sin)
        | parts.map(lambda p: sympy.sin(p) ** 2 + sympy.cos(p) ** 2)
    )


@settings(max_examples=60, deadline=None)
@given(st.recursive(ATOMS, joined, max_leaves=6))
def test_what_is_written_is_what_was_fitted_and_never_longer(formula):
    formula = sympy.sympify(formula)
    shorter = simplest(formula, ROWS)
    fewer = numbers_of(shorter) < numbers_of(formula)
    without_hole = is_quotient(formula) and not is_quotient(shorter)
    assert fewer or without_hole or length(shorter) <= length(formula)
    values = evaluate(formula, ROWS.names, ROWS.X)
    size = np.maximum(np.abs(values), np.sqrt(np.mean(values**2)))
    apart = np.abs(evaluate(shorter, ROWS.names, ROWS.X) - values)
    assert np.all((apart <= 1e-12 * size) | ~np.isfinite(values))


@pytest.mark.parametrize(
    ("formula", "form", "constants"),
    [
        (84476.1875 / (X**3 + 43 * X**2 + 462.25 * X), "_c0/(x*(_c1 + x)**2)", (84476.1875, 21.5)),
        ((8.314 * Y * X**2 - 3.64 * X + 0.155428) / (X**3 - 0.0427 * X**2),
         "_c0/x**2 + _c1*y/(_c2 + x)", (-3.64, 8.314, -0.0427)),
        (17.4 * X**0.4 - 3.1 * sympy.exp(-1.2 * X),
         "_c0*x**_c1 + _c2*exp(_c3*x)", (17.4, 0.4, -3.1, -1.2)),
        (6.28318530717959 * X + Y, "_c0*x + y", (6.28318530717959,)),
        (1.0 * X + Y, "_c0*x + y", (1.0,)),
        (sympy.cos(2.37 * X) + sympy.exp(-2.37 * X), "cos(_c0*x) + exp(-_c0*x)", (2.37,)),
    ],
)  # fmt: skip
def test_the_constants_of_a_law_are_the_numbers_that_one_reads(formula, form, constants):
    made, numbers = recast(*skeleton(merged(formula)), ROWS)
    assert str(made) == form
    assert numbers == pytest.approx(constants, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.recursive(ATOMS, joined, max_leaves=6))
def test_a_law_is_the_same_function_when_its_constants_are_those_one_reads(formula):
    form, constants = skeleton(merged(sympy.sympify(formula)))
    made, numbers = recast(form, constants, ROWS)
    assert len(numbers) <= len(constants)
    before = evaluate(form, ROWS.names, ROWS.X, constants)
    size = np.maximum(np.abs(before), np.sqrt(np.mean(before**2)))
    apart = np.abs(evaluate(made, ROWS.names, ROWS.X, numbers) - before)
    assert np.all((apart <= 1e-11 * size) | ~np.isfinite(before))


def test_numbers_are_simple_where_a_narrow_interval_says_so():
    def of(value, half):
        numbers = [Estimate.of(value, half / 1.96)]
        return simple_numbers(
            sympy.Float(value) * X, numbers, simple_together(numbers, [[(half / 1.96) ** 2]])
        )

    assert of(1.99554, 0.01) == 2 * X
    assert of(0.2499, 0.0005) == X / 4
    assert of(0.998, 0.16) == X  # and not 1.0·x
    assert str(of(1.5004, 0.9)) == "1.5*x"  # anything would be simple in so wide a one
    assert str(of(475.3, 3.0)) == "475.3*x"
    assert str(of(1.99554, 0.001)) == "1.99554*x"  # two is outside


def fitted_lines(seed, spread):
    """Slope and offset of noisy lines, with covariance, and the offset where the slope is known."""
    random = np.random.default_rng(seed)
    x = 10 + spread * random.normal(size=200)
    y = 2 * x + 3.42 + 0.02 * random.normal(size=200)
    design = np.column_stack([x, np.ones(200)])
    numbers, (left,) = np.linalg.lstsq(design, y)[:2]
    covariance = left / 198 * np.linalg.inv(design.T @ design)
    errors = np.sqrt(np.diag(covariance))
    return list(map(Estimate.of, numbers, errors)), covariance, np.mean(y - 2 * x)


@given(st.integers(0, 10_000))
def test_what_stands_beside_a_simple_number_is_as_if_fitted_again(seed):
    numbers, covariance, offset = fitted_lines(seed, 1.0)
    slope, other = simple_together(numbers, covariance)
    if 2 in numbers[0]:
        assert slope == 2
        assert float(other) == pytest.approx(offset, rel=1e-6)
    elif not other.is_Rational:  # the offset's interval holds no simple number either
        assert (float(slope), float(other)) == (numbers[0].value, numbers[1].value)


def test_numbers_are_simple_only_together():
    # each is within its own interval, and with errors so alike both are not
    numbers = [Estimate.of(2.004, 0.003), Estimate.of(2.996, 0.003)]
    alike, opposed = (9e-6 * np.array([[1, c], [c, 1]]) for c in (0.99, -0.99))
    assert simple_together(numbers, alike) == [sympy.Float(2.004), sympy.Float(2.996)]
    assert simple_together(numbers, opposed) == [2, 3]
    assert simple_together(numbers, ()) == [sympy.Float(2.004), sympy.Float(2.996)]


def test_what_is_written_is_what_is_predicted():
    # both numbers are simple within their intervals, whose errors are opposed, and together not
    x = np.linspace(10, 11, 200)
    design = np.column_stack([np.ones(200), x])
    noise = np.random.default_rng(0).normal(size=200)
    noise -= design @ np.linalg.lstsq(design, noise)[0]
    covariance = noise @ noise / 198 * np.linalg.inv(design.T @ design)
    scale = 0.004 / np.sqrt(covariance[0, 0])
    numbers = np.array([2.0, 3.0]) + scale * np.sqrt(np.diag(covariance))
    table = pd.DataFrame({"x": x, "y": design @ numbers + scale * noise})
    law = symreg.recover(table, target="y", features="x", form="a + b*x", null=False)
    assert [near in law.coefficients[name] for name, near in (("a", 2), ("b", 3))] == [True, True]
    said = float(law.sympy(law.written).subs(X, 10))
    assert said == pytest.approx(law.predict({"x": [10.0]})[0], abs=2e-4)
    assert said > 32.005  # 2 + 3·10 = 32


def test_a_simple_number_is_a_small_fraction_and_no_large_float():
    assert [exact(value) for value in (3.0, 3.5, -0.25, 1.3)] == [
        3, sympy.Rational(7, 2), -sympy.Rational(1, 4), sympy.Rational(13, 10),
    ]  # fmt: skip
    # every float above 2^53 is a whole number
    assert exact(1.1096735e17).is_Float
    assert exact(0.12345678).is_Float
    assert not is_simple(float("nan"))
    assert price(0.12345678) == np.inf
    assert price(2.0) < price(3.0) < price(3.5) < price(13 / 12)
    assert simple_near(0.9999) == [1.0]
    assert 0.5 in simple_near(0.502)
