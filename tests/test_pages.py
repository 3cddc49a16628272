"""The documentation: what its pages show is understood and runs, and the site builds strictly."""

import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import binomtest, mannwhitneyu

import orbits
import symreg
import worldmodel
from orbits.options import option_names
from symreg.cli import main as symreg_main
from symreg.experiments.config import RunConfig
from worldmodel.loading import executed

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "notebooks" / "images"
STUDIES = ROOT / "notebooks" / "studies"
LOG = ROOT / "notebooks" / "log"
"""Its commands are those of their day; every other page shows today's."""
PAGES = sorted(page for page in (ROOT / "notebooks").rglob("*.md") if page.parent != LOG)
PROGRAMS = ("orbits", "worldmodel", "symreg")
SMALLER = {
    r"orbits=\d+": "orbits=40",
    r"steps=\d+": "steps=20",
    r"timeout_in_seconds=\d+": "timeout_in_seconds=1",
}
SMALL_SEARCH = {"seeds": 1, "null": False}


def blocks(page, language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    return found


def commands():
    for page in PAGES:
        lines = [line for block in blocks(page, "sh") for line in block.splitlines()]
        inline = re.findall(r"`((?:symreg|orbits|worldmodel) [a-z]+ [^`]+)`", page.read_text())
        for line in (*lines, *inline):
            words = shlex.split(line, comments=True)
            if words and words[0] in PROGRAMS:
                yield page.relative_to(ROOT / "notebooks").as_posix(), words


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notebooks").symlink_to(ROOT / "notebooks")  # of a clone: the examples
    (page,) = (page for page in PAGES if page.stem == "own-model")
    (tmp_path / "mine.py").write_text(blocks(page, "python")[0])
    (tmp_path / "theirs.py").write_text(*blocks(page, 'python title="theirs.py"'))
    for name in ("zoo/newton_kepler.py", "zoo/nanogpt.py", "libraries/gpt.py"):
        shutil.copy(ROOT / "notebooks" / "examples" / name, tmp_path)
    (page,) = (page for page in PAGES if page.stem == "study")
    (tmp_path / "mine.yaml").write_text(blocks(page, "yaml")[0])
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.uniform(1, 2, (60, 3)), columns=["r", "m1", "m2"])
    table["F"] = 39.5 * table.m1 * table.m2 / table.r**2
    table["s"], table["run"] = 0.01, np.arange(60) % 6
    table.to_csv("table.csv", index=False)
    (tmp_path / "hall_of_fame.csv").write_text("Complexity,Loss,Equation\n5,1,m1*m2/r\n")
    return tmp_path


@pytest.mark.parametrize(("page", "words"), list(commands()), ids=str)
def test_a_command_of_a_page_is_understood(page, words, folder, at_the_door, capsys):
    program, *arguments = words
    if len(arguments) == 1 and arguments[0].startswith("-"):
        return
    scheduler = "--scheduler" in arguments
    code = at_the_door(program, arguments)
    error = capsys.readouterr().err
    elsewhere = "engine pysr cannot run" in error or (scheduler and "no dask scheduler" in error)
    assert code == 0 or elsewhere, error


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.stem)
def test_the_python_of_a_page_runs(page, folder, monkeypatch):
    monkeypatch.setattr(worldmodel, "train", partial(worldmodel.train, steps=20))
    monkeypatch.setattr(symreg, "recover", partial(symreg.recover, **SMALL_SEARCH))
    found = {}
    for block in blocks(page, "python"):
        for number, smaller in SMALLER.items():
            block = re.sub(number, smaller, block)
        exec(block, found)


def test_the_gpt_of_the_examples_is_trained_on_the_orbits_of_a_run(folder):
    data = orbits.generate("train.zarr", orbits=20, samples=40, seed=0)
    text = (folder / "gpt.py").read_text()
    (folder / "gpt.py").write_text(text.replace("steps = 1000", "steps = 20"))
    model = worldmodel.load_predictor("gpt.py:make", seed=0, data="train.zarr")
    positions = data["position"].values
    error = np.linalg.norm(model.predict(positions)[:, 7:-1] - positions[:, 8:], axis=-1)
    step = np.linalg.norm(np.diff(positions[:, 7:], axis=1), axis=-1)
    # before any training the residual is of order one of its unit, about a tenth of a step
    assert np.median(error / step) < 0.3


def two_stars():
    """The table at the top of the page of trajectories, and a row for each time in it."""
    data = orbits.generate(
        system="barycentric", orbits=1, samples=400, dtype="float64", seed=0, workers=1
    )
    km = (data.position.values[0] * 1.495978707e8).round().reshape(-1, 4)
    table = pd.DataFrame(km, columns=["x1", "y1", "x2", "y2"])
    table.insert(0, "time", (data.time.values * 365.25).round(6))
    table.to_csv("stars.csv", index=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["own-table", "own-trajectories"])
