"""The numbers of srbf's table on the page of results are those of its CSV."""

from pathlib import Path

import pandas as pd
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TABLE = pd.read_csv(NOTEBOOKS / "images" / "srbf.csv")
PAGE = (NOTEBOOKS / "results.md").read_text(encoding="utf-8")
NAMES = {"fastsrb.v2": "FastSRB", "srsd-dummy": "srsd-dummy, with idle columns"}
JUDGED = TABLE[TABLE["status"] != "no table"]


def row(catalog: str, noise: float, part: pd.DataFrame) -> str:
    shares = [f"{part[key].mean():.2f}" for key in ("recovered", "as_fitted", "structure", "found")]
    shares[1] = "–" if part["as_fitted"].isna().any() else shares[1]
    not_recovered = int((part["found"] * (1 - part["recovered"])).sum())
    draws = part["draw"].nunique()
    of = f"{part['law'].nunique()} laws" + (f", {draws} draws" if draws > 1 else "")
    cells = [f"{NAMES.get(catalog, catalog)}, {of}", f"{100 * noise:g} %", *shares]
    cells += [
        str(not_recovered),
        f"{part['seconds'].median():.0f}",
        f"{part['seconds'].mean():.0f}",
    ]
    return f"| {' | '.join(cells)} |"


ROWS = [row(*key, part) for key, part in JUDGED.groupby(["catalog", "noise"], sort=False)]


@pytest.mark.parametrize("line", ROWS)
def test_a_row_of_the_page_is_counted(line):
    assert line in PAGE


def test_the_page_has_no_other_rows():
    section = PAGE.split("{ #srbf }")[1].split("## ")[0]
    assert [line for line in section.splitlines() if " laws" in line and line[0] == "|"] == ROWS


def test_the_rule_is_srbfs():
    """Recovered if at most 2^-23 of the variance is left (numbers of the CSV have three digits)."""
    near = (JUDGED["fvu"] / 2**-23 - 1).abs() < 0.01
    assert ((JUDGED["fvu"] <= 2**-23) == JUDGED["recovered"])[~near].all()
