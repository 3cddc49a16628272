"""The numbers of the calibration page are those of its table."""

import runpy
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binomtest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
KINDS = ("Newtonian", "another force", "as a lookup would", "Keplerian", "neither")
TABLE = pd.read_csv(NOTEBOOKS / "images" / "calibration.csv")
DEPARTURES = pd.read_csv(NOTEBOOKS / "images" / "departures.csv")
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
    ("name", "words", "low", "high"),
    [
        ("within_10", "0 to 80 %", 0, 0.8), ("within_10", "80 to 95 %", 0.8, 0.95),
        ("within_10", "95 to 99 %", 0.95, 0.99), ("within_10", "99 to 100 %", 0.99, 1.1),
        ("median", "0 to 0.5 %", 0, 0.005), ("median", "0.5 to 1 %", 0.005, 0.01),
        ("median", "1 to 2 %", 0.01, 0.02), ("median", "2 to 3 %", 0.02, 0.03),
        ("median", "above 3 %", 0.03, 9),
    ],
)  # fmt: skip
def test_a_row_of_the_curve_counts_the_departures(name, words, low, high):
    yes = DEPARTURES["newtonian"][DEPARTURES[name].between(low, high, inclusive="left")]
    assert f"| {words} | {len(yes)} | {yes.sum()} ({ends(yes)}) |" in PAGE


def test_the_curve_s_false_and_missed_yes_are_those_of_its_table():
    yes, right = DEPARTURES["newtonian"], DEPARTURES["within_10"] >= 0.95
    bad, good = yes[~right], ~yes[right & (DEPARTURES["median"] <= 0.03)]
    assert len(DEPARTURES) == 100
    for text in (PAGE, (NOTEBOOKS.parent / "README.md").read_text()):
        for words in (f"{bad.sum()} of", f"({ends(bad)})", f"({ends(good)})"):
            assert words in text
    assert f"{bad.sum()} of {len(bad)} with fewer than 95 %" in PAGE
    assert f"{good.sum()} of {len(good)} with at least 95 %" in PAGE


def ends(yes):
    """Of the exact 95 % interval of a share."""
    low, high = binomtest(int(yes.sum()), len(yes)).proportion_ci()
    return f"{100 * low:.0f} to {100 * high:.0f} %"
