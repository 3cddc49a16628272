"""The paper: its sources exist. (Its numbers are claims of `test_pages`.)"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAPER = " ".join((ROOT / "notebooks" / "paper" / "paper.md").read_text("utf-8").split())


def test_what_it_cites_is_listed():
    listed = (ROOT / "notebooks" / "paper" / "paper.bib").read_text("utf-8")
    cited = set(re.findall(r"@(\w+\d{4})", PAPER))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", listed, re.MULTILINE))
