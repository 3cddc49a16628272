"""The paper: its sources exist; its numbers stand on pages that are compared with their files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAPER = " ".join((ROOT / "notebooks" / "paper" / "paper.md").read_text("utf-8").split())
STANDS = {
    "21 to 31 %": ("notebooks/explanation/trap.md", "21 to 31 %"),
    "141 to 199 %": ("notebooks/explanation/trap.md", "141 to 199 %"),
    "In 230 networks": ("notebooks/explanation/target.md", "The study has 230 cells"),
    "passes 83 of the 122 networks without it": (
        "notebooks/explanation/probes.md", "passes 83 of 122"
    ),
    "miss 8 of the 19 others": ("notebooks/explanation/probes.md", "they miss 8 of 19 networks"),
    "laws pass 3 and miss 1": (
        "notebooks/explanation/probes.md", "miss 1 of 19 (0 to 26 %), and pass 3"
    ),
    "These are 141 networks": ("notebooks/explanation/probes.md", "put to 141 small networks"),
    "19 of them have the force": ("notebooks/explanation/probes.md", "19 networks have the force"),
    "Nineteen published or usual probes": ("notebooks/explanation/probes.md", "Here 19 of them"),
    "342 of 360 tables of FastSRB's 120 laws": (
        "README.md", "342 of 360 tables of FastSRB's 120 laws"
    ),
    "mass to 0.02 % and its place to 0.0075 degrees": (
        "README.md", "mass to 0.02 % and its place to 0.0075 degrees"
    ),
    "none of the 23": ("README.md", "0 of the 23"),
    "32 of the 61": ("README.md", "32 of the 61"),
}  # fmt: skip


@pytest.mark.parametrize("said", STANDS)
def test_what_the_paper_says_stands_on_a_page(said):
    page, there = STANDS[said]
    assert said in PAPER
    assert there in " ".join((ROOT / page).read_text("utf-8").split())


def test_every_number_of_its_results_is_among_them():
    results = PAPER.split("# What it has shown")[1].split("# References")[0]
    named = " ".join(STANDS)
    numbers = set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"\$[^$]*\$", "", results)))
    assert numbers - set(re.findall(r"\d+(?:\.\d+)?", named)) <= {"100", "5", "3", "0.9"}


def test_what_it_cites_is_listed():
    listed = (ROOT / "notebooks" / "paper" / "paper.bib").read_text("utf-8")
    cited = set(re.findall(r"@(\w+\d{4})", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", listed, re.MULTILINE))
