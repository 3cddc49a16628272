"""What the README shows works: its commands are understood, its verdict is what a run prints."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from symreg.cli import main as symreg_main

README = Path(__file__).parents[1] / "README.md"
RESULTS = README.parent / "notebooks" / "results.md"
PROGRAMS = ("orbits", "worldmodel", "symreg")


def blocks_of(language, page=README):
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == language]


def commands():
    text, blocks = README.read_text(encoding="utf-8"), blocks_of("sh")
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    inline = re.findall(r"`((?:symreg|orbits|worldmodel) [a-z]+ [^`]+)`", text)
    words = [shlex.split(line, comments=True) for line in [*lines, *inline]]
    words = [part[part.index("symreg") :] if "symreg" in part else part for part in words]
    return [part for part in words if part and part[0] in PROGRAMS and len(part) > 1]


def test_the_readme_installs_runs_and_names_every_package():
    text = README.read_text(encoding="utf-8")
    assert blocks_of("sh")[0].splitlines() == ["pip install -e .", "symreg run"]
    assert '`pip install -e ".[test]" && pytest`' in text
    assert all(f"`{program}`" in text for program in PROGRAMS)
    assert len(commands()) >= 3


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_of_the_readme_is_understood(words, at_the_door, capsys):
    program, *arguments = words
    if arguments[-1] in ("--help", "-h"):
        arguments = arguments[:-1]
    code = at_the_door(program, arguments)
    error = capsys.readouterr().err
    without_julia = "pysr" in words and "engine pysr cannot run" in error
    assert code == 0 or without_julia, error


def test_what_the_readme_links_to_exists():
    text = README.read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert len(links) > 15
    assert [link for link in links if not (README.parent / link.split("#")[0]).exists()] == []


def test_the_readme_quotes_what_the_page_of_results_says_a_run_prints():
    quoted, printed = (
        " ".join(" ".join(re.findall(r"^> (.+)$", text.read_text("utf-8"), re.MULTILINE)).split())
        for text in (README, RESULTS)
    )
    assert quoted.startswith("World model: law.")
    assert printed.startswith(quoted)


@pytest.mark.slow
def test_a_run_prints_what_the_page_of_results_shows(tmp_path, capsys, monkeypatch):
    """Words to the letter; numbers within 1 %, since processors round differently; errors on far
    states, and intervals of another form, within a half."""
    monkeypatch.setenv("COLUMNS", "120")  # as wide as in a file
    text = RESULTS.read_text(encoding="utf-8")
    (shown,) = (block for block in blocks_of("", RESULTS) if block.startswith("states"))
    (drawn,) = re.findall(r"examination (\d+)", text)
    run = str(tmp_path / "run")
    assert symreg_main(["run", "--exam-seed", drawn, "--out", run]) == 0
    out = capsys.readouterr().out
    printed = [row.split() for row in out.splitlines() if row.strip()]
    number = re.compile(r"-?\d+(?:\.\d+)?")
    quoted = " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())
    told = " ".join(out.split())
    for part in ("World model: ", "Of 2000 states"):
        said, found = (t[t.index(part) :].split(". ")[0] for t in (quoted, told))
        assert number.sub("#", found) == number.sub("#", said)
    _, _, *rows = shown.strip().splitlines()
    for expected in (row for row in rows if not row.startswith(" ")):  # the rest of a cell
        name = expected.split()[0]
        (found,) = (row for row in printed if row[0] == name and len(row) > 5)
        row = " ".join(found)
        assert number.sub("#", row) == number.sub("#", " ".join(expected.split()))
        values = [list(map(float, number.findall(line))) for line in (row, expected)]
        if "another form" in row:  # of noise: a matter of the draw
            assert values[0] == pytest.approx(values[1], rel=0.5, abs=2)
            continue
        if row.endswith("%"):
            drawn = [each.pop() for each in values]
            assert drawn[0] == pytest.approx(drawn[1], rel=0.5, abs=0.1)
        assert values[0] == pytest.approx(values[1], rel=0.01, abs=0.02)


def test_changelog_and_citation_name_the_version_of_the_distribution():
    root = README.parent
    version = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    newest = re.findall(r"^## (.+)$", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[0]
    assert newest == version
    assert f"\nversion: {version}\n" in (root / "CITATION.cff").read_text()
