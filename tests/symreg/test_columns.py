"""Columns of a user's table: which one a name means, what counts as a row, a label, a number."""

import unicodedata
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import symreg
from symreg.cli import main
from symreg.fit.form import fit_form
from symreg.recovery.config import RecoverConfig
from symreg.recovery.finding import read_guesses
from symreg.recovery.problem import of_user_table
from symreg.recovery.user_table import in_written_names, written_names

quick = settings(max_examples=40, deadline=None)
rng = np.random.default_rng(0)
r, m = rng.uniform(0.5, 3, 40), rng.uniform(1, 4, 40)
table = pd.DataFrame({"r": r, "m": m, "F": 3.7 * m / r**2})

stem = st.sampled_from(["x_y", "mass", "r2", "lambda", "pi", "sin", "μ", "F1", "a_b", "xx"])


@st.composite
def headers(draw):
    """A name, and another that a formula writes, or Python reads, in the same way."""
    name = draw(stem)
    other = draw(
        st.sampled_from([
            name.replace("_", " "), name.replace("_", "."), name.replace("_", "-"),
            f"{name} (kg)", f"{name} [N]", name.replace("2", "²"), name.replace("μ", "µ"),
            f"{name}_", f"{name}__", "".join(chr(ord(c) + 0xFEE0) if c < "~" else c for c in name),
        ])
    )  # fmt: skip
    return draw(st.permutations([name, other]))


@quick
@given(headers(), st.booleans(), st.data())
def test_a_form_means_the_column_that_it_names(names, also, data):
    """Letter by letter, in forms, guesses and laws, whatever the other columns are called."""
    assume(len(set(names)) == 2)
    asked = next((n for n in names if unicodedata.normalize("NFKC", n).isidentifier()), None)
    whole = [n for n in names if not set(n) & set(" -.([")]
    asked = data.draw(st.sampled_from(whole)) if whole else asked
    frame = pd.DataFrame({name: rng.uniform(1, 4, 30) for name in names})
    frame["target"] = 3 * frame[asked]
    features = tuple(names) if also else (asked,)
    config = RecoverConfig(
        target="target", features=features, form=f"k*{asked}", guesses=(f"3*{asked}",),
        law=f"3*{asked}",
    )  # fmt: skip
    problem = of_user_table(frame, config)
    spelt = problem.spelt(config)
    law = fit_form(spelt.form, problem.samples)
    assert law.constants == pytest.approx([3.0])
    assert law.mean_square < 1e-25
    (guess,) = read_guesses(spelt.guesses, problem.samples.names)
    (column,) = guess.free_symbols
    assert problem.columns.get(column.name, column.name) == asked
    assert problem.references[0].family.free_symbols == guess.free_symbols


@quick
@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6, unique=True))
def test_written_names_are_names_and_distinct(names):
    written = written_names(names, [*names, "x", "x_"])
    assert list(written) == names
    assert len(set(written.values())) == len(names)
    for name, text in written.items():
        assert text.isidentifier()
        assert unicodedata.normalize("NFKC", text) == text
        assert text == name or text not in names
    assert in_written_names("1e-3*sin(r)+2", {"1e": "a", "sin": "b", "2": "c"}) == "1e-3*sin(r)+2"


def test_no_column_takes_the_name_of_another_of_the_table():
    """The groups keep their column, and a form that names no feature is refused."""
    frame = table.rename(columns={"r": "x y"}).assign(x_y=["a", "b"] * 20)
    options = {"target": "F", "features": ("x y", "m"), "groups": "x_y"}
    problem = of_user_table(frame, RecoverConfig(**options))
    assert problem.samples.n_effective == 2
    assert problem.columns == {"x_y_": "x y"}
    with pytest.raises(ValueError, match="name features"):
        symreg.recover(frame, target="F", features="x y", form="k*x_y", null=False)


def test_the_law_of_a_column_is_written_and_predicted_in_it():
    frame = pd.DataFrame({"x y": r, "x_y": m, "F": 3 * m})
    law = symreg.recover(frame, target="F", features=("x y", "x_y"), form="k*x_y", null=False)
    assert law.predict(frame) == pytest.approx(frame["F"])
    alone = symreg.recover(frame, target="F", features=("x_y",), form="k*x_y", null=False)
    assert alone.coefficients["k"].value == pytest.approx(3.0)


