"""The numbers of the calibration page are those of its table."""

import runpy
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

from symreg.experiments.config import RunConfig

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KINDS = ("Newtonian", "another force", "as a lookup would", "Keplerian", "neither")
TABLE = pd.read_csv(NOTEBOOKS / "images" / "calibration.csv")
PAGE = (NOTEBOOKS / "explanation" / "calibration.md").read_text(encoding="utf-8")
GOOD = TABLE["map_within_10"] >= 0.95


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [("at least 95 %", 0.95, 1.1), ("50 to 95 %", 0.5, 0.95), ("at most 50 %", -1.0, 0.5)],
)
def test_a_row_of_the_page_counts_the_networks(words, low, high):
    part = TABLE[(TABLE["map_within_10"] >= low) & (TABLE["map_within_10"] < high)]
    counts = [len(part), *(int((part["kind"] == kind).sum()) for kind in KINDS)]
    assert f"| {words} | {' | '.join(map(str, counts))} |" in PAGE


def test_false_and_missed_yes_have_exact_intervals():
    newtonian = TABLE["kind"] == "Newtonian"
    assert not newtonian[~GOOD].any()
    assert (TABLE["recovered"] == newtonian).all()
    none = binomtest(0, int((~GOOD).sum())).proportion_ci()
    missed = binomtest(int((~newtonian[GOOD]).sum()), int(GOOD.sum())).proportion_ci()
    assert (
        f"{(~GOOD).sum()} networks below 95 % (exact 95 % interval 0 to {none.high:.0%}".replace(
            "%", " %"
        ).replace("  %", " %")
        in PAGE
    )
    assert f"43 %; {100 * missed.low:.0f} to {100 * missed.high:.0f} %" in PAGE


def test_the_missed_have_a_long_context_and_a_family_that_is_wrong():
    missed = TABLE[GOOD & (TABLE["kind"] != "Newtonian")]
    assert set(missed["context_length"]) == {32}
    worst = missed["worst_family"]
    assert f"right on {100 * worst.min():.0f} to {100 * worst.max():.0f} %" in PAGE


def test_the_page_counts_who_was_written_blind():
    """Expected before any run, true by a map, and the verdicts before and after the lines moved."""
    table = pd.read_csv(NOTEBOOKS / "images" / "frozen.csv")
    impostors = table[table["expected"] == "no"]
    law = table[table["expected"] == "yes"]
    false_yes = impostors[impostors["kind_before"] == "Newtonian"]
    assert list(false_yes["predictor"]) == ["heavy", "wedge", "ripple"]
    assert (table["recovered_before"] == (table["kind_before"] == "Newtonian")).all()
    assert (law[["kind_before", "kind"]] == "Newtonian").all(axis=None)
    assert not (impostors["kind"] == "Newtonian").any()
    right = (table["median_error"] <= 0.02) & (table["within_10"] >= 0.95)
    right &= ~(table["kicked_within_10"] < 0.95)
    assert (right == (table["expected"] == "yes")).all()
    interval = binomtest(len(false_yes), len(impostors)).proportion_ci()
    share = len(false_yes) / len(impostors)
    words = f"({share:.0%}; {100 * interval.low:.0f} to {interval.high:.0%})"
    assert words.replace("%", " %") in PAGE
    missed = binomtest(0, len(law)).proportion_ci()
    assert (len(impostors), len(law)) == (24, 10)
    assert f"at most {missed.high:.0%} are missed".replace("%", " %") in PAGE


def test_the_log_shows_what_the_default_was_chosen_from():
    examples = NOTEBOOKS / "examples" / "calibration"
    line = runpy.run_path(str(examples / "default_model.py"))["line"]
    table = pd.read_csv(NOTEBOOKS / "images" / "default.csv")
    log = (NOTEBOOKS / "log" / "verdict.md").read_text(encoding="utf-8")
    pairs = table.groupby(["context_length", "steps"])
    assert len(pairs) == 8
    for _, seeds in pairs:
        assert line(seeds) in log
    passing = pairs.apply(
        lambda s: (s["bound_worst"] <= 0.02).all() & (s["within_10"] >= 0.95).all()
    )
    config = RunConfig().train
    assert passing[(config.context_length, config.steps)]
    assert passing.index[passing].to_list() == [(2, 500), (2, 1000), (8, 1000)]
