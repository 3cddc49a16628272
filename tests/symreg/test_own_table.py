"""Tables as people have them: wild rows, idle columns, forms, units, and little time."""

import json
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from orbits.cli import main as orbits_command
from orbits.estimates import Estimate
from orbits.units import parse_unit
from symreg.cli import main
from symreg.fit.form import fit_form
from symreg.fit.outliers import outlying_rows
from symreg.fit.samples import Samples
from symreg.formulas.watch import Watch
from symreg.recovery.constants import recognised
from symreg.recovery.recover import recover
from symreg.recovery.result import Recovery


def searched(columns, **options):
    """What the exhaustive search finds in columns of which y is the target."""
    table = pd.DataFrame(columns)
    features = tuple(name for name in table if name != "y")
    settings = {"engine": "projection", "null": False, "seeds": 1, "time_limit": 600} | options
    return recover(table, target="y", features=features, **settings)


def one_feature(y, a):
    return Samples(a[:, None], y, ("a",), np.arange(len(y)))


@pytest.mark.few(2)
@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("factor", [1.6, 1e5])
def test_a_wild_row_in_a_hundred_is_left_out_and_named(factor, noise):
    rng = np.random.default_rng(3)
    a, b = rng.uniform(0.5, 5, (2, 200))
    y = 3 * a**2 / b * (1 + noise * rng.standard_normal(200))
    y[[17, 120]] *= factor
    found = searched({"y": y, "a": a, "b": b})
    assert found.found, found.explanation
    assert str(found.form) == "a**2*c1/b"
    assert found.coefficients["c1"].value == pytest.approx(3, rel=0.01)
    assert any("left out: rows 18, 121" in note for note in found.notes)
    assert "rows 18, 121" in found.explanation
    assert found.rows_left_out == 2


@pytest.mark.parametrize(("rows", "wild"), [(range(300, 342), 0), (range(7, 1000, 100), 10)])
def test_rows_in_one_piece_are_not_wild_however_they_lie_by_their_features(rows, wild):
    rng = np.random.default_rng(0)
    r, m1, m2 = rng.uniform(1, 5, (3, 1000))
    y = m1 * m2 / r**2 * (1 + 1e-3 * rng.standard_normal(1000))
    y[list(rows)] *= 3
    samples = Samples(np.column_stack([r, m1, m2]), y, ("r", "m1", "m2"), np.arange(1000))
    assert outlying_rows(samples).sum() == wild


@pytest.mark.slow
@pytest.mark.parametrize("relative", [True, False])
def test_a_sum_that_can_be_written_in_many_ways_is_found_with_an_idle_column(relative):
    """x + 2y, c1·x + c2·y and c·y·(x/y + 2) are one law, and agree with one another."""
    rng = np.random.default_rng(0)
    x, y, z = rng.uniform(-3, 3, (3, 200))
    noise = 0.01 * rng.standard_normal(200) * (x + 2 * y if relative else 4)
    found = searched({"y": x + 2 * y + noise, "x": x, "b": y, "z": z})
    assert found.found, found.explanation
    assert str(found.form) in ("b*c1 + c2*x", "b*c2 + c1*x")
    agreement = next(gate for gate in found.found_gates if gate.name == "agreement")
    assert agreement.found == "100 of 100"


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_the_logarithm_of_a_ratio_is_found(scale):
    """The place where it is zero is exact, and no grid meets it by chance."""
    a, b = np.random.default_rng(5).uniform(0.5, 4, (2, 200))
    noise = 1 + 0.01 * np.random.default_rng(6).standard_normal(200)
    found = searched({"y": 3 * np.log(scale * a / b) * noise, "a": a, "b": b})
    assert found.found, found.explanation
    truth = 3 * np.log(scale * a / b)
    np.testing.assert_allclose(found.predict({"a": a, "b": b}), truth, atol=0.02)
    assert str(found.form) == ("c1*log(a/b)" if scale == 1 else "c1*log(a*c2/b)")


def test_a_law_with_a_negative_constant_predicts():
    """Positive numbers in the place of its constants would leave a root of a negative one."""
    v = np.linspace(1, 10, 30)
    line = searched({"y": 2 * v + 300, "v": v}, form="c1*v + c2")
    law = replace(line, form="c1*sqrt(-1/(c2 + v**2))", coefficients={
        "c1": replace(line.coefficients["c1"], value=20.0),
        "c2": replace(line.coefficients["c2"], value=-400.0),
    })  # fmt: skip
    np.testing.assert_allclose(law.predict({"v": v}), 1 / np.sqrt(1 - v**2 / 400))