def test_new_groups_of_an_estimator_have_the_same_columns():
    frame = pd.DataFrame({"x y": np.r_[r, r], "g": ["a"] * 40 + ["b"] * 40})
    y = np.where(frame.g == "a", 2.0, 5.0) * frame["x y"]
    model = symreg.LawRegressor(per_group="g", form="k*x_y", null=False).fit(frame, y)
    new = frame.assign(g="c")
    assert model.fit_groups(new, 7 * new["x y"]).predict(new) == pytest.approx(7 * new["x y"])


@quick
@given(
    bad=st.sets(st.integers(0, 39), max_size=6),
    row=st.integers(0, 39),
    kind=st.sampled_from(["frame", "csv", "parquet"]),
)
def test_rows_are_named_as_in_the_table(bad, row, kind, tmp_path_factory):
    """Whatever was left out above them: in notes on outliers, and where a value is refused."""
    assume(row not in bad)
    frame = table.copy()
    frame.loc[list(bad), "r"] = np.nan
    where = f"row {row + 1}"
    source = frame
    if kind != "frame":
        source = tmp_path_factory.mktemp("t") / f"t.{kind}"
        frame.to_csv(source, index=False) if kind == "csv" else frame.to_parquet(source)
        where += f", line {row + 2}" * (kind == "csv")
    options = {"target": "F", "features": ("r", "m")}
    problem = of_user_table(source, RecoverConfig(**options, bad_rows="mend"))
    samples = problem.samples
    chosen = samples.y == frame["F"][row]
    assert problem.named_rows(chosen) == where
    assert problem.named_rows(np.arange(len(chosen)) < 0) == "rows "
    if bad:
        with pytest.raises(ValueError, match=rf"the first in row {min(bad) + 1}[;,]"):
            of_user_table(source, RecoverConfig(**options))


def test_an_outlier_is_named_by_its_row_in_the_file(tmp_path):
    frame = pd.concat([table] * 3, ignore_index=True).assign(r=rng.uniform(0.5, 3, 120))
    frame["F"] = 3.7 * frame.m / frame.r**2
    frame.loc[[3, 17, 40], "r"] = np.nan
    frame.loc[90, "F"] *= 30
    frame.to_csv(tmp_path / "t.csv", index=False)
    options = {"target": "F", "features": "r,m", "null": False, "time_limit": 4, "seeds": 1}
    law = symreg.recover(tmp_path / "t.csv", **options, bad_rows="mend")
    assert any("1 outlier of 117 rows" in note for note in law.notes)
    assert any("left out: row 91, line 92" in note for note in law.notes)


labels = st.one_of(
    st.from_regex(r"0?[1-3](\.0)?", fullmatch=True), st.sampled_from(["a", "b", "NA", "µ", "μ"]),
    st.integers(10**18, 10**18 + 3).map(str),
)  # fmt: skip


@quick
@given(
    names=st.lists(labels, min_size=2, max_size=5, unique=True),
    kind=st.sampled_from(["csv", "frame"]),
)
def test_labels_are_text(names, kind, tmp_path_factory):
    """Equal texts are one group, and others are another, in groups and per_group."""
    frame = pd.concat([table.head(8)] * len(names), ignore_index=True)
    frame["g"] = np.repeat(names, 8)
    source = frame
    if kind == "csv":
        source = tmp_path_factory.mktemp("t") / "t.csv"
        frame.to_csv(source, index=False)
    config = RecoverConfig(target="F", features=("r", "m"), groups="g", per_group="g")
    problem = of_user_table(source, config)
    assert problem.samples.n_effective == problem.samples.indicators == len(names)
    assert len(set(problem.group_values)) == len(names)
    assert np.array_equal(problem.samples.indicated, problem.samples.groups)


