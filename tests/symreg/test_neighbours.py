"""The formulas next to one: better ones are found, and those that a table allows are told."""

import numpy as np
import pandas as pd
import pytest
import sympy

from symreg import recover
from symreg.fit.refine import is_same_law, preferred, refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import symbol
from symreg.formulas.watch import Watch
from symreg.recovery import selection
from symreg.recovery.neighbours import as_good, corrected, edits, parting, widened

X, Y = symbol("x"), symbol("y")


def table_of(law, noise=0.0, rows=300, seed=0, low=0.5, high=4.0):
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(low, high, (2, rows))
    target = law(x, y) * (1 + noise * rng.standard_normal(rows))
    return Samples(np.column_stack([x, y]), target, ("x", "y"), np.arange(rows))


def fitted(text, samples):
    formula = sympy.sympify(text, locals={"x": X, "y": Y})
    return refitted(formula, samples, "test")


def test_edits_swap_functions_drop_terms_and_loosen_exponents():
    samples = table_of(lambda x, y: x + y)
    texts = {str(edit) for edit in edits(2.0 * sympy.sin(X) + X * Y**2, samples)}
    assert "x*y**2 + 2.0*tanh(x)" in texts
    assert "2.0*sin(x)" in texts
    assert "x*y**2" in texts
    assert "x + 2.0*sin(x)" in texts  # a factor less
    assert "x*y**2.01 + 2.0*sin(x)" in texts
    assert "x*y**2 + 2.0*sin(x*y)" in texts


@pytest.mark.parametrize(
    ("quadratic", "square"),
    [
        (2 * X**3 + 12 * X**2 + 19 * X, 2 * X * (X + 3) ** 2),
        (X + 6 + 10 / X, (X + 3) ** 2 / X),
        (X**2 - 5 * X * Y + 6 * Y**2, (X - 5 * Y / 2) ** 2),
        (X + 3 * sympy.sqrt(X) + 2, (sympy.sqrt(X) + sympy.Rational(3, 2)) ** 2),
    ],
)
def test_a_quadratic_is_tried_as_a_square(quadratic, square):
    samples = table_of(lambda x, y: x + y)
    made = list(edits(1 / quadratic, samples))
    assert any(sympy.simplify(edit * square) == 1 for edit in made)


@pytest.mark.parametrize(
    ("law", "start"),
    [
        (lambda x, y: 3 * x * np.exp(-y * x**1.5 / 4), "2.5*x*exp(-0.3*x*y)"),
        (lambda x, y: 2 * np.tanh(x * y / 3), "2.1*sin(0.3*x*y)"),
        (lambda x, y: x * (1.5 + 2 * y * x), "2.0*x*(1.5 + y)"),
        (lambda x, y: 2 * x / y**2, "2.0*x/y**2 + 0.01*x*y**0.3"),
    ],
)
def test_a_better_neighbour_takes_the_place_of_the_best(law, start):
    samples = table_of(law)
    pool = widened([fitted(start, samples)], samples, 0.0)
    best = preferred(pool, samples.n_effective, 0.0)
    assert best.mean_square < 1e-16


def test_what_is_left_untried_at_the_limit_ends_found(monkeypatch):
    """The formulas beside a law are tried for a while; without them no law is the only one."""
    x = np.random.default_rng(0).uniform(1, 3, 80)
    table = pd.DataFrame({"x": x, "y": 2 * x**2})

    def conditions():
        law = recover(table, target="y", features="x", null=False, seeds=1, progress=False)
        return law.found, {gate.name: gate.passed for gate in law.found_gates}

    found, gates = conditions()
    assert found
    assert "neighbours" not in gates
    monkeypatch.setattr(selection, "Watch", lambda seconds: Watch(0.0))
    found, gates = conditions()
    assert not found
    assert gates["neighbours"] is False


def test_a_small_correction_may_depend_on_other_products():
    samples = table_of(lambda x, y: (x + y) / (1 + 0.01 * x * y), noise=0.001)
    law = fitted("(x + y)*exp(-0.01*x*y)", samples)
    made = [refitted(each, samples, "test") for each in corrected(law.expression, samples)]
    best = min(made, key=lambda each: each.mean_square)
    assert best.mean_square < 0.9 * law.mean_square
    assert best.mean_square == pytest.approx(1e-6, rel=0.2)  # the noise alone


@pytest.mark.slow
def test_a_correction_below_the_noise_leaves_several_laws():
    # velocities added: 1/(1 + u v/c^2) is exp(-u v/c^2) to second order
    rng = np.random.default_rng(1)
    u, v = 10 ** rng.uniform(6, 8, (2, 400))
    w = (u + v) / (1 + u * v / 299792458.0**2) * (1 + 0.01 * rng.standard_normal(400))
    law = recover(pd.DataFrame({"u": u, "v": v, "w": w}), target="w", features="u,v", null=False)
    assert not law.found
    assert any(rival.as_good for rival in law.rivals)


def test_two_terms_may_begin_a_series():
    samples = table_of(lambda x, y: x / (y - 0.1) - 2 / y**2)
    series = 0.98 * (X * Y + 0.3 * X - 2) / Y**2
    assert any(
        (each - X / (Y - 0.3) * 0.98 + 1.96 / Y**2).equals(0) for each in edits(series, samples)
    )


