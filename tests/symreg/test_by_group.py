"""One form for all rows with constants for every group: which are shared, and their intervals."""

import re

import numpy as np
import pandas as pd
import pytest
import sympy
from scipy import optimize

from symreg.fit.grouped import GroupedLaw, refit_grouped
from symreg.fit.refine import Law, refitted
from symreg.fit.samples import Samples
from symreg.formulas.expressions import constant_symbol, symbol
from symreg.recovery.by_group import _with_more_numbers
from symreg.recovery.recover import recover
from symreg.recovery.result import Recovery

SIZES = {"iron": 2.0, "lead": 3.0, "zinc": 4.5}
RATE = 0.7
c = [constant_symbol(i) for i in range(2)]
DRAWS = 30


def decays(seed=0, rows=120, noise=0.05, rates=None):
    """y = a exp(-b x): a differs by the metal, b does if rates are given."""
    rng = np.random.default_rng([seed, 13])
    metal = rng.permutation(np.resize(list(SIZES), rows))
    x = rng.uniform(0.2, 4, rows)
    rate = np.array([(rates or {}).get(each, RATE) for each in metal])
    size = np.array([SIZES[each] for each in metal])
    y = size * np.exp(-rate * x) * (1 + noise * rng.standard_normal(rows))
    return pd.DataFrame({"x": x, "metal": metal, "y": y})


def searched(table, **options):
    settings = {"target": "y", "features": "x", "per_group": "metal", "null": False} | options
    return recover(table, **settings)


@pytest.fixture(scope="module")
def found():
    return searched(decays(rows=360), engine="projection")


def test_the_form_is_found_and_only_what_must_differ_does(found):
    assert found.found
    size, rate = re.fullmatch(r"(c1)\*exp\((c2)\*x\)", found.per_group.form).groups()
    assert found.per_group.values == ("iron", "lead", "zinc")
    own = tuple(f"{size}_{number}" for number in (1, 2, 3))
    assert found.per_group.constants == {size: own, rate: (rate,)}
    table = found.by_group()
    for metal, true in SIZES.items():
        assert table[f"{size}_low"][metal] < true < table[f"{size}_high"][metal]
    assert table[f"{rate}_low"]["iron"] < -RATE < table[f"{rate}_high"]["iron"]
    assert ", the same in all groups." in found.explanation
    assert f"{size} by metal: iron: " in found.explanation


def test_predictions_go_by_the_group_and_survive_json(found, tmp_path):
    found.write(tmp_path / "law.json")
    again = Recovery.read(tmp_path / "law.json")
    rows = pd.DataFrame({"x": [1.0, 1.0, 2.0], "metal": ["iron", "zinc", "lead"]})
    truth = [SIZES[m] * np.exp(-RATE * x) for x, m in zip(rows.x, rows.metal, strict=True)]
    told = again.predict_interval(rows)
    assert np.allclose(told.value, found.predict(rows), rtol=1e-12)
    assert np.allclose(told.value, truth, rtol=0.02)  # 5 % of noise in 120 rows each
    assert np.all((told.low < truth) & (truth < told.high))
    with pytest.raises(ValueError, match="metal = gold is no group of the table: iron, lead, zinc"):
        again.predict({"x": [1.0], "metal": ["gold"]})
    with pytest.raises(ValueError, match="metal is needed too"):
        again.predict({"x": [1.0]})


@pytest.mark.parametrize("shared", [frozenset(), frozenset({1}), frozenset({0, 1})])
def test_groups_of_any_size_are_fitted_as_one_dense_problem(shared):
    """An arrowhead's step costs what its rows do; where it ends is the least sum of squares."""
    table = decays(rows=60).iloc[:50]  # groups of different sizes
    group = np.argmax(indicators := (table.metal.to_numpy()[:, None] == [*SIZES]), axis=1)
    X = np.column_stack([table.x, indicators])
    y = table.y.to_numpy()
    samples = Samples(X, y, ("x", "g1", "g2", "g3"), np.arange(50), errors=0.1 * y, indicators=3)
    base = Law(c[0] * sympy.exp(c[1] * symbol("x")), (1.0, -0.3), 0.0, 0.0, 5, "test")
    law = GroupedLaw(base, np.tile(base.constants, (3, 1)), shared)
    fitted = refit_grouped(law, samples)

    def residuals(numbers):
        size, rate = numbers[law.places[group]].T
        return (size * np.exp(rate * table.x) - y) / (0.1 * y)

    start = np.ones(law.places.max() + 1)
    dense = optimize.least_squares(residuals, start, xtol=1e-12, ftol=1e-14, gtol=1e-12).x
    # of a sum of squares that is right to 1e-10 numbers are right to its root of an error
    np.testing.assert_allclose(fitted.values, dense[law.places], rtol=1e-5)