def test_the_first_command_of_a_page_prints_what_the_page_shows(name, folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    page = ROOT / "notebooks" / "how-to" / f"{name}.md"
    exec(blocks(page, "python")[0], {}) if name == "own-table" else two_stars()
    rows, shown = blocks(page, "text")[:2]
    (words,) = (shlex.split(line) for line in blocks(page, "sh")[0].splitlines())
    assert rows.splitlines()[:3] == Path(words[2]).read_text().splitlines()[:3]
    assert symreg_main(words[1:]) == 0
    printed = capsys.readouterr().out
    number = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?")
    assert number.sub("#", printed).split() == number.sub("#", shown).split()
    values = [[float(n) for n in number.findall(text)] for text in (printed, shown)]
    assert values[0] == pytest.approx(values[1], rel=0.02, abs=0.1)


@pytest.mark.parametrize("package", PROGRAMS)
def test_the_reference_of_a_package_has_every_public_name_once(package):
    page = (ROOT / "notebooks" / "reference" / f"{package}.md").read_text()
    shown = re.findall(rf"^::: {package}\.(\w+)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(set(import_module(package).__all__) - {"__version__"})


def test_the_study_of_the_page_has_every_key(folder):
    from symreg.experiments.grid import KEYS, load_study

    assert tuple(yaml.safe_load((folder / "mine.yaml").read_text())) == KEYS
    assert len(load_study(folder / "mine.yaml").cells) == 9


def test_a_table_of_options_has_all_of_them():
    tables = runpy.run_path(str(ROOT / "notebooks" / "option_tables.py"))
    table = tables["table"]("symreg.experiments.config.RunConfig")
    for name in option_names(RunConfig):
        assert f"`{name}`" in table, name


def test_asterisks_and_bars_of_a_help_text_reach_the_page():
    tables = runpy.run_path(str(ROOT / "notebooks" / "option_tables.py"))
    assert r'"k\*r\*\*-2.5"' in tables["table"]("orbits.config.GenerateConfig")
    assert tables["cell"]("a_1*b|c, as `d*e|f`") == r"a\_1\*b\|c, as `d*e\|f`"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("mkdocs") is None, reason="the extra docs is not installed")
def test_the_site_is_built_without_a_warning_and_fetches_nothing(tmp_path):
    site = tmp_path / "site"
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(site)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    fetched = re.compile(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="https?://')
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 25
    assert [page.name for page in pages if fetched.search(page.read_text())] == []
    for package in PROGRAMS:
        shown = (site / "reference" / f"{package}.html").read_text()
        for name in set(import_module(package).__all__) - {"__version__"}:
            assert re.search(rf'id="{package}[\w.]*\.{name}"', shown), name
    found = (site / "search" / "search_index.json").read_text()
    for word in ("How to cite", "Outliers", "LaTeX", "DataLoader"):
        assert word in found, word


@pytest.mark.parametrize(("name", "lawful"), [("newtonian", True), ("displacement", False)])
def test_an_example_report_is_small_needs_nothing_else_and_says_what_its_page_says(name, lawful):
    report = ROOT / "notebooks" / "reports" / f"{name}.html"
    text = report.read_text()
    assert report.stat().st_size < 1_500_000
    assert not re.search(r'<(?:script|link|img|iframe)[^>]*(?:src|href)="(?!data:)', text)
    assert ("World model: law." in text) == lawful
    command = re.search(r'id="command">symreg run ?(.*)</pre>', text)[1].split()
    page = (ROOT / "notebooks" / "how-to" / "own-model.md").read_text()
    lines = re.findall(rf"^symreg run (.*)--out runs/{name}$", page, re.MULTILINE)
    assert sorted(lines[0].split()) == sorted(command)


def test_the_gallery_has_ten_pictures_each_behind_the_lines_that_make_it():
    page = (ROOT / "notebooks" / "gallery.md").read_text()
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    assert len(parts) == 10
    shown = r'^```python\n.*?^```\n\n(?:!\[.+\]\(|<iframe .*src=")(images/gallery/[^")]+)'
    for part in parts:
        (picture,) = re.findall(shown, part, re.DOTALL | re.MULTILINE)
        assert (ROOT / "notebooks" / picture).stat().st_size < 200_000, picture  # 2000 states


DRAWN = runpy.run_path(str(ROOT / "notebooks" / "drawn.py"))


@pytest.mark.parametrize("name", DRAWN["FROM_TABLES"])
def test_a_picture_of_a_table_is_drawn_from_what_both_are_today(name):
    picture = ROOT / "notebooks" / "images" / f"{name}.png"
    mark = DRAWN["mark_of"](DRAWN["inputs_of"](name))
    assert DRAWN["mark_in"](picture) == mark, "run `python notebooks/drawn.py`"


def test_every_picture_of_the_gallery_is_drawn_from_what_the_page_is_today():
    mark = DRAWN["mark_of"](["notebooks/gallery.md", *DRAWN["LOOKS"]])
    for picture in (ROOT / "notebooks" / "images" / "gallery").glob("*.png"):
        told = f"{picture.name}: run `python notebooks/drawn.py --gallery`"
        assert DRAWN["mark_in"](picture) == mark, told


def test_a_mark_changes_with_what_is_drawn_and_not_with_what_is_said_of_it(tmp_path):
    code = tmp_path / "figure.py"
    marks = []
    for text in ("x = 1", "x = 1  # one", '"""Said."""\nx = 1', "x = 2"):
        code.write_text(text)
        marks.append(DRAWN["mark_of"]([str(code)]))
    assert marks[0] == marks[1] == marks[2] != marks[3]


@pytest.mark.slow
def test_the_figure_of_the_pair_is_drawn(tmp_path, monkeypatch, capsys):
    script = str(ROOT / "notebooks" / "examples" / "home" / "two_models.py")
    out, table = tmp_path / "two.png", tmp_path / "two.csv"
    small = ["--orbits", "80", "--steps", "5", "--seeds", "3"]
    monkeypatch.setattr(sys, "argv", [script, str(out), str(table), *small])
    runpy.run_path(script, run_name="__main__")
    assert out.stat().st_size > 0
    assert list(pd.read_csv(table)["target"]) == ["residual", "displacement"]
    assert "seed 3, displacement, 5 steps: next position off by" in capsys.readouterr().out


@pytest.mark.slow
def test_the_moving_picture_of_the_pair_is_drawn(tmp_path, monkeypatch, capsys):
    script = ROOT / "notebooks" / "examples" / "home" / "kick.py"
    out = tmp_path / "kick.html"
    monkeypatch.setattr(sys, "argv", [str(script), str(out), "--orbits", "80", "--steps", "5"])
    monkeypatch.syspath_prepend(script.parent)  # as for a script
    runpy.run_path(str(script), run_name="__main__")
    assert "trained on the displacement: force off by" in capsys.readouterr().out
    committed = (ROOT / "notebooks" / "images" / "kick.html").read_text()
    page, old = (text.partition('id="shown">')[0] for text in (out.read_text(), committed))
    assert page == old, "draw images/kick.html anew"


def test_the_home_page_is_short_and_says_what_its_figure_shows():
    page = (ROOT / "notebooks" / "index.md").read_text()
    assert len(page.split()) <= 300
    assert "pip install -e ." in page
    table = pd.read_csv(ROOT / "notebooks" / "images" / "beyond.csv")
    shown = table[table["seed"] == 0].set_index(["who", "distances"])
    inside = shown.xs("where it was trained", level="distances")
    assert len(inside) == 3
    assert inside["within_10"].min() >= 0.95
    far = shown.xs("up to 10 times the farthest", level="distances")
    assert f"median error is {100 * far['error']['network in logarithms']:.1f} % (seed 0" in page
    assert far["within_10"].drop("network in logarithms").max() == 0


def test_the_page_of_the_pair_says_what_its_moving_picture_shows():
    picture = (ROOT / "notebooks" / "images" / "kick.html").read_text()
    shown = json.loads(re.search(r'id="shown">(.*)</script>', picture)[1])
    step = np.array(shown["step"])
    left, right = (100 * np.array(panel["error"]) for panel in shown["panels"])
    page = " ".join((ROOT / "notebooks" / "explanation" / "trap.md").read_text().split())
    before, after, later = step <= 0, (step > 0) & (step <= 8), step >= 32
    assert (
        f"at most {left[before].max():.0f} % (left) and {right[before].max():.0f} % (right)" in page
    )
    assert f"the left one is off by {left[after].min():.0f} to {left[after].max():.0f} %" in page
    assert f"the right one by {right[after].min():.0f} to {right[after].max():.0f} %" in page
    low, high = right[later].min(), right[later].max()
    assert f"The right one is off by {low:.0f} to {high:.0f} % when the old" in page


def test_the_page_of_the_pair_says_what_the_pairs_of_equal_accuracy_show():
    """Each number of the paragraph under the figure is one of its table."""
    table = pd.read_csv(ROOT / "notebooks" / "images" / "two_models.csv").set_index("target")
    text = (ROOT / "notebooks" / "explanation" / "trap.md").read_text()
    said = " ".join(text[text.index("Two transformers") :].split("\n\n")[0].split())
    both = {name: table.loc[name] for name in ("residual", "displacement")}

    def span(target, column, digits=0):
        values = 100 * both[target][column]
        return f"{values.min():.{digits}f} to {values.max():.{digits}f} %"

    for target in both:
        assert span(target, "far_error") in said
        assert span(target, "after_16_steps", 1) in said
        assert span(target, "next_position", 3) in said
    pairs = table.pivot(columns="seed")["next_position"]
    assert (pairs.loc["residual"] <= pairs.loc["displacement"]).all()


def test_the_table_of_pairs_is_that_of_its_study():
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "paired.csv")
    made = executed(STUDIES / "paired.py", "paired").FIGURE.summary(cells).fillna("–").astype(str)
    page = (ROOT / "notebooks" / "explanation" / "target.md").read_text()
    table = page[page.index(f"| {' | '.join(made.columns)} |") :].split("\n\n")[0].splitlines()
    heads, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table)
    assert heads == list(made.columns)
    assert rows == made.to_numpy().tolist()


@pytest.mark.parametrize("page", sorted(set(LOG.glob("*.md")) - {LOG / "index.md"}), ids=str)
def test_a_page_of_the_log_opens_with_what_is_known(page):
    """In some ten lines; its entries are folded on the site."""
    fold = runpy.run_path(str(ROOT / "notebooks" / "folded.py"))["on_page_content"]
    answer, *entries = page.read_text(encoding="utf-8").split("\n## ")
    assert "**What is known" in answer
    assert len(answer.split()) < 250
    html = "".join([answer, *(f"<h2 id='a'>{entry}</h2><p>{entry}</p>" for entry in entries)])
    name = SimpleNamespace(file=SimpleNamespace(src_uri=f"log/{page.name}"))
    shown = fold(html, page=name)
    assert shown.startswith(answer)
    assert shown.count("<details") == shown.count("</details>") == len(entries)


