"""A study's file is checked before anything runs, and every mistake has one clear line."""

import re
from pathlib import Path

import pytest

from symreg.experiments.grid import load_study, parse_study

STUDIES = sorted((Path(__file__).parents[2] / "notebooks" / "studies").glob("*.yaml"))
GOOD = {"name": "s", "question": "What?", "grid": {"seed": [0, 1]}}


def changed(**keys):
    return GOOD | keys


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text", "a study is a mapping with name, question"),
        (changed(grids={}), "key 'grids' is not known; did you mean 'grid'?"),
        ({"question": "What?", "grid": {"seed": [0]}}, "name is missing"),
        (changed(base={"atention": "relu"}), "atention is not known; did you mean 'attention'"),
        (changed(base={"out": "x"}), "out is no option of a cell"),
        (changed(base={"steps": "many"}), "steps is 'many'; it should be"),
        (changed(base={"sources": ["kiked"]}), "did you mean 'kicked'?"),
        (changed(base={"law": "newtn"}), "did you mean 'newton'?"),
        (changed(grid={}), "grid is empty"),
        (
            changed(grid={k: list(range(1, 10**4 + 1)) for k in ("seed", "orbits", "steps")}),
            "grid: 1,000,000,000,000 cells; at most 10,000",
        ),
        (changed(figure="grd"), "figure 'grd' is not known; did you mean 'grid'?"),
        (changed(grid={"seed": []}), "seed must be a list of one or more values"),
        (changed(grid={"seed": [0, 0]}), "the cell seed 0 is there twice"),
        (changed(grid=[{"seed": [0, 1]}, {"seed": [1]}]), "the cell seed 1 is there twice"),
        (changed(grid={"context_length": [2, 100]}), "context_length 100: samples is 128"),
        (changed(grid={"law": ["3/r**2", "3*r**2"]}), "two cells would both be called"),
    ],
)  # fmt: skip
def test_a_mistake_is_named(content, message):
    with pytest.raises(ValueError) as error:
        parse_study(content)
    assert message in str(error.value)


def test_a_grid_is_every_combination_and_lists_of_grids_add_up():
    study = parse_study(
        changed(
            base={"samples": 300},
            grid=[
                {"attention": ["softmax", "lssar(p=15)"], "window": [None, 2]},
                {"attention": ["relu"], "seed": [3]},
            ],
        )
    )
    assert study.axes == ["attention", "window", "seed"]
    assert [cell.name for cell in study.cells] == [
        "attention=softmax,window=none,seed=0",
        "attention=softmax,window=2,seed=0",
        "attention=lssar_p=15,window=none,seed=0",
        "attention=lssar_p=15,window=2,seed=0",
        "attention=relu,window=none,seed=3",
    ]
    assert all(cell.config.samples == 300 for cell in study.cells)


def test_a_part_of_a_grid_may_have_a_label():
    study = parse_study(changed(grid=[{"label": "few", "seed": [0]}, {"seed": [1]}]))
    assert study.axes == ["seed"]
    assert [cell.label for cell in study.cells] == ["few", None]
    for label in ("", ["few"], 3):
        with pytest.raises(ValueError, match="label must be a text"):
            parse_study(changed(grid=[{"label": label, "seed": [0]}]))


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\n" + "\n".join(f"b{i}: &b{i} [*a, *a, *a, *a]" for i in range(40)),
        "[" * 1000 + "]" * 1000,
        "name: [",
        "\x00",
        "name: s\nquestion: \xff",
    ],
)
def test_files_that_are_no_options_are_one_clear_line(text, tmp_path, refused):
    (tmp_path / "s.yaml").write_bytes(text.encode("latin-1"))
    assert "s.yaml" in refused("symreg", "study", tmp_path / "s.yaml")


@pytest.mark.few(4)
@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_every_study_of_the_pages_is_sound(path, monkeypatch):
    monkeypatch.chdir(path.parents[2])  # they name models by paths from there
    study = load_study(path)
    assert study.name == path.stem
    assert study.question.endswith("?")
    assert re.search(r"\d+ core-minutes|not measured", study.cost)
    assert study.figures is not None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (None, "there is no file"),
        ("draw = 1", "has no FIGURE, a symreg.StudyFigure"),
        ("import nowhere_at_all", "it needs the package 'nowhere_at_all'"),
        ("1 / 0", "does not run: ZeroDivisionError"),
    ],
)
def test_a_figure_that_cannot_be_had_is_refused_before_anything_runs(code, message, tmp_path):
    if code is not None:
        (tmp_path / "mine.py").write_text(code)
    with pytest.raises(ValueError, match=message):
        parse_study(changed(figure="mine.py"), tmp_path)