def test_numbers_of_groups_are_sorted_by_size():
    frame = pd.concat([table.head(8)] * 3, ignore_index=True)
    config = RecoverConfig(target="F", features=("r", "m"), per_group="g")
    for names, order in (
        ([10, 9, 100], (9.0, 10.0, 100.0)),
        (["10", "09", "100"], ("09", "10", "100")),
        (["10", "9", "b"], ("9", "10", "b")),
        ([10**18, 10**18 + 1, 5], (5.0, 10**18, 10**18 + 1)),
    ):
        frame["g"] = np.repeat(names, 8)
        assert of_user_table(frame, config).group_values == order


def test_a_group_is_found_by_its_number_or_its_text(tmp_path):
    frame = pd.concat([table, table], ignore_index=True).assign(g=np.repeat(["1", "01"], 40))
    frame["F"] *= np.where(frame.g == "1", 1, 2)
    frame.to_csv(tmp_path / "t.csv", index=False)
    law = symreg.recover(
        tmp_path / "t.csv", target="F", features="r,m", per_group="g", form="k*m/r^2", null=False
    )
    assert law.predict(frame) == pytest.approx(frame["F"])
    assert law.predict({"r": [1.0], "m": [1.0], "g": [1]}) == pytest.approx([3.7])
    assert law.per_group.values == ("01", "1")


