"""What people read speaks of the project alone: no machine's day, no placeholder, no old name."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = (".md", ".py", ".pyi", ".yaml", ".yml", ".toml", ".cff", ".ipynb", ".txt", ".sh", "")
OF_THE_PROJECT_ALONE = {
    "an old name": r"princip[i]a\b|kick[t]est\b|\bLOG[.]md",
    "a placeholder": r"ADDRESS[-]OF|lorem[ ]ipsum|\bXX[X]\b|\bTBD[.]?\b",
    "the state of a machine": r"\(load \d|under a load of|\b(a|an|one) (busy|idle) core\b"
    r"|beside (other work|one process|two other processes)|shared (machine|cores)|loaded core",
    "how it was made": r"\bmutan[t]s?\b|this sessio[n]\b|not kep[t]\)|not waited fo[r]",
}
OF_THE_FIELD = {
    "probe": r"\bread-outs?\b",
    "predicts": r"\bforet(ell|old)",
    "indistinguishable": r"not to be told",
    "narrowly": r"\bjust about\b",
    "is no evidence": r"\bshows nothing\b",
    "does not follow an exchange": r"\bprobe that is not followed\b",
    "the same in Python": r"\bthe way of `",
    "it needs no GPU": r"\bno GPU, no\b",
    "obeys the force": r"\bh(o|e)lds? the force\b",
    "is right about the force": r"know(s|n)? (the|a|no) force\b|believes? in (newton|the law)",
}


def tracked(*endings):
    """Paths of tracked text, but this file's."""
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    paths = (ROOT / name for name in names if name and Path(name).suffix in endings)
    return [path for path in paths if path.is_file() and path != Path(__file__)]


def lines_with(pattern, paths):
    sought = re.compile(pattern, re.IGNORECASE)
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="ignore")
        if path.suffix == ".ipynb":
            text = re.sub(r'"image/png": "[^"]*"', "", text)
        for number, line in enumerate(text.splitlines(), 1):
            if sought.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"


@pytest.mark.parametrize("what", OF_THE_PROJECT_ALONE)
def test_no_tracked_text_speaks_of(what):
    assert list(lines_with(OF_THE_PROJECT_ALONE[what], tracked(*TEXTS))) == []


@pytest.mark.parametrize("word", OF_THE_FIELD)
def test_pages_use_the_words_of_the_field(word):
    pages = [path for path in tracked(".md", ".ipynb") if path.name != "CHANGELOG.md"]
    assert list(lines_with(OF_THE_FIELD[word], pages)) == []
