"""The referee, given what is no table, no setting and no folder: one line, and nothing left."""

import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[1] / "notebooks"
REFEREE = ROOT / "examples" / "referee"
TABLE = pd.read_csv(ROOT / "images" / "probes.csv")


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(REFEREE))
    names = ("comparison", "networks")
    yield {name: runpy.run_path(str(REFEREE / f"{name}.py")) for name in names}
    sys.path.remove(str(REFEREE))


@pytest.fixture
def refused(scripts, tmp_path, monkeypatch, capsys):
    """Run a script in an empty folder: exit code 2, and its last line."""
    monkeypatch.chdir(tmp_path)

    def run(name, *words):
        before = sorted(tmp_path.rglob("*"))
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *words])
        with pytest.raises(SystemExit) as ended:
            scripts[name]["main"]()
        assert ended.value.code == 2
        assert sorted(tmp_path.rglob("*")) == before
        return capsys.readouterr().err.splitlines()[-1]

    return run


TABLES = {
    "without the truth": (TABLE.drop(columns="within_10"), "lacks the columns within_10"),
    "without laws": (TABLE.drop(columns="law"), "lacks the columns law"),
    "without seconds": (TABLE.drop(columns="far_seconds"), "lacks the columns far_seconds"),
    "without probes": (TABLE.iloc[:, :12], "lacks the columns of every probe"),
    "empty": (TABLE.iloc[:0], "holds what is no number"),
    "one alone": (TABLE.iloc[:1], "needs networks with Newton's force, and some without"),
    "words": (TABLE.assign(far="yes"), "far holds what is no number"),
}


@pytest.mark.parametrize(("table", "words"), TABLES.values(), ids=TABLES)
def test_a_table_that_is_none_is_not_compared(refused, table, words):
    table.to_csv("t.csv", index=False)
    said = refused("comparison", "t.csv", "p.png")
    assert said.startswith("comparison.py: error: t.csv")
    assert words in said


def test_the_figure_is_never_the_table(refused):
    TABLE.to_csv("t.csv", index=False)
    assert "would overwrite the table" in refused("comparison", "t.csv", "./t.csv")
    assert "gone.csv is no table of scores" in refused("comparison", "gone.csv", "p.png")


GRID = "target: [residual], context_length: [2], attention: [softmax], seed: [0], steps: [1]"
SETTINGS = {
    "a list": ("- newton\n", "no mapping of laws"),
    "no law": (f"newtom: [{{{GRID}}}]\n", "did you mean 'newton'"),
    "no list": (f"newton: [{{{GRID.replace('[0]', '0')}}}]\n", "lists of values by option"),
    "no steps": ("newton: [{seed: [0]}]\n", "steps, target is missing"),
    "no option": (f"newton: [{{{GRID}, stepz: [1]}}]\n", "stepz is not known"),
    "no attention": (f"newton: [{{{GRID.replace('softmax', 'softmx')}}}]\n", "'softmx'"),
    "twice": (f"newton: [{{{GRID}}}]\nnewton: [{{{GRID}}}]\n", "it gives newton twice"),
}


@pytest.mark.parametrize(("text", "words"), SETTINGS.values(), ids=SETTINGS)
def test_settings_that_are_none_are_refused_before_any_training(
    refused, scripts, text, words, tmp_path, monkeypatch
):
    (tmp_path / "networks.yaml").write_text(text)
    monkeypatch.setitem(scripts["networks"]["settings"].__globals__, "ROOT", tmp_path)
    assert words in refused("networks", "folder", "t.csv")


@pytest.mark.parametrize("share", ["2/2", "x", "1/0", "-1/2"])
def test_a_share_of_the_work_that_is_none_is_refused(refused, share):
    assert "--share is" in refused("networks", "folder", "t.csv", f"--share={share}")


def test_a_damaged_row_is_named(refused, scripts, tmp_path, monkeypatch):
    cell = next(iter(scripts["networks"]["settings"]()))
    folder = tmp_path / "n" / scripts["networks"]["name_of"](*cell.values())
    folder.mkdir(parents=True)
    monkeypatch.setitem(scripts["networks"]["work"].__globals__, "settings", lambda: [cell])
    for damage in ("{", "[]", ""):
        (folder / "row.json").write_text(damage)
        assert "row.json is" in refused("networks", "n", "t.csv")
