"""What people read speaks of the project alone: no machine's day, no placeholder, no old name."""

import ast
import inspect
import re
import subprocess
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = (".md", ".py", ".pyi", ".yaml", ".yml", ".toml", ".cff", ".ipynb", ".txt", ".sh", "")
PACKAGES = ("orbits", "worldmodel", "symreg")
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
    "obeys the force": r"\bh(o|e)lds? (the|a|no) force\b(?! samples)|\bholding a force\b",
    "benchmarks": r"(?<![\w/*])boards?\b(?!\.md)",
    "a threshold": r"\bthe lines moved|nearest to the line|\blines of today\b|the line is not",
    "required": r"found \S+, asked\b|\(asked:|\bis asked for twice",
    "scored with earlier thresholds": r"\bgates of (the|their) time\b|\bold gates\b"
    r"|\bplanned states of before\b",
    "ranking is easy": r"\border is easy\b",
    "newer kinds": r"\bkinds since\b|\bwhat came since\b",
    "on 90 % of": r"\bnine (states|in|of) (in )?ten\b",
    "is found in": r"\bcomes? out of (permuted|states whose|orbits whose)\b",
    "is no evidence of": r"\bproves nothing\b",
    "before": r"\bof then\b",
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


def readable():
    """Pages without the entries of the log, which are kept as they were written."""
    for path in tracked(".md", ".ipynb"):
        if path.name != "CHANGELOG.md":
            text = path.read_text(encoding="utf-8")
            text = text.split("\n## ")[0] if path.parent.name == "log" else text
            yield str(path.relative_to(ROOT)), re.sub(r'"image/png": "[^"]*"', "", text)


def docstrings():
    """Of what the reference shows: public names and what they do."""
    for package in PACKAGES:
        for name in import_module(package).__all__:
            shown = getattr(import_module(package), name)
            members = vars(shown).items() if inspect.isclass(shown) else ()
            public = [shown, *(each for key, each in members if not key.startswith("_"))]
            yield f"{package}.{name}", "\n".join(inspect.getdoc(each) or "" for each in public)


def printed():
    """Strings of the programs that are no docstrings."""
    for path in (p for name in PACKAGES for p in (ROOT / name).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        bare = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in bare and " " in node.value
        ]
        yield str(path.relative_to(ROOT)), "\n".join(texts)


@pytest.mark.parametrize("texts", [readable, docstrings, printed])
def test_what_people_read_uses_the_words_of_the_field(texts):
    found = [
        f"{where}: {said[0]!r} ({word})"
        for where, text in texts()
        for word, pattern in OF_THE_FIELD.items()
        for said in re.finditer(pattern, text, re.IGNORECASE)
    ]
    assert not found, "\n".join(found)