FIRST = "765c06b"
"""Commit of the cells on which the variable of the page was found."""


def test_what_the_curve_predicts_is_that_of_its_cells():
    identify = executed(STUDIES / "identify.py", "identify")
    cells = identify.usual(pd.read_csv(ROOT / "notebooks" / "images" / "identify.csv"))
    cells = cells[cells[identify.LEFT] > 0]
    beyond = identify.beyond_curve(cells, cells["git_commit"] == FIRST, 0.85)
    page = (LOG / "identify.md").read_text()
    for (kind, dt), off in beyond.groupby([cells["attention"], cells["dt"]]):
        rms = np.sqrt(np.mean(off**2))
        assert f"| {kind} | {dt:g} | {len(off)} | {rms:.2f} | {off.mean():+.2f} |" in page


def words_of(page):
    return prose(f"notebooks/explanation/{page}.md")


def test_what_the_page_of_targets_says_of_all_cells_is_in_their_table():
    identify = executed(STUDIES / "identify.py", "identify")
    table = pd.read_csv(ROOT / "notebooks" / "images" / "identify.csv")
    page = words_of("target")
    usual = table[(table["steps"] == 3000) & (table["dt"] == 0.008)]
    far = usual.groupby(["attention", "context_length", "target"])["far.error"].median().unstack()
    gains = far["displacement"] / far["residual"]
    long, two = gains[gains.index.get_level_values(1) >= 32], gains.xs(2, level=1)
    assert f"{long.min():.0f} to {long.max():.0f} times with 32 and 64 positions" in page
    assert f"{two.min():.0f} to {two.max():.0f} times with two" in page
    kinds = np.log10(far.stack().unstack("attention"))
    worse = kinds["lssar"] - kinds["softmax"]
    assert f"In {(worse.abs() < 0.15).sum()} of {len(worse)} settings" in page
    apart = 10 ** worse[worse.abs() >= 0.15]
    assert f"LSSAR errs more, {apart.min():.1f} to {apart.max():.1f} times" in page
    for words, target in (
        ("displacement", "displacement"),
        ("λ = 0.9", "displacement(inertia=0.9)"),
        ("residual", "residual"),
    ):
        errors = [float(f"{100 * error:.2g}") for error in far[target]["softmax"]]
        assert f"| {words} | {' | '.join(f'{error:g}' for error in errors)} |" in page
    share = usual[usual["target"] == "displacement(inertia=0.9)"]["evaluate.acceleration_share"]
    log = prose(LOG / "identify.md")
    assert f"the share goes from {share.median():.2f} to 1" in log

    cells = identify.usual(table)
    cells = cells[cells[identify.LEFT] > 0]
    inertia, context = np.log10(cells[identify.LEFT]), np.log10(cells["context_length"])
    error = np.log10(cells["far.error"])
    powers = np.linalg.lstsq(np.c_[inertia, context, np.ones(len(cells))], error, rcond=None)[0]
    assert f"Over the {len(cells)} cells" in page
    assert f"inertia^{powers[0]:.2f} · context^{powers[1]:.2f}" in page
    gamma, scatter = identify.one_variable(cells)
    assert f"on one curve is {gamma:.2f} instead of 0.85" in log
    assert f"scatter by {scatter:.2f} about that curve" in log

    beyond = identify.beyond_curve(cells, cells["git_commit"] == FIRST, 0.85)
    late = cells.loc[beyond.index, "dt"] == 0.016
    softmax = cells.loc[beyond.index, "attention"] == "softmax"
    for words, off in (
        ("0.154 for softmax", beyond[late & softmax]),
        ("0.18 with LSSAR", beyond[late]),
    ):
        assert words.startswith(f"{np.sqrt(np.mean(off**2)):.3f}"[: len(words.split()[0])])
        assert words in log
    lssar = beyond[~softmax].groupby([cells["target"], cells["context_length"], cells["dt"]])
    assert f"off by up to {10 ** lssar.median().max():.1f} times in the median" in log
    assert f"{10 ** lssar.max().max():.1f} times in a cell" in log


def test_the_table_of_what_lies_beyond_is_that_of_its_study():
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "beyond_study.csv")
    page = (ROOT / "notebooks" / "explanation" / "beyond.md").read_text()
    assert f"{len(cells)} networks" in page
    usual = {"inputs": "logarithms", "outputs": "logarithms", "norm": "none", "law": "newton",
             "attention": "softmax", "target": "residual", "context_length": 3}  # fmt: skip
    coordinates = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"}
    rows = {
        "logarithms, no norm, softmax": {},
        "logarithms, no norm, LSSAR": {"attention": "lssar"},
        "logarithms, LayerNorm, softmax": {"norm": "layer"},
        "logarithms, LayerNorm, LSSAR": {"norm": "layer", "attention": "lssar"},
        "coordinates, LayerNorm, softmax": coordinates,
        "8 positions in view": {"context_length": 8},
        "32 positions in view": {"context_length": 32},
        "r^−2.5": {"law": "power_law(n=2.5)"},
        "Plummer's": {"law": "plummer(softening=0.1)"},
        "Yukawa's": {"law": "yukawa(length=1)"},
        "GM/r² + 10/r": {"law": "GM/r**2 + 10/r"},
    }
    for words, changed in rows.items():
        asked = usual | changed
        some = cells[np.logical_and.reduce([cells[n] == value for n, value in asked.items()])]
        told = [words, f"{(some['world_model'] == 'law').sum()} of {len(some)}"]
        for shell in ("trained", "twice", "tenfold"):
            error = 100 * some[f"far.shells_{shell}_share_error"].median()
            told.append(f"{float(f'{error:.2g}'):,.10g} %".replace(",", " "))
        assert f"| {' | '.join(told)} |" in page
    assert not (cells[cells["target"] == "displacement"]["world_model"] != "neither").any()


def test_the_table_of_fine_tuning_is_that_of_its_study():
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "protocol.csv")
    page = (ROOT / "notebooks" / "explanation" / "softplus.md").read_text()
    assert f"{len(cells)} networks" in page
    theirs = {"target": "displacement", "norm": "layer", "inputs": "coordinates",
              "outputs": "coordinates", "context_length": 32}  # fmt: skip
    theirs = cells[np.logical_and.reduce([cells[n] == value for n, value in theirs.items()])]
    vector = "transfer(target=vector)"
    for words, attention, learner in (
        ("network, softmax", "softmax", vector),
        ("network, LSSAR(3)", "lssar", vector),
        ("network, LSSAR(15)", "lssar(p=15)", vector),
        ("untrained network, softmax", "softmax", f"{vector}_untrained"),
        ("network, softmax, shuffled labels", "softmax", "transfer(target=vector,shuffled=true)"),
        ("random forest of the same labels", "softmax", "transfer(target=vector,learner=forest)"),
    ):
        some = theirs[(theirs["attention"] == attention) & theirs[f"{learner}.r2"].notna()]
        r2, best = some[f"{learner}.r2"], some[f"{learner}.verdict"].isin(["exact", "up_to_scale"])
        found = best & (some[f"{learner}.status"] == "found")
        told = f"{r2.median():.2f} ({r2.min():.2f} to {r2.max():.2f})".replace("-", "−")
        told = f"| {words} | {told.replace('−0.00 (', '0.00 (')} |"
        off = f"{some[f'{learner}.error_twice'].median():.2g} times"
        (row,) = [line for line in page.splitlines() if line.startswith(told)]
        cells_of_row = [each.strip() for each in row.split("|")]
        assert cells_of_row[3].startswith(off)
        assert cells_of_row[4].startswith(f"{best.sum()} of {len(some)} (")
        assert cells_of_row[5] == f"{found.sum()} of {len(some)}"