def test_corrections_of_many_columns_are_counted_in_pairs():
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (50, 12))
    names = tuple(f"x{k}" for k in range(12))
    samples = Samples(X, X[:, 0] * (1 + 0.01 * X[:, 5] * X[:, 7]), names, np.arange(50))
    expression = 1.0 * symbol("x0") * sympy.exp(0.001 * symbol("x1"))
    assert sum(1 for _ in corrected(expression, samples)) <= 18  # three forms, three products, both


@pytest.mark.filterwarnings("error")
def test_no_correction_is_sought_of_a_form_that_is_off_by_all_orders_of_magnitude():
    x = np.repeat([1.0, 1e100], [7, 5])
    samples = Samples(x[:, None], x.copy(), ("x",), np.arange(12))
    assert [*corrected(X + 1 / X, samples)]  # off by 1e200 from 1/x


def test_what_holds_the_law_as_a_special_case_is_not_as_good():
    samples = table_of(lambda x, y: 3 * x / y, noise=0.01)
    law = fitted("3.0*x/y", samples)
    longer = fitted("3.0*x/y + 0.001*y", samples)
    same = fitted("3.0*x*(1/y)", samples)
    assert as_good(law, [law, longer, same], samples) == {}


def test_forms_through_the_same_few_points_are_rivals():
    x = np.repeat([1.0, 2.0], 10)
    samples = Samples(x[:, None], 3 * x + 1, ("x",), np.arange(20))
    law, power = fitted("3.0*x + 1.1", samples), fitted("3.1*x**1.1", samples)
    assert not is_same_law(law, power, samples)
    assert not is_same_law(power, law, samples)
    assert list(as_good(law, [power], samples)) == [power]


def test_formulas_part_beyond_the_table_and_that_is_told():
    samples = table_of(lambda x, y: np.sin(0.3 * x), noise=0.02, low=0.1, high=2.0)
    law, other = fitted("sin(0.3*x)", samples), fitted("tanh(0.3*x)", samples)
    place = parting(law, other, samples)
    assert place is not None
    assert not place.inside
    assert place.at["x"] > 2.0
    assert place.difference > 0.1


def test_formulas_part_where_half_of_the_targets_are_zero():
    x = np.linspace(0.1, 2.0, 60)
    y = np.where(x > 1.5, x, 0.0)
    samples = Samples(x[:, None], y, ("x",), np.arange(60), errors=np.full(60, 0.01))
    place = parting(fitted("x**3", samples), fitted("x**4", samples), samples)
    assert place is not None


@pytest.mark.slow
def test_a_table_that_cannot_tell_two_laws_finds_none():
    rng = np.random.default_rng(1)
    x, a = rng.uniform(0.1, 1.0, 200), rng.uniform(1, 3, 200)
    noisy = 1 + 0.03 * rng.standard_normal(200)
    short = recover(
        pd.DataFrame({"F": 2 * a * np.sin(0.83 * x) * noisy, "x": x, "a": a}), target="F",
        features="x,a", null=False,
    )  # fmt: skip
    assert not short.found
    others = [rival for rival in short.rivals if rival.as_good]
    assert others
    assert others[0].measure_at["x"] > 1.0
    assert "The table fits these equally well" in short.explanation
    assert "measure at" in short.explanation
    # over a wider range the same law is the only one
    x, noisy = rng.uniform(0.1, 3.0, 200), 1 + 0.002 * rng.standard_normal(200)
    wide = recover(
        pd.DataFrame({"F": 2 * a * np.sin(0.83 * x) * noisy, "x": x, "a": a}), target="F",
        features="x,a", null=False,
    )  # fmt: skip
    assert wide.found
    assert "sin(" in wide.expression


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("target", "formula"),
    [
        (lambda a, b: np.log(7 * a * a / b), "log(7.0*a**2/b)"),
        (lambda a, b: np.log10(7 * a * a / b), "0.434294*log(7.0*a**2/b)"),
        (lambda a, b: np.arccos(0.2 * a * np.cos(b)), "acos(0.2*a*cos(b))"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (lambda a, b: 0.4 + 0.3 * 2**b, "0.3*exp(0.693147*b) + 0.4"),
                (lambda a, b: a * (np.sin(b) + np.cos(b)) ** 2, "1.0*a*(sin(b) + cos(b))**2"),
                (lambda a, b: a * np.exp(-b * a**1.5 * 20), "1.0*a*exp(-20.0*a**(3/2)*b)"),
            )
        ),
    ],
)
def test_targets_that_were_missed(target, formula):
    rng = np.random.default_rng(2)
    a, b = rng.uniform(1, 4, 150), rng.uniform(0.2, 3, 150)
    found = recover(
        pd.DataFrame({"F": target(a, b), "a": a, "b": b}), target="F", features="a,b", null=False
    )
    assert found.found
    wanted = sympy.sympify(formula, locals={"a": symbol("a"), "b": symbol("b")})
    values = [
        sympy.lambdify([symbol("a"), symbol("b")], each.subs({}), "numpy")(a, b)
        for each in (wanted, sympy.sympify(found.expression, locals={n: symbol(n) for n in "ab"}))
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-4, atol=1e-6)