def test_missing_labels_are_named(tmp_path):
    frame = table.assign(g=["a", "b"] * 20)
    frame.loc[[4, 7], "g"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name in ("groups", "per_group"):
        options = {"target": "F", "features": ("r", "m"), name: "g"}
        with pytest.raises(ValueError, match=r"2 row\(s\) have no value there: rows 5, 8 \(lines"):
            of_user_table(tmp_path / "t.csv", RecoverConfig(**options))
        mended = of_user_table(tmp_path / "t.csv", RecoverConfig(**options, bad_rows="mend"))
        assert mended.rows == 38


@pytest.mark.parametrize("option", ["--form", "--law"])
def test_a_constant_has_one_value(option, tmp_path, capsys):
    path = str(tmp_path / "t.csv")
    table.to_csv(path, index=False)
    words = ["--target", "F", "--features", "r", option, "k*r; k=1; k=2"]
    assert main(["recover", path, str(tmp_path / "l.json"), *words]) == 2
    assert "gives k twice" in capsys.readouterr().err


def test_a_column_has_one_unit():
    units = ("F=N", "r=m", "m=kg", "r=km")
    with pytest.raises(ValueError, match="--units gives r twice"):
        symreg.recover(table, target="F", features="r,m", units=units)


def scattered(rows, seed=0):
    noise = 1 + 0.01 * np.random.default_rng(seed).standard_normal(len(rows))
    return rows.assign(F=rows["F"] * noise)


def test_rows_that_repeat_others_count_with_them_as_one():
    def samples_of(*parts):
        problem = of_user_table(pd.concat(parts), RecoverConfig(target="F", features="r,m"))
        return problem.samples.n_effective, [each for each in problem.notes if "repeat" in each]

    once, again = scattered(table), scattered(table, 1)
    assert samples_of(once) == (40, [])
    assert samples_of(once, again) == (80, [])  # measured twice
    note = "rows that repeat others (40 of 80) count with them as one"
    assert samples_of(once, once) == (40, [note])
    assert samples_of(once, once[:5])[0] == 40
    assert samples_of(once, again, once, again)[0] == 80  # measured twice, and copied


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_order_and_copies_of_rows_and_units_decide_nothing_that_is_drawn(rounded, seed):
    """The same samples reach the search, and so the same law; few values make ties."""
    rng = np.random.default_rng(seed)
    rows = scattered(table, seed).round(1) if rounded else scattered(table, seed)
    other = pd.concat([rows] * rng.integers(1, 4)).sample(frac=1, random_state=seed)
    config = RecoverConfig(target="F", features=("r", "m"))
    turned = replace(config, features=("m", "r"))
    plain = of_user_table(rows, config).samples
    moved = of_user_table(other.assign(F=60 * other["F"], m=2.54 * other["m"]), turned).samples
    np.testing.assert_allclose(moved.y, 60 * plain.y, rtol=1e-12)
    np.testing.assert_allclose(moved.X, plain.X[:, ::-1] * [2.54, 1], rtol=1e-12)
    assert moved.n_effective == plain.n_effective == len(plain.y)


@pytest.mark.slow
def test_a_law_is_found_where_every_row_is_there_twice():
    r, m = np.random.default_rng(0).uniform(0.5, 3, (2, 200))
    once = scattered(pd.DataFrame({"r": r, "m": m, "F": 3.7 * m / r**2}))
    twice = pd.concat([once, once])
    options = {"target": "F", "features": "r,m", "null": False, "time_limit": 60}
    law, same = symreg.recover(once, **options), symreg.recover(twice, **options)
    assert (law.status, same.status) == ("found", "found")
    assert same.constant.high - same.constant.low > 0.7 * (law.constant.high - law.constant.low)
    assert not any("follows" in note for note in same.notes)


def test_the_whole_name_of_a_column_goes_before_commas_and_equals_signs(tmp_path):
    odd = table.rename(columns={"r": "r, in au", "m": "m=1", "F": "F, m=1"})
    options = {"form": "k*m_1/r_in_au**2", "null": False}
    units = {"F, m=1": "Msun*au/yr^2", "r, in au": "au", "m=1": "Msun"}
    errors = {"r, in au": 1e-6, "m=1": "0.001%"}
    names = {"target": "F, m=1", "features": ["r, in au", "m=1"]}
    law = symreg.recover(odd, **names, units=units, sigma_of=errors, **options)
    assert law.coefficients["k"].value == pytest.approx(3.7)
    assert law.coefficients["k"].unit
    model = symreg.LawRegressor(**options).fit(odd[["r, in au", "m=1"]], odd["F, m=1"])
    assert model.predict(odd[["r, in au", "m=1"]]) == pytest.approx(odd["F, m=1"])
    path = str(tmp_path / "t.csv")
    odd.to_csv(path, index=False)
    words = ["--target", "F, m=1", "--features", "r, in au", "m=1", "--form", options["form"]]
    words += ["--units", "F, m=1=Msun*au/yr^2, r, in au=au m=1=Msun", "--no-null", "--quiet"]
    assert main(["recover", path, str(tmp_path / "l.json"), *words]) == 0


class Stream:
    """What polars gives: nothing of pandas, but Arrow's stream."""

    def __init__(self, frame):
        self.table = pa.table(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def test_every_door_takes_a_table_of_arrow():
    grouped = table.assign(g=["a", "b"] * 20)
    options = {"target": "F", "form": "k*m/r^2", "null": False}
    law = symreg.recover(Stream(table), features=("r", "m"), **options)
    assert law.predict(Stream(table)) == pytest.approx(table["F"])
    assert len(law.predict_interval(Stream(table))) == 40
    model = symreg.LawRegressor(per_group="g", form="k*m/r^2", null=False)
    X = Stream(grouped.drop(columns="F"))
    assert model.fit(X, table["F"]).predict(X) == pytest.approx(table["F"])
    with pytest.raises(ValueError, match=r"table is .*DataFrame"):
        symreg.recover({"r": [1]}, target="F", features="r")


def test_text_as_a_feature_says_what_it_may_be_for():
    frame = table.assign(surface=["a", "b"] * 20)
    for kind in (str, "category"):
        typed = frame.astype({"surface": kind})
        with pytest.raises(ValueError, match="--per-group surface"):
            of_user_table(typed, RecoverConfig(target="F", features=("r", "surface")))
        with pytest.raises(ValueError, match=r"surface.*per_group") as said:
            symreg.LawRegressor().fit(typed[["r", "surface"]], frame["F"])
        assert len(str(said.value).splitlines()) == 1


def test_a_header_is_suggested_without_its_unit():
    frame = table.rename(columns={"F": "Force [N]"})
    with pytest.raises(ValueError, match=r"did you mean 'Force'\?"):
        of_user_table(frame, RecoverConfig(target="F", features=("r", "m")))


def test_durations_and_units_in_a_column_are_no_numbers():
    frame = table.assign(r=pd.to_timedelta(r, unit="s"))
    with pytest.raises(ValueError, match="Divide durations"):
        of_user_table(frame, RecoverConfig(target="F", features=("r", "m")))