def test_what_the_page_says_of_pairs_is_in_their_table():
    pairs, page = pd.read_csv(ROOT / "notebooks" / "images" / "paired.csv"), words_of("target")
    kinds = pairs.groupby("target")["world_model"].value_counts()
    assert kinds["displacement"].to_dict() == {"neither": 24, "Keplerian": 16}
    assert kinds["residual"].to_dict() == {"Newtonian": 39, "another force": 1}
    assert "none is Newtonian (16 Keplerian, 24 neither); of 40 of the residual 39 are" in page
    assert f"± {10**0.1 - 1:.0%} (0.1 in log10)".replace("%", " %") in page


def test_the_digits_of_attention_on_the_page_are_those_of_its_table():
    table = pd.read_csv(ROOT / "notebooks" / "images" / "stability.csv")
    table = table[(table["length"] == 1024)].set_index(["kind", "numbers", "path", "scale"])
    page = (LOG / "softplus-tables.md").read_text()
    for place, words in {
        ("lssar", "float16", "bare", 1.0): "gradients are off by {:.0%}",
        ("lssar(p=15)", "float16", "bare", 1.0): "p = 15 by {:.0%}",
        ("lssar", "float16", "kept", 1.0): "they are off by {:.2%}",
        ("softmax", "bfloat16", "kept", 100.0): "by {:.0%} at scores of 100",
    }.items():
        told = words.format(table.loc[place, "gradient"]).replace("%", " %")
        assert told in " ".join(page.split()), told


def test_the_table_of_even_attention_is_that_of_its_networks():
    networks = pd.read_csv(ROOT / "notebooks" / "images" / "evenness.csv")
    page = (LOG / "softplus-tables.md").read_text()
    for (target, kind), part in networks.groupby(["target", "attention"]):
        each = part.median(numeric_only=True)
        shown = [f"{each[f'entropy_{factor}']:.2f}" for factor in (1, 4, 16)]
        shown += [f"{each[f'first_key_{factor}']:.1%}".replace("%", " %") for factor in (1, 16)]
        shown.append(f"{float(f'{each.ratio_16:.2g}'):,.0f}".replace(",", " "))
        row = " | ".join([target, kind, *shown])
        assert f"| {row} |" in page


PARTS = {
    "√d": "norm=l1 scale=sqrt",
    "log N": "norm=l1 scale=logn",
    "learned": "norm=l1 scale=learned",
    "log d · log N": "norm=l1 scale=logdlogn",
    "√d, no sum": "norm=none scale=sqrt",
    "log d · log N, no sum": "norm=none scale=logdlogn",
    "√d, re-weighted": "norm=l1 scale=sqrt sharpen=3",
    "log d · log N, re-weighted": "norm=l1 scale=logdlogn sharpen=3",
}


def two_digits(value):
    """As 1300, 0.54, 5.2e9; a dash where there is none."""
    if value is None:
        return "–"
    rounded = float(f"{value:.2g}")
    return (
        f"{rounded:g}" if rounded < 1e5 else f"{rounded:.1e}".replace("e+0", "e").replace("e+", "e")
    )


def softplus_tables():
    """Rows of the page's tables of the study of softplus attention: medians of three seeds."""
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "softplus.csv")
    assert cells.groupby("attention").size().unique().tolist() == [3]
    middle = cells.groupby("attention", sort=False).median(numeric_only=True)
    losses, ratios = middle["extrapolate.loss_1"] * 1e4, middle["extrapolate.ratio_16"]
    for words, column in (("loss", losses), ("ratio", ratios)):
        for shown, parts in PARTS.items():
            points = [f"map={name} {parts}" for name in ("exp", "softplus", "relu", "sigmoid")]
            values = " | ".join(two_digits(column.get(point)) for point in points)
            yield words, f"| {shown} | {values} |"
    for p in (1, 2, 3, 5, 15):
        row = middle.loc[f"map=softplus norm=l1 scale=logdlogn sharpen={p}"]
        numbers = [two_digits(row["extrapolate.loss_1"] * 1e4)]
        numbers += [two_digits(row[f"extrapolate.ratio_{factor}"]) for factor in (4, 16)]
        numbers += [f"{row[f'extrapolate.entropy_{factor}']:.2f}" for factor in (1, 16)]
        yield "power", f"| {p} | {' | '.join(numbers)} |"
    for kind in ("entmax", "asentmax", "softpick", "gated", "forgetting", "differential"):
        row = middle.loc[kind]
        numbers = [two_digits(row["extrapolate.loss_1"] * 1e4)]
        numbers += [two_digits(row["extrapolate.ratio_16"])]
        numbers += [f"{row['kicked.kick_r2_1']:.2f}", f"{row['far.error']:.0%}".replace("%", " %")]
        yield "kinds", f"| {kind} | {' | '.join(numbers)} |"


def test_the_tables_of_the_parts_of_attention_are_those_of_their_cells():
    page = (LOG / "softplus-tables.md").read_text()
    for name, row in softplus_tables():
        assert row in page, name


def test_the_table_of_the_little_language_is_that_of_its_runs():
    runs = pd.read_csv(ROOT / "notebooks" / "images" / "language.csv")
    page = (LOG / "softplus-tables.md").read_text()
    for kind, part in runs.groupby("attention"):
        medians = part.groupby("factor")["late"].median()
        assert f"| {kind} | {' | '.join(f'{value:.2f}' for value in medians)} |" in page


def test_how_the_networks_of_bytes_attend_is_told_as_they_did():
    """Medians of three seeds in the log; ranges of them, and of the losses, on the page."""
    runs = pd.read_csv(ROOT / "notebooks" / "images" / "language.csv").dropna()
    tables = (LOG / "softplus-tables.md").read_text()
    page, shares = words_of("softplus"), []
    for kind, part in runs.groupby("attention", sort=False):
        medians = part.groupby("factor")[["entropy", "first_key"]].median().loc[[1, 4, 16]]
        cells = [f"{entropy:.2f}" for entropy in medians["entropy"]]
        cells += [f"{100 * key:.{1 if key > 0.01 else 2}f} %" for key in medians["first_key"]]
        assert f"| {kind} | {' | '.join(cells)} |" in tables
        own = 100 * part[part["factor"] == 1]["first_key"]
        shares.append(f"{own.min():.1f} to {own.max():.1f} %")
        late = part.pivot(index="seed", columns="factor", values="late")
        growth = (late[4] / late[1]).sort_values().map("{:.2f}".format)
        if kind == "softmax":
            assert f"softmax's {growth.iloc[0]} to {growth.iloc[-1]}" in page
            assert (late[16] > 2 * late[1]).all()
        else:
            assert f"{growth.iloc[0]}, {growth.iloc[1]} and {growth.iloc[2]} times" in page
            longest = 100 * (late[16] / late[1] - 1)
            assert f"rises by {longest.min():.0f} to {longest.max():.0f} % to sixteen" in page
    assert f"softmax {shares[0]}, LSSAR(15) {shares[1]}" in page
    even = 100 * np.mean(1 / np.arange(1, 129))
    assert f"where even attention has {even:.1f} %" in page


def test_the_told_mass_and_the_passkeys_are_told_as_their_networks_did():
    """Medians and ranges of ten seeds, and what a rank test says of them beside softmax."""
    page = words_of("softplus")
    tables = prose(LOG / "softplus-tables.md")
    told, keys = (
        pd.read_csv(ROOT / "notebooks" / "images" / name)
        .set_index(["attention", "factor", "seed"])
        .sort_index()
        for name in ("told_mass.csv", "passkeys.csv")
    )
    named = {"lssar(p=15)": "LSSAR(15)", "lssar(p=3)": "LSSAR(3)", "lssa": "LSSA"}
    for table, score, places in ((told["loss"], "{:.2g}", (1, 2, 4, 8)),
                                 (keys["accuracy"], "{:.2f}", (1, 4))):  # fmt: skip
        for kind, runs in table.groupby(level=0):
            cells = [named.get(kind, kind)]
            for factor in places:
                low, middle, high = runs[kind, factor].quantile([0, 0.5, 1])
                cells.append(f"{score} ({score} to {score})".format(middle, low, high))
            assert runs[kind, 4].count() == 10
            assert " | ".join(cells) in tables
    least = min(
        mannwhitneyu(told["loss"][kind, factor], told["loss"]["softmax", factor]).pvalue
        for kind in set(told.index.get_level_values(0)) - {"softmax"} for factor in (4, 8)
    )  # fmt: skip
    assert f"the least p is {least:.2g})" in tables
    for table in (told["loss"], keys["accuracy"]):
        chance = mannwhitneyu(table["lssar(p=15)", 4], table["softmax", 4]).pvalue
        assert f"p = {chance:.2g} (ranks)" in page


