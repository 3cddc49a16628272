"""The numbers of srbf's table on the page of results are those of its CSV."""

from pathlib import Path

import pandas as pd
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TABLE = pd.read_csv(NOTEBOOKS / "images" / "srbf.csv", keep_default_na=False)
PAGE = (NOTEBOOKS / "results.md").read_text(encoding="utf-8")
LAWS = {"fastsrb.v2": ("FastSRB", 120), "feynman-bonus": ("feynman-bonus", 20),
        "vladislavleva": ("vladislavleva", 8), "neat": ("neat", 8),
        "erbench-phybench": ("erbench-phybench", 90), "livermore2": ("livermore2", 150),
        "srsd-dummy": ("srsd-dummy", 120)}  # fmt: skip
"""Name on the page, and laws in the catalog."""


def row(catalog: str, noise: float, part: pd.DataFrame) -> str:
    name, laws = LAWS[catalog]
    run = f"{name}: " + (f"{laws} laws" if len(part) >= laws else f"the first {len(part)} of {laws}")
    shares = [f"{part[key].mean():.2f}" for key in ("recovered", "structure", "found")]
    wrong = int((part["found"] * (1 - part["recovered"])).sum())
    seconds = f"{part['seconds'].astype(float).median():.0f}"
    return f"| {run} | {100 * noise:g} % | {' | '.join(shares)} | {wrong} | {seconds} |"


def rows() -> list[str]:
    judged = TABLE[TABLE["status"] != "no table"].astype({"recovered": int, "structure": int,
                                                          "found": int, "noise": float})  # fmt: skip
    return [row(*key, part) for key, part in judged.groupby(["catalog", "noise"], sort=False)]


@pytest.mark.parametrize("line", rows())
def test_a_row_of_the_page_is_counted(line):
    assert line in PAGE
