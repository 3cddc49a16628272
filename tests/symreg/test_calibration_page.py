"""What the page of the verdict says of its calibration is in the tables."""

import runpy
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
TABLE = pd.read_csv(NOTEBOOKS / "images" / "calibration.csv")
DEPARTURES = pd.read_csv(NOTEBOOKS / "images" / "departures.csv")
PAGE = " ".join((NOTEBOOKS / "explanation" / "verdict.md").read_text(encoding="utf-8").split())
GOOD = TABLE["map_within_10"] >= 0.95


def test_earlier_gates_accepted_none_that_is_wrong_and_rejected_some_that_are_right():
    newtonian = TABLE["kind"] == "Newtonian"
    assert not newtonian[~GOOD].any()
    assert (TABLE["recovered"] == newtonian).all()
    missed = ~newtonian[GOOD]
    assert f"Of {len(TABLE)} networks they accepted none of the {(~GOOD).sum()} that" in PAGE
    assert f"({ends(newtonian[~GOOD])})" in PAGE
    share = f"{100 * missed.mean():.0f} %; {ends(missed)}"
    assert f"rejected {missed.sum()} of the {len(missed)} others ({share}" in PAGE


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
    accepted = impostors["kind_before"] == "Newtonian"
    assert (len(impostors), len(law)) == (24, 10)
    assert f"three of {len(impostors)} impostors" in PAGE
    assert f"({100 * accepted.mean():.0f} %; {ends(accepted)}" in PAGE


def test_the_log_shows_what_the_former_default_was_chosen_from():
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
    assert passing.index[passing].to_list() == [(2, 500), (2, 1000), (8, 1000)]


@pytest.mark.parametrize(
    ("words", "low", "high"),
    [
        ("0 to 80 %", 0, 0.8),
        ("80 to 95 %", 0.8, 0.95),
        ("95 to 99 %", 0.95, 0.99),
        ("99 to 100 %", 0.99, 1.1),
    ],
)
def test_a_row_of_the_curve_counts_the_departures(words, low, high):
    yes = DEPARTURES["newtonian"][DEPARTURES["within_10"].between(low, high, inclusive="left")]
    assert f"| {words} | {len(yes)} | {yes.sum()} ({ends(yes)}) |" in PAGE


def test_the_curve_s_false_and_missed_yes_are_those_of_its_table():
    yes, right = DEPARTURES["newtonian"], DEPARTURES["within_10"] >= 0.95
    median = DEPARTURES["median"]
    close = right & (median <= 0.03)
    assert len(DEPARTURES) == 100
    assert f"accepted {yes[~right].sum()} of {(~right).sum()} wrong forces" in PAGE
    assert f"({ends(yes[~right])}); {(DEPARTURES['within_10'] < 0.8).sum()} of these" in PAGE
    assert f"rejected {(~yes[right]).sum()} of {right.sum()} forces" in PAGE
    close_ones = f"Of the {close.sum()} right ones with a median error of at most 3 %"
    assert f"{close_ones} it rejected {(~yes[close]).sum()}" in PAGE
    assert f"({ends(~yes[close])})" in PAGE
    first = DEPARTURES["failed"][close & ~yes].str.split("; ").str[0]
    assert f"{(first == 'nothing else for certain').sum()} of the {len(first)} for a part" in PAGE
    coarse = median >= 0.01
    assert f"Of the {coarse.sum()} forces with a median error of 1 %" in PAGE
    assert f"it accepted {yes[coarse].sum()}." in PAGE


def test_the_seeds_of_the_default_are_those_of_their_table():
    networks = pd.read_csv(NOTEBOOKS / "images" / "default_seeds.csv")
    law = (networks["kind"] == "law") & networks["recovered"]
    assert f"{law.sum()} hold the law and are recovered ({ends(law)}" in PAGE


def ends(yes):
    """Of the exact 95 % interval of a share."""
    low, high = binomtest(int(yes.sum()), len(yes)).proportion_ci()
    return f"{100 * low:.0f} to {100 * high:.0f} %"