def test_every_claim_of_the_abstract_names_its_protocol_and_has_one_answer():
    page = (ROOT / "notebooks" / "explanation" / "softplus.md").read_text()
    lines = page[page.index("| claim of the abstract") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows[0][0].startswith("recovers Newton's law")
    for _, protocol, size, answer, result in rows:
        assert protocol
        assert size
        assert answer in {"holds", "does not hold", "open", "not tested by their protocol"}
        assert bool(result) == (answer != "not tested by their protocol")
    told = " ".join(row[4] for row in rows)
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "softplus.csv")
    middle = cells.groupby("attention").median(numeric_only=True)
    loss = 1e4 * middle["extrapolate.loss_1"]
    growth = middle["extrapolate.ratio_16"].map(two_digits)
    lssa, softmax = "map=softplus norm=l1 scale=logdlogn", "map=exp norm=l1 scale=sqrt"
    for power in (3, 15):
        shown = f"{growth[f'{lssa} sharpen={power}'][:-3]} {growth[f'{lssa} sharpen={power}'][-3:]}"
        assert f"{shown} times with LSSAR({power})" in told
    assert f"grows {growth[softmax][:-3]} {growth[softmax][-3:]} times with softmax" in told
    assert f"LSSA has {loss[lssa] / loss[softmax]:.1f} times the loss of softmax" in told
    over = {name: loss[f"map={name} norm=l1 scale=sqrt"] / loss[softmax]
            for name in ("softplus", "sigmoid", "relu")}  # fmt: skip
    assert f"softplus {over['softplus']:.1f} times, sigmoid {over['sigmoid']:.1f} times" in told
    assert f"exception, {over['relu']:.1f} times" in told
    exponential, no_sum = (
        loss[lssa.replace(*words)] for words in (("softplus", "exp"), ("l1", "none"))
    )
    assert f"softplus has {loss[lssa] / exponential:.1f} times the exponential's loss" in told
    assert f"without the sum its loss is {no_sum / loss[lssa]:.1f} times as large" in told
    alone = {name: loss[f"map={name} norm=none scale=sqrt"] for name in ("sigmoid", "relu")}
    assert f"without a sum sigmoid {alone['sigmoid']:.1f}, ReLU {alone['relu']:.1f}" in told
    assert f"LSSAR(3) {loss[f'{lssa} sharpen=3']:.1f};" in told
    assert f"entmax {loss['entmax']:.1f}, softpick {loss['softpick']:.1f}" in told
    for name in ("exp", "softplus", "relu", "sigmoid"):  # re-weighting lowers each
        for scale in ("sqrt", "logdlogn"):
            assert (
                loss[f"map={name} norm=l1 scale={scale} sharpen=3"]
                < loss[f"map={name} norm=l1 scale={scale}"]
            )


def test_the_effects_of_the_parts_are_those_of_their_cells():
    page = words_of("softplus")
    script = runpy.run_path(str(ROOT / "notebooks" / "examples" / "attention" / "effects.py"))
    cells = pd.read_csv(ROOT / "notebooks" / "images" / "softplus.csv")
    told = {
        "0.70 [0.62, 0.79] times the loss, 0.76 [0.70, 0.83] times the error": ("sharpen", "3"),
        "1.26 [1.09, 1.45] times the loss; the force is as good (1.04 [0.93, 1.15])": (
            "scale", "logdlogn",
        ),
        "1.23 [1.05, 1.45] and 1.38 [1.25, 1.52]": ("map", "softplus"),
    }  # fmt: skip
    for words, change in told.items():
        assert words in page
        for number, column in enumerate(script["MEASURES"]):
            table = script["effects"](cells, column).set_index("change")
            ratio, low, high = table.loc[script["CHANGES"][change], ["ratio", "low", "high"]]
            said = re.findall(r"[0-9.]+ \[[0-9., ]+\]", words)[number]
            assert said == f"{ratio:.2f} [{low:.2f}, {high:.2f}]"


def test_what_the_page_of_softplus_says_of_levels_and_digits_is_in_their_files():
    page = words_of("softplus")
    networks = pd.read_csv(ROOT / "notebooks" / "images" / "evenness.csv")
    middle = networks.groupby(["target", "attention"])["loss_16"].median()
    assert f"has a loss of {middle['residual', 'softmax']:.3f}" in page
    assert f"LSSAR(3) has {middle['residual', 'lssar']:.1f}, and does not" in page
    both = middle["displacement", "softmax"], middle["displacement", "lssar"]
    assert f"neither does ({both[0]:.1f}, {both[1]:.1f})" in page
    digits = pd.read_csv(ROOT / "notebooks" / "images" / "stability.csv")
    bare = digits[(digits["path"] == "bare") & (digits["scale"] == 1)]
    bare = bare[bare["numbers"] == "bfloat16"].groupby("kind")["gradient"]
    low, high = bare.min()["lssar(p=15)"], bare.max()["lssar(p=15)"]
    assert f"off by {100 * low:.0f} to {high:.0%}".replace("%", " %") in page
    runs = pd.read_csv(ROOT / "notebooks" / "images" / "language.csv")
    first = runs[(runs["factor"] == 1) & (runs["seed"] == 0)].set_index("attention")["late"]
    assert f"LSSA {first['lssa']:.3f} nats, softmax {first['softmax']:.3f}" in page


def test_what_is_said_of_decoded_and_followed_is_in_their_table():
    script = runpy.run_path(str(ROOT / "notebooks" / "examples" / "causal" / "scatter.py"))
    table = pd.read_csv(ROOT / "notebooks" / "images" / "decoded.csv")
    printed = list(script["facts"](table))
    assert printed[0] == "49 networks, 23 Newtonian"
    assert "decoded, the best site: 0.872 to 1.000" in printed
    assert "inside: Spearman 0.58 over 294 sites" in printed
    (displacement,) = (line for line in printed if line.startswith("displacement: "))
    assert "last stream followed -0.00 to 0.11, inside at most 0.01 to 0.45" in displacement
    (residual,) = (line for line in printed if line.startswith("residual: "))
    assert "last stream followed 0.90 to 0.99" in residual
    inside = table[(table["site"] != script["LAST"]) & (table["decoded"] >= 0.6)]
    assert inside["probe"].median() < 0.05
    assert inside["probe"].max() < 0.46


def test_what_is_said_of_students_is_in_their_table():
    page = (ROOT / "notebooks" / "explanation" / "probes.md").read_text()
    table = pd.read_csv(ROOT / "notebooks" / "images" / "taught.csv")
    last = table[table["site"] == "layers.3"]
    of_law = last["network"].str.startswith("newton")
    assert (of_law.sum(), (~of_law).sum()) == (8, 12)
    decoded, whole = (f"{last[c].min():.2f} to {last[c].max():.2f}" for c in ("decoded", "whole"))
    assert f"R² of {decoded}, and" in page
    assert f"Exchanging the whole layer moves it by {whole}." in page
    assert table["probe"].abs().max() < 0.02


def test_what_is_said_of_the_published_recipe_is_in_its_table():
    table = pd.read_csv(ROOT / "notebooks" / "images" / "recipe.csv")
    assert table.groupby("network").size().tolist() == [7, 7]
    assert table["decoded"].max() < 0


def ends(yes):
    """Percent: ends of the exact 95 % interval of a share."""
    low, high = binomtest(int(yes.sum()), len(yes)).proportion_ci()
    return 100 * low, 100 * high


