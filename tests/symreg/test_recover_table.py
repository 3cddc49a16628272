"""Tables of the user's own: laws found in any columns, and one clear line for what is wrong."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orbits.command_line import main as run_command
from orbits.files import read_json
from orbits.units import G, parse_unit
from symreg.cli import COMMANDS
from symreg.fit import uncertainty
from symreg.recovery import user_table
from symreg.recovery.config import RecoverConfig
from symreg.recovery.recover import recover
from symreg.recovery.user_table import read_user_table

QUICK = {"seeds": 2, "null": False, "engine": "rational"}


def gate(found, name):
    """The gate of that name."""
    (one,) = (g for g in found.gates if g.name == name)
    return one


def gravity(n=300, seed=0, noise=0.01):
    rng = np.random.default_rng(seed)
    r, m1 = np.exp(rng.uniform(-1, 1, (2, n)))
    m2 = np.exp(rng.uniform(-7, -3, n))
    force = G * m1 * m2 / r**2 * (1 + noise * rng.standard_normal(n))
    return pd.DataFrame({"F": force, "r": r, "m1": m1, "m2": m2, "orbit": np.arange(n) // 10})


def test_gravity_is_found_in_every_kind_of_file(tmp_path):
    table = gravity()
    table.to_parquet(tmp_path / "forces.parquet")
    for suffix in ("csv", "tsv"):
        separator = "\t" if suffix == "tsv" else ","
        table.to_csv(tmp_path / f"forces.{suffix}", index=False, sep=separator)
    for path in tmp_path.iterdir():
        read = read_user_table(str(path), ["F", "r"], seed=0).table
        pd.testing.assert_frame_equal(read[["F", "r"]], table[["F", "r"]])
    config = RecoverConfig(target="F", features=("r,m1,m2",), law="newton", **QUICK)
    found = recover(tmp_path / "forces.csv", config)
    assert found.recovered, found.explanation
    assert found.constant.name == "G"
    assert found.constant.value == pytest.approx(G, rel=0.01)
    assert found.constant.recognised.name == "4π²"
    assert {n: round(e.value, 1) for n, e in found.exponents.items()} == {
        "r": -2.0, "m1": 1.0, "m2": 1.0,
    }  # fmt: skip


def test_units_give_the_constant_its_unit_and_its_truth(tmp_path):
    gravity().to_csv(tmp_path / "f.csv", index=False)
    config = RecoverConfig(
        target="F",
        features=("r", "m1", "m2"),
        groups="orbit",
        units=("F=Msun*au/yr^2", "r=au", "m1=Msun", "m2=Msun"),
        law="newton",
        **QUICK,
    )
    found = recover(tmp_path / "f.csv", config)
    assert found.groups == 30
    assert found.constant.unit == "m^3 kg^-1 s^-2"
    # G M_sun of the IAU against 4 pi^2 au^3/yr^2 with the Julian year: 4e-5 apart
    assert found.constant.truth == pytest.approx(G, rel=1e-4)
    assert found.recovered


def test_a_formula_of_the_users_own_is_a_reference(tmp_path):
    rng = np.random.default_rng(1)
    X = np.exp(rng.uniform(-1, 1, (200, 2)))
    table = pd.DataFrame({"E": X[:, 0], "gamma": X[:, 1], "S": 3 * X[:, 0] ** 1.5 / X[:, 1]})
    table.to_csv(tmp_path / "names.csv", index=False)
    config = RecoverConfig(
        target="S", features=("E", "gamma"), law="E**1.5/gamma", **QUICK | {"engine": "projection"}
    )
    found = recover(tmp_path / "names.csv", config)
    assert found.verdict == "up_to_scale", found.explanation
    assert found.expression == "3*E**(3/2)/gamma"


def test_large_tables_are_sampled_for_the_search(tmp_path, monkeypatch):
    monkeypatch.setattr(user_table, "MOST_ROWS", 500)
    table = gravity(5000)
    for suffix in ("csv", "parquet"):
        path = tmp_path / f"large.{suffix}"
        table.to_parquet(path) if suffix == "parquet" else table.to_csv(path, index=False)
        read = read_user_table(str(path), ["F", "r"], seed=0)
        assert read.rows == len(read.every) == 5000
        assert len(read.table) == 500
        pd.testing.assert_frame_equal(read.table, read_user_table(str(path), ["F", "r"], 0).table)


@pytest.mark.parametrize("many", [20_000, 1000])
def test_constants_of_a_large_table_are_fitted_to_all_rows(monkeypatch, many):
    monkeypatch.setattr(user_table, "MOST_ROWS", 500)
    monkeypatch.setattr(uncertainty, "MANY", many)
    monkeypatch.setattr("symreg.recovery.finding.MOST_SEARCHED", 300)
    rng = np.random.default_rng(0)
    r = rng.uniform(1, 3, 8000)
    table = pd.DataFrame({"F": 5 / r**2 * (1 + 0.05 * rng.standard_normal(8000)), "r": r})
    found = recover(table, target="F", features="r", form="k/r**2", null=False)
    assert found.rows == found.rows_used == 8000
    assert any(
        "300 rows, drawn at random, were searched and judged; the constants are fitted to 8000"
        in note for note in found.notes
    )  # fmt: skip
    k = found.coefficients["k"]
    assert k.low < 5 < k.high
    assert (k.high - k.low) / (2 * 1.96) == pytest.approx(5 * 0.05 / np.sqrt(8000), rel=0.1)


def run(*arguments):
    return run_command("symreg", COMMANDS, [str(a) for a in arguments])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.head(1), "1 row"), (lambda t: t.head(0), "0 row"),
        (lambda t: t.assign(r=[1.0, "two"] * 20), "not numeric"),
        (lambda t: t.assign(r=[True, False] * 20), "not numeric"),
        (lambda t: t.assign(r=[1.0, np.nan] * 20), "not finite"),
        (lambda t: t.assign(r=[1.0, np.inf] * 20), "not finite"),
        (lambda t: t.assign(F=1.0), "target F is 1 in every row"),
    ],
)  # fmt: skip
def test_bad_tables_get_one_line_and_exit_code_2(change, says, tmp_path, refused):
    change(gravity(40)).to_csv(tmp_path / "bad.csv", index=False)
    words = ["recover", tmp_path / "bad.csv", tmp_path / "o.json", "--target", "F"]
    assert says in refused("symreg", *words, "--features", "r,m1")
    assert not (tmp_path / "o.json").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--target", "F"), "--features is missing"),
        (("--target", "F", "--features", "r,m3"), "did you mean 'm2'"),
        (("--target", "f", "--features", "r"), "Known: F, m1, m2, orbit, r"),
        (("--target", "F", "--features", "r", "--units", "F=N"), "lacks r"),
        (
            ("--target", "F", "--features", "r,m1,m2", "--law", "newton", "--units",
             "F=kg", "r=au", "m1=kg", "m2=kg"),
            "cannot match newton",
        ),
        (("--target", "F", "--features", "m1,m2", "--law", "newton"), "needs a feature called r"),
        (("--target", "F", "--features", "r", "--law", "q/r**2"), "which are no features"),
        (("--target", "F,m1", "--features", "r"), "--target is one column"),
        (("--pair",), "--pair is gone; write the force as a column"),
        (("--target", "F", "--features", "r", "--operators", "+,snh"), "operator 'snh'"),
    ],
)  # fmt: skip
def test_bad_options_get_one_line_and_exit_code_2(options, says, tmp_path, refused):
    gravity(40).to_csv(tmp_path / "f.csv", index=False)
    assert says in refused("symreg", "recover", tmp_path / "f.csv", tmp_path / "o.json", *options)


@given(
    st.lists(
        st.lists(st.floats(allow_nan=True, allow_infinity=True, width=64), min_size=3, max_size=3),
        max_size=20,
    )
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_numbers_give_a_result_or_a_clear_refusal(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("any")
    pd.DataFrame(rows, columns=["F", "r", "m"]).to_csv(folder / "t.csv", index=False)
    code = run("recover", folder / "t.csv", folder / "o.json", "--target", "F", "--features",
               "r,m", "--engine", "projection", "--no-null")  # fmt: skip
    assert code in (0, 2)
    if code == 0:
        assert read_json(folder / "o.json")["verdict"]


@pytest.mark.parametrize(
    "text",
    ["(km**12)**12", "(pc**-12)**12", "*".join(["km"] * 200), "m*" * 100_000 + "m", "m**1001",
     "(" * 1000, "m.real", "m()", "[m]", "2*m", "m+m", "m if s else s", "m\0"],
)  # fmt: skip
def test_a_unit_that_is_no_bounded_product_is_refused(text):
    with pytest.raises(ValueError):
        parse_unit(text)


def test_guesses_are_weighed_beside_what_is_found(tmp_path):
    rng = np.random.default_rng(5)
    r = np.exp(rng.uniform(-1, 1, 300))
    table = pd.DataFrame({"s": r, "F": 3.0 * r / (r**2 + 0.16) ** 2.5})
    table["F"] *= 1 + 0.005 * rng.standard_normal(300)
    table.to_csv(tmp_path / "t.csv", index=False)
    formula = "k*s/(s**2 + c)**2.5"
    # the projection search would find this law by itself
    options = {
        "target": "F", "features": ("s",), "law": "s/(s**2 + 0.16)**2.5",
        **QUICK,
    }  # fmt: skip
    found = recover(tmp_path / "t.csv", RecoverConfig(guesses=(formula,), **options))
    assert found.selected_from == "guess"
    fame = tmp_path / "hall_of_fame.csv"
    fame.write_text('Complexity,Loss,Equation\n9,0.1,"2.2 * s / ((s^2 + 0.3) ^ 2.5)"\n')
    again = recover(tmp_path / "t.csv", RecoverConfig(guesses=(str(fame),), **options))
    assert again.expression == found.expression