RELATIVITY = {
    "mass": lambda m, b, u: m / np.sqrt(1 - b**2),
    "momentum, of both signs": lambda m, b, u: m * b / np.sqrt(1 - b**2),
    "time, transformed": lambda m, b, u: (m - b * u) / np.sqrt(1 - b**2),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", RELATIVITY)
def test_a_law_is_found_where_its_expansion_leaves_less_than_a_billionth(name):
    """Up to v = c/30 a fourth power leaves 1e-12; the law alone is right at twenty times these."""
    light, rng = 299792458.0, np.random.default_rng(0)
    m, v, u = (
        rng.uniform(1, 10, 300),
        rng.uniform(-1e7, 1e7, 300),
        rng.uniform(-100, 100, 300),
    )
    # with a hundredth of it the root of a sum of products agrees to 1e-8 far beyond, too
    own = light / 1e4 if name.startswith("time") else light
    table = {"m": m, "v": v} | ({"u": u} if name.startswith("time") else {})
    y = RELATIVITY[name](m, v / light, u / own)
    found = searched({**table, "y": y}, engine="auto")
    assert found.found
    beyond = {**table, "v": 20 * v}
    truth = RELATIVITY[name](m, 20 * v / light, u / own)
    np.testing.assert_allclose(found.predict(beyond), truth, rtol=1e-8)


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [20, 200])
def test_a_noisy_line_has_a_fitted_slope_with_an_interval(rows):
    # whatever simple numbers are near: 7/2·x + 1 of slope 3.52 was returned, and no number fitted
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 10, rows)
    table = pd.DataFrame({"x": x, "y": 3.52 * x + 1.04 + 0.2 * rng.standard_normal(rows)})
    law = recover(table, target="y", features="x", seeds=1, null=False)
    slope, intercept = np.polyfit(x, table["y"], 1)
    numbers = [quantity.value for quantity in law.coefficients.values()]
    assert len(numbers) == 2
    line = law.predict(pd.DataFrame({"x": [1.0, 9.0]}))
    assert line == pytest.approx(intercept + slope * np.array([1.0, 9.0]), rel=0.02)
    assert all(q.low < q.value < q.high for q in law.coefficients.values())


def test_idle_columns_are_left_out_with_a_note():
    rng = np.random.default_rng(0)
    a = rng.uniform(0.5, 5, 100)
    found = searched({"y": 3 * a**2, "a": a, "b": 2.5 * a, "c": 7.0, "d": rng.uniform(1, 2, 100)})
    assert found.form == "a**2*c1"
    assert set(found.exponents) == {"a", "d"}
    assert "b is 2.5 times a in every row, and was left out" in found.notes
    assert "c is 7 in every row, and was left out" in found.notes


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("names", "written"),
    [
        (("log P (days)", "m-1"), ("log_P_days", "m_1")),
        (("lambda", "if"), ("lambda_", "if_")),
        (("S", "pi"), ("S", "pi_")),
        (("x y", "x-y"), ("x_y", "x_y_")),
        (("2nd", "Größe"), ("x2nd", "Größe")),
        (("c1", "E"), ("c1", "E")),
    ],
)
def test_columns_may_have_any_name(names, written, tmp_path):
    rng = np.random.default_rng(1)
    a, b = rng.uniform(1, 3, (2, 100))
    found = searched({"y": 3 * a**2 / b, names[0]: a, names[1]: b})
    assert {s.name for s in found.formula.free_symbols} == set(written)
    found.write(tmp_path / "law.json")
    again = Recovery.read(tmp_path / "law.json")
    for columns in (names, written):
        place = {columns[0]: [1.0, 2.0], columns[1]: [2.0, 2.0]}
        assert again.predict(place) == pytest.approx([1.5, 6.0], rel=0.01)
        assert len(again.predict_interval(place)) == 2
    for name, text in zip(names, written, strict=True):
        assert (f"{text} is the column {name!r}" in found.explanation) == (name != text)


@pytest.mark.parametrize(
    ("form", "truth"),
    [
        ("p*sin(w*a)", {"p": 3.0, "w": 25.0}),
        ("p*sin(w*a + f) + q", {"p": 3.0, "w": 7.0, "f": 1.0, "q": 5.0}),
        ("p*sin(w*a + f)*exp(-g*a)", {"p": 3.0, "w": 7.0, "f": 1.0, "g": 0.2}),
        ("p/(1 + (a/s)**n)", {"p": 3.0, "s": 4.0, "n": 3.3}),
        ("p*a**n + q*a**m", {"p": 3.0, "n": 1.7, "q": 2.0, "m": -0.6}),
    ],
)
def test_a_form_is_fitted_in_the_right_basin(form, truth):
    rng = np.random.default_rng(1)
    a = rng.uniform(0.1, 10, 200)
    y = eval(form, {"sin": np.sin, "exp": np.exp, "a": a, **truth})
    found = fit_form(form, one_feature(y * (1 + 0.002 * rng.standard_normal(200)), a))
    values = dict(zip(found.names, found.constants, strict=True))
    if form.count("**") == 2 and values["n"] < values["m"]:
        values = {"p": values["q"], "n": values["m"], "q": values["p"], "m": values["n"]}
    assert values == pytest.approx(truth, rel=0.03)