def shell(table, who, distances):
    """Of three networks, or forests, at those distances."""
    return table[(table["who"] == who) & (table["distances"] == distances)]


def seeds(column):
    """Percent: least and most over networks."""
    return lambda table: (100 * table[column].min(), 100 * table[column].max())


def right(table):
    """Departures from Newton's force that are within 10 % of it on 95 % of the states."""
    return table["within_10"] >= 0.95


def accepted_wrong(table):
    """How many wrong forces were accepted, of how many."""
    yes = table["newtonian"][~right(table)]
    return yes.sum(), len(yes)


def rejected_right(table):
    """How many right forces were rejected, of how many."""
    yes = table["newtonian"][right(table)]
    return (~yes).sum(), len(yes)


def close_rejected(table):
    """Right ones that err by at most 3 % in the median: were they rejected?"""
    return ~table[right(table) & (table["median"] <= 0.03)]["newtonian"]


def certain(table, rejected):
    """How many fail the gate on a part that the law lacks, certain above 1 %."""
    return table.loc[rejected[rejected].index, "failed"].str.contains("nothing else for c").sum()


def fastsrb(table, noise):
    judged = table[(table["catalog"] == "fastsrb.v2") & (table["status"] != "no table")]
    return judged[judged["noise"] == noise]


def with_structure(table):
    """Without noise, tables that are recovered with the law's structure, and those recovered."""
    recovered = fastsrb(table, 0).query("recovered == 1")
    return recovered["structure"].sum(), len(recovered)


def with_noise(table):
    """Of 1 %: laws recovered, of how many, and with numbers as fitted."""
    judged = fastsrb(table, 0.01)
    return judged["recovered"].sum(), len(judged), judged["as_fitted"].sum()


def without_noise(table):
    """Tables recovered, of how many, and of how many laws."""
    judged = fastsrb(table, 0)
    return judged["recovered"].sum(), len(judged), judged["law"].nunique()


def by_law(table):
    """Ends of the intervals of both shares without noise: laws are drawn anew, with their draws."""
    laws = fastsrb(table, 0).groupby("law")[["recovered", "structure"]].mean()
    drawn = np.random.default_rng(0).integers(len(laws), size=(2000, len(laws)))
    return np.quantile(laws.to_numpy()[drawn].mean(axis=1), [0.025, 0.975], axis=0).T.ravel()


def wrong(judged):
    """Found, and not recovered."""
    return judged[(judged["found"] == 1) & (judged["recovered"] == 0)]


def far_medians(table, target):
    """Percent: least and most, over contexts and both kinds of attention, of the medians."""
    usual = table[(table["steps"] == 3000) & (table["dt"] == 0.008) & (table["target"] == target)]
    medians = 100 * usual.groupby(["attention", "context_length"])["far.error"].median()
    return medians.min(), medians.max()


def eight_positions(table):
    kinds = table[(table["steps"] == 3000) & (table["dt"] == 0.008)]
    kinds = kinds[(kinds["target"] == "displacement") & (kinds["context_length"] == 8)]
    medians = kinds.groupby("attention")["far.error"].median()
    return medians["lssar"] / medians["softmax"]


def pairs(table):
    """By target and measure, the conclusion of the study."""
    found = executed(STUDIES / "paired.py", "paired").compared(table)
    return {key: equivalence for key, (_, equivalence) in found.items()}


def margin(table):
    """Percent within which errors on far states are equivalent, with either target."""
    far = [each for (_, measure), each in pairs(table).items() if "far" in measure]
    assert [each.words for each in far] == ["equivalent"] * 2
    assert {each.pairs for each in far} == {20}
    return 100 * (10 ** max(each.margin for each in far) - 1)


def after_a_kick(table):
    return 100 * (10 ** pairs(table)["residual", "log10 of 1 − kick R²"].mean - 1)


def has_force(table):
    """By the truth of the page on probes: behind both kinds of arc."""
    return table[["within_10", "kicked_within_10"]].min(axis=1) >= 0.95


def missed(table, probe="far"):
    """Networks with the force that a probe misses at 0.9."""
    return (table[has_force(table)][probe] < 0.9).sum()


def foreign_pasts(table):
    """Of two positions there are no others behind a state."""
    some = table[table["context_length"] > 2]
    force = has_force(some)
    return passed(some, "pasts"), (~force).sum(), missed(some, "pasts"), force.sum()


def passed(table, probe="far"):
    """Networks without the force that it passes."""
    return (table[~has_force(table)][probe] >= 0.9).sum()


def settings(table):
    """With the force, and all."""
    names = ["lesson", "target", "context_length"]
    return len(table[has_force(table)].groupby(names)), len(table.groupby(names))


def newtons_form(table):
    """Is the best formula Newton's? By attention, fine-tuned on vectors as in their protocol."""
    vector = "transfer(target=vector)"
    theirs = table[(table["target"] == "displacement") & (table["norm"] == "layer")]
    theirs = theirs[(theirs["inputs"] == "coordinates") & (theirs["outputs"] == "coordinates")]
    theirs = theirs[theirs["context_length"] == 32]
    forest = theirs["transfer(target=vector,learner=forest).verdict"].dropna()
    softmax, lssar = (
        theirs[theirs["attention"] == kind][f"{vector}.verdict"] for kind in ("softmax", "lssar")
    )
    for verdicts in (softmax, lssar, forest):
        yield verdicts.isin(["exact", "up_to_scale"]).sum()
        yield len(verdicts)


def laws_of(table):
    """Networks with logarithms and no norm, and with coordinates and LayerNorm: who hold a law?"""
    usual = table[(table["law"] == "newton") & (table["context_length"] == 3)]
    usual = usual[(usual["attention"] == "softmax") & (usual["target"] == "residual")]
    for kind, norm in (("logarithms", "none"), ("coordinates", "layer")):
        some = usual[(usual["inputs"] == kind) & (usual["outputs"] == kind)]
        some = some[some["norm"] == norm]
        assert len(some) == 3
        yield (some["world_model"] == "law").sum()


def small(table):
    right, found = table["mark"].str.contains("N"), table["mark"].str.contains("F")
    law = table["mark"].str.contains("S").sum()
    return law, len(table), right.sum(), found.sum(), (found & ~right).sum()


def masses(table):
    """How many of the bodies are weighable, and the largest relative error in percent."""
    seen = table[table["weighable"]]
    assert set(table["body"]) - set(seen["body"]) == {"pluto"}
    return len(seen), len(table), 100 * (seen["value"] / seen["true"] - 1).abs().max()


def masses_missed(table):
    inside = (table["low"] <= table["true"]) & (table["true"] <= table["high"])
    assert set(table[~inside]["body"]) == {"earth", "moon"}
    return inside.sum(), len(inside), (table["value"] / table["true"] - 1)[~inside].abs().max()