@pytest.mark.slow
def test_intervals_by_group_hold_the_truth_and_sharing_is_seldom_wrong():
    """95 % intervals in 90 to 99 % of the draws; the criterion errs in few."""
    held, shared, apart = [], 0, 0
    for draw in range(DRAWS):
        found = searched(decays(draw), form="a*exp(-b*x)", seed=draw)
        shared += found.per_group.constants["b"] == ("b",)
        apart += len(found.per_group.constants["a"]) == len(SIZES)
        table = found.by_group()
        held += [table.a_low[m] < size < table.a_high[m] for m, size in SIZES.items()]
        held.append(table.b_low["iron"] < RATE < table.b_high["iron"])
    assert 0.90 <= np.mean(held) <= 0.99
    # two numbers more must gain 2 log(120) = 9.6, and do by chance in exp(-4.8) = 0.8 % of draws
    assert shared >= DRAWS - 2
    assert apart == DRAWS  # the sizes are thirty standard errors apart


def test_rates_that_differ_are_told_apart():
    rates = {"iron": 0.7, "lead": 0.9, "zinc": 1.1}
    found = searched(decays(rates=rates), form="a*exp(-b*x)")
    table = found.by_group()
    assert found.per_group.constants["b"] == ("b_1", "b_2", "b_3")
    for metal, rate in rates.items():
        assert table.b_low[metal] < rate < table.b_high[metal]


def test_groups_that_do_not_differ_share_everything():
    table = decays().assign(y=lambda t: t.y / t.metal.map(SIZES))
    found = searched(table, form="a*exp(-b*x)")
    assert found.per_group.constants == {"a": ("a",), "b": ("b",)}


@pytest.mark.parametrize(
    ("change", "options", "says"),
    [
        (lambda t: t.assign(metal="iron"), "", "the column has 1 value(s)"),
        (lambda t: t.assign(metal=np.arange(len(t))), "", "0 of 60 groups have 5 rows"),
        (lambda t: t.assign(metal=["tin"] * 3 + ["lead"] * (len(t) - 3)), "", "1 of 2 groups have"),
        (lambda t: pd.concat([t] * 10).assign(metal=np.arange(600)), "", "2 to 500 groups"),
        (lambda t: t.assign(metal=t.metal.where(t.index > 1)), "", "2 row(s) have no value there"),
        (lambda t: t, "--law newton", "--law cannot be given with --per-group"),
        (lambda t: t.assign(metal=t.metal.map(SIZES)), "--features x,metal", "a feature too"),
    ],
)
def test_groups_that_will_not_do_are_said(change, options, says, tmp_path, refused):
    path = tmp_path / "d.csv"
    change(decays(rows=60)).to_csv(path, index=False)
    command = f"recover {path} {tmp_path}/law.json --target y --features x --per-group metal"
    words = command.replace("--features x ", "") if "--features" in options else command
    assert says in refused("symreg", *words.split(), *options.split())


def test_errors_of_a_feature_and_groups_go_together():
    table = decays(rows=240)
    blurred = table.assign(x=table.x + 0.1 * np.random.default_rng(1).standard_normal(len(table)))
    found = searched(blurred, form="a*exp(-b*x)", sigma_of={"x": 0.1}).by_group()
    for metal, size in SIZES.items():
        assert found.a_low[metal] < size < found.a_high[metal]
    assert found.b_low["iron"] < RATE < found.b_high["iron"]


def test_a_new_group_is_fitted_alone_with_what_the_others_share():
    law = searched(decays(rows=240), form="a*exp(-b*x)")
    assert law.per_group.constants["b"] == ("b",)
    x = np.linspace(0.5, 3, 30)
    gold = pd.DataFrame({"x": x, "y": 7 * np.exp(-RATE * x)})
    gold["y"] *= 1 + 0.05 * np.random.default_rng(1).standard_normal(30)
    form = law.form_of_new_group()
    own = recover(gold, target="y", features="x", form=form, null=False)
    assert set(own.coefficients) == {"a"}
    # 5 % of noise in 30 rows, and the shared rate's own error
    assert own.coefficients["a"].value == pytest.approx(7, rel=0.05)
    alone = recover(decays(), target="y", features="x", form="a*exp(-b*x)", null=False)
    with pytest.raises(ValueError, match="no groups were told apart"):
        alone.form_of_new_group()


def galaxies(number, rows=12, noise=0.05):
    """Many groups of a dozen noisy rows, each with its own size, and five of a single row."""
    rng = np.random.default_rng([number, 14])
    name = np.concatenate([np.repeat(np.arange(number), rows), number + np.arange(5)])
    size, x = rng.uniform(1, 5, number + 5), rng.uniform(0.5, 3, len(name))
    y = size[name] * np.exp(-RATE * x) * (1 + noise * rng.standard_normal(len(name)))
    return pd.DataFrame({"galaxy": name, "x": x, "y": y}), size