@pytest.mark.parametrize(("low", "high"), [(1990, 2024), (797, 811), (1e30, 1.4e30), (-1e-9, 1e-9)])
def test_a_form_is_fitted_wherever_its_feature_lies(low, high):
    a = np.linspace(low, high, 200)
    u = (a - (low + high) / 2) / (high - low)  # as far from zero as its spread, and no more
    for form, y in {
        "p*exp(-(a - m)**2/(2*s**2))": 4 * np.exp(-((u - 0.1) ** 2) / 0.02),
        "K/(1 + exp(-(a - m)/s))": 5 / (1 + np.exp(-(u - 0.1) / 0.08)),
        "A*sin(w*a + p) + c": 2 * np.sin(40 * u + 0.4) + 7,
        "A*exp(r*a) + c": 3 * np.exp(-4 * u) + 1,
        "p/(1 + ((a - m)/g)**2)": 3 / (1 + ((u + 0.2) / 0.1) ** 2),
    }.items():
        found = fit_form(form, one_feature(y, a))
        assert np.max(np.abs(found.values(one_feature(y, a)) - y)) < 1e-6 * np.max(y), form


@pytest.mark.slow
def test_intervals_of_predictions_hold_the_law():
    places = np.array([2.1, 3.0, 3.5, 4.5, 8.0])
    truth = 2 * places + 7
    held, values = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        a = rng.uniform(2, 5, 100)
        y = (2 * a + 7) * (1 + 0.02 * rng.standard_normal(100))
        found = searched({"y": y, "a": a}, form="p*a + q")
        told = found.predict_interval({"a": places})
        held.append((told["low"] <= truth) & (truth <= told["high"]))
        values.append(told["value"])
    assert list(told["inside"]) == [True, True, True, True, False]
    assert np.all(told["high"] > told["low"])
    # the standard error of a share of 0.95 in 60 draws is 0.028
    assert np.all(np.abs(np.mean(held, axis=0) - 0.95) < 0.09)
    # where errors of the constants cancel the interval is narrower, as the draws are
    widths = (told["high"] - told["low"]) / (2 * 1.96 * np.std(values, axis=0))
    assert np.all((widths > 0.7) & (widths < 1.4)), widths
    again = Recovery.of(found.to_dict())
    pd.testing.assert_frame_equal(again.predict_interval({"a": places}), told)
    with pytest.raises(ValueError, match="needs a too"):
        found.predict_interval({"b": places})


def test_constants_are_recognised_by_value_and_unit():
    rng = np.random.default_rng(0)
    T, V, n = rng.uniform(200, 400, 100), rng.uniform(1, 9, 100), rng.uniform(0.5, 5, 100)
    # litres and kilojoules: R = 8.314 kJ/K per 1000 mol; one of the user's units each
    y = 8.314462618e-3 * n * T / V * 1e6 * (1 + 0.001 * rng.standard_normal(100))
    found = searched(
        {"y": y, "n": n, "T": T, "V": V}, units=("y=Pa", "n=mol", "T=K", "V=L"), form="k*n*T/V"
    )
    known = found.coefficients["k"].recognised
    assert known.name == "gas constant R"
    assert "gas constant R" in found.explanation
    unit = parse_unit("Pa*L/mol/K")
    assert recognised(Estimate(8.3e3, 8.2e3, 8.4e3), unit).name == "gas constant R"
    assert recognised(Estimate(8.0e3, 7.9e3, 8.4e3), unit) is None  # in the interval, but 4 % off
    assert recognised(Estimate(8.3e3, 8.2e3, 8.31e3), unit) is None  # outside it
    assert recognised(Estimate(8.3, 8.2, 8.4), parse_unit("m")) is None
    assert recognised(Estimate(6.67e-11, 6.66e-11, 6.69e-11)).name == "G (SI)"


def test_a_search_ends_with_its_time_and_says_so():
    rng = np.random.default_rng(0)
    a, b, c, d = rng.uniform(0.5, 5, (4, 400))
    y = np.exp(np.sin(3 * a) * b) + c / (d + a * b) + 0.1 * rng.standard_normal(400)
    told = []
    began = time.monotonic()
    table = pd.DataFrame({"y": y, "a": a, "b": b, "c": c, "d": d})
    found = recover(
        table, target="y", features=("a", "b", "c", "d"), null=False, time_limit=0.5,
        progress=told.append,
    )  # fmt: skip
    assert any("ended at its limit of 0.5 s of computing" in note for note in found.notes)
    assert time.monotonic() - began < 60  # a search without a limit takes minutes
    assert any("formulas" in line for line in told)