README, RESULTS, PAPER = "README.md", "notebooks/results.md", "notebooks/paper/paper.md"
BEYOND = "notebooks/explanation/beyond.md"
LOGARITHMS, TRAINED, TWICE, TENFOLD = (
    "network in logarithms", "where it was trained", "up to twice the farthest",
    "up to 10 times the farthest",
)  # fmt: skip
BOTH, ALL = (README, RESULTS), (README, RESULTS, PAPER)
CLAIMS = [
    # pages, table, what they say, and how that is computed
    ([README], "beyond", "on at least {:.0f} % of the states",
     lambda t: 100 * t[t["distances"] == TRAINED]["within_10"].min()),
    ([README], "beyond", "its median error is {:.1f} to {:.1f} %",
     lambda t: seeds("error")(shell(t, LOGARITHMS, TENFOLD))),
    ([README], "beyond", "At up to ten times the distance the {} alone still has it",
     lambda t: "/".join(t[(t["distances"] == TENFOLD) & (t["within_10"] > 0.9)]["who"].unique())),
    ([README], "beyond", "like the {}, which errs least there",
     lambda t: t[t["distances"] == TRAINED].groupby("who")["error"].max().idxmin().split()[1]),
    ([BEYOND], "beyond", "thirty trees is within 10 % on {:.0f} % of the states",
     lambda t: 100 * shell(t, "random forest", TRAINED)["within_10"].min()),
    ([BEYOND], "beyond", "the forest errs by {:.0f} to {:.0f} % in the median",
     lambda t: seeds("error")(shell(t, "random forest", TWICE))),
    ([BEYOND], "beyond", "the default network by {:.2f} to {:.2f} %",
     lambda t: seeds("error")(shell(t, LOGARITHMS, TWICE))),
    ([README], "default_seeds", "All {} networks with new seeds hold the law ({:.0f} to {:.0f} %",
     lambda t: (((t["kind"] == "law") & t["recovered"]).sum(), *ends(t["kind"] == "law"))),
    ([RESULTS], "default_seeds", "With [{} unseen seeds]", len),
    ([RESULTS], "default_seeds", "were {:.2f} to {:.2f} % where the networks were trained",
     seeds("error")),
    ([RESULTS], "default_seeds", "{:.2f} to {:.2f} % at up to ten times", seeds("tenfold_error")),
    (ALL, "identify", "{} networks", len),
    ([RESULTS], "identify", "of {:.1f} to {:.1f} % with the residual",
     lambda t: far_medians(t, "residual")),
    ([RESULTS], "identify", "{:.0f} to {:.0f} % with the displacement",
     lambda t: far_medians(t, "displacement")),
    ([README], "identify", "it errs {:.1f} times as much", eight_positions),
    (BOTH, "paired", "on far states to {:.0f} %", margin),
    (BOTH, "paired", "1 − R² is {:.0f} % larger", after_a_kick),
    ([RESULTS], "protocol", "[{} networks](images/protocol.csv)", len),
    ([RESULTS], "protocol", "in {} of {} networks with softmax, {} of {} with LSSAR(3), {} of {}",
     newtons_form),
    ([RESULTS], "beyond_study", "[{} networks](images/beyond_study.csv)", len),
    ([RESULTS], "beyond_study",
     "each, {} with logarithms and no norm hold the law, {} with coordinates", laws_of),
    ([RESULTS], "probes", "[{} networks](images/probes.csv)", len),
    ([RESULTS], "probes", "far states reject {} of {} networks with the force",
     lambda t: (missed(t), has_force(t).sum())),
    ([PAPER], "probes", "were put to {} small networks", len),
    ([PAPER], "probes", "{} have the force, from {} of {} settings",
     lambda t: (has_force(t).sum(), *settings(t))),
    ([PAPER], "probes", "passes {} of the {} others",
     lambda t: (passed(t, "linear_force"), (~has_force(t)).sum())),
    ([PAPER], "probes", "Far states pass {} of them, and miss {} of the {}",
     lambda t: (passed(t), missed(t), has_force(t).sum())),
    ([PAPER], "probes",
     "behind arcs of other laws pass {} of {} networks with three positions or more in view, "
     "and miss {} of {}.", foreign_pasts),
    ([PAPER], "two_models", "the force of the former is off by {:.0f} to {:.0f} %",
     lambda t: seeds("far_error")(t[t["target"] == "residual"])),
    ([PAPER], "two_models", "that of the latter by {:.0f} to {:.0f} %",
     lambda t: seeds("far_error")(t[t["target"] == "displacement"])),
    ([RESULTS], "departures", "[{} forces]", len),
    ([PAPER], "departures", "Of {} smooth departures", len),
    ([PAPER], "departures", "it accepted {} of the {} that are wrong on more than 5 %",
     accepted_wrong),
    ([PAPER], "departures", "It rejected {} of the {} that are right",
     rejected_right),
    ([PAPER], "departures",
     "Of the {0} among these that err by at most 3 % in the median it rejected {1}; {2} of",
     lambda t: (len(close_rejected(t)), close_rejected(t).sum(), certain(t, close_rejected(t)))),
    ([README], "departures", "It accepted [{} of {} wrong forces]",
     accepted_wrong),
    ([RESULTS], "departures", "it accepted {} of {} wrong ones",
     accepted_wrong),
    (ALL, "departures", "({:.0f} to {:.0f} %)", lambda t: ends(t["newtonian"][~right(t)])),
    ([README], "departures", "and rejected {1} of {0} right ones",
     lambda t: (len(close_rejected(t)), close_rejected(t).sum())),
    ([RESULTS], "departures",
     "Of the {} right forces that err by at most 3 % in the median, as *field* asks, the verdict "
     "rejected {} (",
     lambda t: (len(close_rejected(t)), close_rejected(t).sum())),
    ([RESULTS], "departures", "({:.0f} to {:.0f} %). Of these", lambda t: ends(close_rejected(t))),
    ([RESULTS], "departures", "Of these {}, {} have a part that the law lacks",
     lambda t: (close_rejected(t).sum(), certain(t, close_rejected(t)))),
    ([PAPER], "srbf", "{:.0f} of {} tables of FastSRB's {} laws are recovered without noise",
     without_noise),
    ([PAPER], "srbf", "{:.0f} of the {:.0f} have the law's structure",
     with_structure),
    ([README], "srbf", "{:.0f} of {} tables recovered without noise",
     without_noise),
    ([README], "srbf", "{:.0f} of the {:.0f} also have the law's structure",
     with_structure),
    ([README], "srbf", "({:.2f} of all)", lambda t: fastsrb(t, 0)["structure"].mean()),
    ([README], "srbf", "where we have {:.2f}",
     lambda t: t[t["catalog"] == "livermore2"]["recovered"].mean()),
    ([PAPER], "srbf",
     "At 1 % noise {:.0f} of {} are recovered, {:.0f} with numbers as fitted",
     with_noise),
    ([RESULTS], "srbf",
     "Of the {:.0f} tables of FastSRB that are recovered without noise {:.0f} have",
     lambda t: with_structure(t)[::-1]),
    ([RESULTS], "srbf",
     "{:.0f} s a table in the median, {:.0f} s in the mean, and {:.0f} s at the longest",
     lambda t: fastsrb(t, 0)["seconds"].agg(["median", "mean", "max"])),
    ([RESULTS], "srbf",
     "{:.2f} to {:.2f} of FastSRB's laws are recovered, {:.2f} to {:.2f} with structure (95 %)",
     by_law),
    ([RESULTS], "srbf", "{:.0f} laws are recovered, {:.0f} with their numbers as fitted",
     lambda t: fastsrb(t, 0.01)[["recovered", "as_fitted"]].sum()),
    ([RESULTS], "srbf",
     "At 10 % noise {} laws are found and not recovered; {} of these leave more than 1e-3",
     lambda t: (len(wrong(fastsrb(t, 0.1))), (wrong(fastsrb(t, 0.1))["fvu"] > 1e-3).sum())),
    ([RESULTS], "srbf", "{} of its formulas are *found* and not recovered",
     lambda t: (len(wrong(t[t["catalog"] == "livermore2"])),)),
    ([RESULTS], "small-exact", "| small laws | 0 | {} of {} | {} | {} | {} |", small),
    ([RESULTS], "small-noisy", "| small laws | 1 % of the rms | {} of {} | {} | {} | {} |", small),
    ([RESULTS], "nulls", "In {} of {} tables without a law nothing was *found*",
     lambda t: ((~t["mark"].str.contains("F")).sum(), len(t))),
    ([README], "weighed", "{} of {} masses to {:.2f} %", masses),
    ([PAPER], "weighed", "{} of {} masses are right to {:.2f} %", masses),
    ([RESULTS], "weighed", "{} of {} masses are right to {:.4f} %", masses),
    ([RESULTS], "weighed",
     "{} of the {} intervals contain the true mass, not the Earth's and the Moon's, "
     "which are off by {:.0e}",
     masses_missed),
]  # fmt: skip