def test_many_groups_some_of_one_row_are_fitted_in_closed_loops(tmp_path):
    table, size = galaxies(60)
    options = {"per_group": "galaxy", "form": "a*exp(-b*x)"}
    found = searched(table, **options)
    assert found.per_group.constants["b"] == ("b",)
    own = found.by_group()
    # 65 intervals of 95 %: 61.8 are expected to hold, with a standard deviation of 1.8
    inside = (own.a_low < size) & (size < own.a_high)
    assert inside.sum() >= 57
    relative = (own.a_high - own.a_low) / (2 * 1.96 * own.a)
    # 5 % over the root of twelve rows or of one, and the shared rate's own error
    assert np.median(relative[:60]) == pytest.approx(0.05 / np.sqrt(12), rel=0.3)
    assert np.median(relative[60:]) == pytest.approx(0.05, rel=0.3)
    assert found.summary["a"].startswith(f"{own.a.min():.4g} to {own.a.max():.4g}, median")
    found.write(tmp_path / "law.json")
    again = Recovery.read(tmp_path / "law.json").predict_interval(table)
    truth = size[table.galaxy] * np.exp(-RATE * table.x)
    assert np.mean((again.low < truth) & (truth < again.high)) > 0.9
    found.plot()
    # noise alone has no constants
    nothing = table.assign(y=np.random.default_rng(0).permutation(table.y))
    assert searched(nothing, **options).r2 < 0.5


def test_a_group_with_fewer_rows_than_constants_of_its_own_has_no_interval():
    table, _ = galaxies(30)
    rate = np.linspace(0.4, 1.2, 35)[table.galaxy]
    table["y"] *= np.exp((RATE - rate) * table.x)
    found = searched(table, per_group="galaxy", form="a*exp(-b*x)")
    assert len(found.per_group.constants["b"]) == 35
    own = found.by_group()
    assert own.b_low[:30].notna().all()
    assert own.b_low[30:].isna().all()
    assert "10 constants of groups with fewer rows than constants" in " ".join(found.notes)
    # its one row is met all the same
    assert np.allclose(found.predict(table[-5:]), table.y[-5:], rtol=1e-3)


def test_a_form_whose_numbers_are_all_exact_or_of_a_group_is_written_as_it_is():
    table = decays().assign(y=lambda t: t.metal.map(SIZES) * t.x**1.5)
    assert searched(table, form="a*x**(3/2)").written == "a*x**(3/2)"


def test_a_form_that_fails_in_the_groups_that_had_no_say_is_no_law():
    """c·log(d/x^1.5) follows 20 groups of a dozen noisy rows, and none of the decays."""
    table, _ = galaxies(120)
    wrong = searched(table, per_group="galaxy", form="c*log(d/x**1.5)")
    right = searched(table, per_group="galaxy", form="a*exp(-b*x)")
    fails = {name: [g.name for g in r.found_gates if g.passed is False] for name, r in
             {"wrong": wrong, "right": right}.items()}  # fmt: skip
    assert "no smooth misfit" in fails["wrong"]
    assert not fails["right"]


@pytest.mark.slow
def test_the_form_of_many_small_groups_is_chosen_by_all_of_them():
    found = searched(galaxies(175)[0], per_group="galaxy")
    assert found.found
    assert re.fullmatch(r"c\d\*exp\(c\d\*x\)", found.per_group.form)


def test_a_group_s_form_is_tried_with_a_rate_and_with_a_ratio_of_its_terms():
    x = symbol("x")
    rows = np.linspace(0.1, 4, 24)
    part = Samples(rows[:, None], 2 + 3.1 * np.exp(-0.9 * rows), ("x",), np.arange(24))
    law = refitted(2.0 + 3.0 * sympy.exp(-x), part, "test")
    tried = list(_with_more_numbers(law, part))
    assert [len(each.constants) for each in tried] == [2, 2, 2, 3, 3]
    assert [each.form.is_Mul for each in tried] == [False, False, True, False, True]
    for plain, ratio in (tried[1:3], tried[3:]):
        assert np.allclose(plain.values(part), ratio.values(part), rtol=1e-12)
    assert min(tried[3].constants) == pytest.approx(-0.9, rel=1e-6)
    # a power has the unit of its feature in its constant, and one term has no ratio
    assert len(list(_with_more_numbers(refitted(3.0 * x**1.5, part, "test"), part))) == 2


@pytest.mark.slow
def test_a_rate_that_a_dozen_rows_let_be_one_is_found():
    rng = np.random.default_rng(21)
    group = np.repeat(np.arange(60), 12)
    x = rng.uniform(0, 5, len(group))
    y = 2 + rng.uniform(1, 5, 60)[group] * np.exp(-0.9 * x)
    y += 0.02 * np.sqrt(np.mean(y**2)) * rng.standard_normal(len(y))
    found = searched(pd.DataFrame({"x": x, "metal": group, "y": y}))
    assert found.found, found.explanation
    constants = found.per_group.constants
    shared = [each for each, names in constants.items() if len(names) == 1]
    values = sorted(found.coefficients[each].value for each in shared)
    assert values == pytest.approx([-0.9, 2], rel=0.02)