def test_a_limit_counts_computing_and_not_waiting():
    watch = Watch(0.1)
    part = watch.part(0.5)
    time.sleep(0.15)  # as on a machine that is busy with other work
    assert not part.over
    part.spend(0.02)  # of another process
    assert watch.taken >= 0.02
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert not watch.ended
    assert part.over
    assert watch.ended  # so that the note is written, whichever part was cut short


def test_a_search_keeps_to_one_thread_of_linear_algebra():
    seen = []
    x = np.linspace(1, 2, 40)
    with threadpool_limits(2, "blas"):
        before = {each["filepath"]: each["num_threads"] for each in threadpool_info()}
        table = pd.DataFrame({"y": 3 * x**2, "x": x})
        recover(table, target="y", features="x", null=False,
                progress=lambda line: seen.extend(threadpool_info()))  # fmt: skip
        after = {each["filepath"]: each["num_threads"] for each in threadpool_info()}
    blas = [each["num_threads"] for each in seen if each["user_api"] == "blas"]
    assert set(blas) == {1}
    assert {path: after[path] for path in before} == before


def gravity(tmp_path, separator=",", decimal=".", headers=("F", "r", "m"), holes=()):
    """A file with 60 rows of 5 m/r², values missing where there are holes."""
    rng = np.random.default_rng(0)
    r, m = rng.uniform(1, 3, (2, 60))
    table = pd.DataFrame(dict(zip(headers, (5 * m / r**2, r, m), strict=True)))
    for row, column in holes:
        table.loc[row, column] = np.nan
    table.to_csv(tmp_path / "g.csv", sep=separator, decimal=decimal, index=False)
    target, *features = headers
    words = ["recover", str(tmp_path / "g.csv"), "--target", target, "--features", *features]
    return [*words, "--no-null", "--engine", "projection"]


def test_semicolons_decimal_commas_and_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = gravity(tmp_path, ";", ",")
    assert main([*words[:2], "-", *words[2:]]) == 0
    out, error = capsys.readouterr()
    assert Recovery.of(json.loads(out)).form == "c1*m/r**2"
    assert "search" in error
    assert not (tmp_path / "-").exists()


def test_a_command_that_writes_no_text_refuses_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert orbits_command(["generate", "-", "--orbits", "2", "--simulator", "kepler"]) == 2
    assert "standard output, which takes text alone" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_rows_without_a_number_are_refused_or_left_out(tmp_path, capsys):
    words = gravity(tmp_path, holes=((3, "r"), (7, "m"), (8, "F")))
    out = str(tmp_path / "law.json")
    assert main([*words[:2], out, *words[2:]]) == 2
    error = capsys.readouterr().err
    assert "the first in row" in error
    assert "--bad-rows mend" in error
    assert main([*words[:2], out, *words[2:], "--bad-rows", "mend"]) == 0
    found = Recovery.read(out)
    assert found.rows == 57
    assert any("3 of 60 rows have no finite number" in note for note in found.notes)
    assert found.coefficients["c1"].value == pytest.approx(5, rel=1e-9)


def test_a_word_in_a_column_of_numbers_is_a_bad_row_and_a_column_of_words_is_none(tmp_path):
    x = np.linspace(1, 2, 30)
    table = pd.DataFrame({"x": [*map(str, x[:-1]), "n/a?"], "y": 3 * x**2, "w": ["a"] * 30})
    options = {"target": "y", "null": False, "engine": "projection"}
    found = recover(table, features="x", bad_rows="mend", **options)
    assert found.rows == 29
    with pytest.raises(ValueError, match="column w is not numeric"):
        recover(table, features="w", bad_rows="mend", **options)
    with pytest.raises(ValueError, match=r"\(it has 'a'\)\. .* name another target\.$"):
        recover(table, features="x", **options | {"target": "w"})


def test_units_of_headers_that_are_no_use_are_told(tmp_path, capsys):
    words = gravity(tmp_path, headers=("F [N]", "r [m]", "m [stones of lead]"))
    assert main([*words[:2], str(tmp_path / "law.json"), *words[2:]]) == 0
    assert "the units in the headers were not used, since m [stones" in capsys.readouterr().out


def test_units_that_do_not_fit_are_told():
    x = np.linspace(1, 2, 40)
    table = pd.DataFrame({"y [m]": 3 * np.exp(0.7 * x) * x, "x [kg]": x})
    found = recover(table, target="y", features="x", form="exp(x)*a + b", null=False)
    assert any("do not fit the formula" in note for note in found.notes)


def test_a_formula_that_is_zero_in_most_rows_divides_by_nothing():
    rows = [0.0] * 6 + [1.0] * 6
    with np.errstate(all="raise"):
        found = searched({"x": [0.0, *rows[:-1]], "y": rows}, time_limit=1)
    assert not found.found