def said_of(table, words, how):
    """The words of a claim, with what its table gives for their numbers."""
    frozen = ROOT / "tests" / "benchmarks" / "frozen" / f"{table}.csv"
    path = frozen if frozen.exists() and table != "departures" else IMAGES / f"{table}.csv"
    found = how(pd.read_csv(path))
    alone = isinstance(found, str) or not isinstance(found, Iterable)
    values = (found,) if alone else found
    return words.format(*values).replace("e-0", "e-")


def prose(page):
    return " ".join((ROOT / page).read_text("utf-8").split())


@pytest.mark.parametrize(
    ("pages", "table", "words", "how"),
    CLAIMS,
    ids=[f"{table}-{words[:40]}" for _, table, words, _ in CLAIMS],
)
def test_a_page_says_what_its_table_says(pages, table, words, how):
    for page in pages:
        assert said_of(table, words, how) in prose(page), page


NOT_MEASURED = {
    README: "3.11 13 0.63 0.19 0.37",  # of Python; million parameters; what srbf publishes of PySR
    PAPER: "0.9",  # the probe's own threshold
    # 4π²; steps of a study; the judge's version, rows and what its rule comes to; what others have
    RESULTS: "39.478 0.21 500 512 3e-4 0.63 0.19 0.37 0.73 0.38 0.92 117 2026 9",
}


WORDS = {
    README: 500,
    RESULTS: 1040,
    "notebooks/how-to/own-model.md": 1010,
    "notebooks/how-to/own-table.md": 930,
    "notebooks/how-to/own-trajectories.md": 1040,
    "notebooks/how-to/study.md": 420,
    "notebooks/how-to/attention.md": 405,
    "notebooks/how-to/pysr.md": 450,
    "notebooks/explanation/softplus.md": 1360,
    "notebooks/explanation/trap.md": 940,
    "notebooks/explanation/verdict.md": 1100,
    "notebooks/explanation/target.md": 850,
    "notebooks/explanation/probes.md": 1050,
    "notebooks/explanation/related.md": 470,
    "notebooks/explanation/how-it-finds-a-law.md": 750,
}


@pytest.mark.parametrize(("page", "words"), WORDS.items())
def test_a_page_is_short(page, words):
    text = (ROOT / page).read_text("utf-8")
    assert sum(any(map(str.isalnum, word)) for word in text.split()) <= words


@pytest.mark.parametrize("page", ALL)
def test_a_page_has_no_other_numbers(page):
    """Than those that are claimed above, printed by a run, or neither measured nor counted."""
    text = re.sub(r"(?ms)^```.*?^```$", "", (ROOT / page).read_text("utf-8"))
    text = re.sub(r"(?m)^> .*$|^\|.* laws, .*$|^\|.* laws \|.*$", "", text)
    text = re.sub(r"\]\([^)]*\)|`[^`]*`|\$[^$]*\$", "", text).split("# What it has shown")[-1]
    claims = [said_of(*claim[1:]) for claim in CLAIMS if page in claim[0]]
    number = r"(?<![\w.])\d+(?:\.\d+)?(?:e-\d+)?(?![\w.]*\w)"
    known = {*re.findall(number, " ".join(claims)), *NOT_MEASURED[page].split()}
    assert sorted(set(re.findall(number, text)) - known) == []


def test_thirteen_million_parameters_are_said_as_their_table_says():
    log = (LOG / "softplus.md").read_text("utf-8")
    rows = re.findall(
        r"^\| residual \| (softmax|LSSAR) \| [46] [05]00 \|(.*)\|$", log, re.MULTILINE
    )
    errors = {kind: float(row.split("|")[3]) for kind, row in rows}
    assert round(errors["LSSAR"] / errors["softmax"]) == 5
    assert "](notebooks/explanation/softplus.md#large) five times (fewer steps, one run)" in prose(
        README
    )


PROTOCOLS = runpy.run_path(str(ROOT / "notebooks" / "examples" / "information" / "protocols.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(p, marks=() if p.shown.sigma else pytest.mark.slow)
        for p in PROTOCOLS["PROTOCOLS"]
    ],
    ids=lambda protocol: protocol.name,
)
def test_the_table_of_what_could_have_shown_newton_is_what_its_script_prints(protocol):
    page = (LOG / "information.md").read_text()
    table = page[page.index("| protocol |") :].split("\n\n")[0].splitlines()
    heads, _, *rows = (tuple(line.strip("| ").split(" | ")) for line in table)
    assert heads == PROTOCOLS["HEADS"]
    assert len(rows) == len(PROTOCOLS["PROTOCOLS"])
    assert rows[PROTOCOLS["PROTOCOLS"].index(protocol)] == PROTOCOLS["row"](protocol)


@pytest.mark.slow
def test_what_the_page_says_beside_that_table_is_printed_too():
    page = (LOG / "information.md").read_text()
    printed = "\n".join(PROTOCOLS["facts"]())
    for found, said in (
        ("0.01916 yr: second difference in bins 1.02 at 1 au, 0.00396 at 16 au", "is 1.02 bins"),
        ("0.0189 yr: second difference in bins 0.987 at 1 au, 0.00386 at 16 au", "0.004 at 16 au"),
        ("0.987 at 1 au", "(0.99 at the published step"),
        ("0.15 of a turn at 16 au", "at 16 au they are 0.15 of a turn"),
        ("beyond 3 au: 91%, error 2.4 times", "an error 2.4 times as large"),
    ):
        assert found in printed
        assert said in page


@pytest.mark.slow
def test_the_page_on_probes_shows_what_its_table_of_networks_says(monkeypatch):
    """Its tables to the letter, and what is said beside them."""
    folder = ROOT / "notebooks" / "examples" / "referee"
    monkeypatch.syspath_prepend(folder)
    script = runpy.run_path(str(folder / "comparison.py"))
    table = script["read"](ROOT / "notebooks" / "images" / "probes.csv")
    page = (ROOT / "notebooks" / "explanation" / "probes.md").read_text()
    rows = script["compare"](table)
    predictors = runpy.run_path(str(folder / "predictors.py"))
    scores = pd.read_csv(ROOT / "notebooks" / "images" / "predictors.csv")
    for line in (*script["taught"](table), script["HEADS"], *script["lines"](rows)):
        assert f"| {' | '.join(line)} |" in page
    assert rows["truth"]["area"] == 1
    low, high = rows["nothing"]["interval"]
    assert low <= 0.5 <= high
    found = {f"{row['area']:.3f}" for row in rows.values()}
    text = re.sub(r"(?m)^\|.*$", "", page[: page.index("## Predictors without layers")])
    assert sorted(set(re.findall(r"\b[01]\.\d{3}\b", text)) - found) == []
    heads, smooth, _, *verdicts = predictors["verdicts"](scores, rows)
    assert heads[1] == "Newton's law"
    assert {said[1] for said in verdicts} <= {"yes", "–"}
    alone = [said[0] for said in verdicts if set(said[2:]) == {"no"}]
    assert sorted(alone) == ["far states", "pasts of other laws"]
    spline = heads.index("spline lookup")
    assert f"spline lookup, right on {smooth[spline]} of the grid" in page
    assert [said[0] for said in verdicts if said[spline] == "no"] == alone
    ellipse = heads.index("ellipse through 32 positions")
    passed = {said[0] for said in verdicts if said[ellipse] == "yes"}
    assert {"roll-out", "conservation", "implied, held-out orbits"} <= passed


@pytest.mark.slow
def test_the_picture_of_what_is_left_is_of_the_drag_that_the_page_says(tmp_path):
    folder = ROOT / "notebooks" / "examples" / "trajectories"
    script = runpy.run_path(str(folder / "left_over.py"))
    drag = script["left_over"](tmp_path / "left_over.png")
    page = (ROOT / "notebooks" / "how-to" / "own-trajectories.md").read_text()
    assert f"−{drag:.2g}·v/r²" in page
    assert (tmp_path / "left_over.png").stat().st_size > 10_000
