"""Figures of a study show what its table holds, and say what was not measured."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from symreg.experiments.answer import answer, answer_table
from symreg.experiments.grid_figure import ANY_GRID
from worldmodel.loading import executed

FILES = (Path(__file__).parents[2] / "notebooks" / "studies").glob("*.py")
MODULES = {path.stem: executed(path, path.stem) for path in sorted(FILES)}
FIGURES = {name: m.FIGURE for name, m in MODULES.items() if hasattr(m, "FIGURE")}
FIGURES["grid"] = ANY_GRID
KINDS = ["softmax", "ssmax", "sigmoid", "relu", "lssa", "lssar", "lssar(p=15)"]


def frame(**axes):
    """A table as `symreg study` writes it, with numbers as a Newton-to-Kepler transition has."""
    rows = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    table = pd.DataFrame(rows)
    table["status"] = "done"
    rng = np.random.default_rng(0)
    context = table.get("context_length", pd.Series(64.0, index=table.index)).astype(float)
    local = table["window"].notna() if "window" in table else pd.Series(False, index=table.index)
    turn = np.where(local, 0.01, 1 / (1 + (12 / context) ** 3)) + 0.003 * rng.random(len(table))
    table["orbit.r2"] = 1 - 0.002 * rng.random(len(table))
    table["kicked.kick_r2_1"] = 1 - 3 * turn
    table["kicked.kick_r2_first"] = table["kicked.kick_r2_1"]
    table["kicked.kick_r2_4"] = 1 - turn
    table["jacobian.locality"] = 1 - turn
    for who, drop in (("trained", 0.05), ("untrained", 0.2), ("positions", 0.9)):
        for part, more in (("force", 0.0), ("force_x", 0.03), ("force_y", 0.04)):
            table[f"linear.{who}_{part}"] = 1 - (drop + more) * turn - 0.0005
    for step in (1, 4, 16, 64):
        table[f"evaluate.error_{step}"] = 1e-4 * step**1.2 / context**0.5
    for factor in (1, 2, 4, 8, 16):
        table[f"extrapolate.ratio_{factor}"] = factor ** (2 + rng.random(len(table)))
        table[f"extrapolate.entropy_{factor}"] = 1 - 0.1 * rng.random(len(table))
        table[f"extrapolate.first_key_{factor}"] = 0.02 / factor
    table["extrapolate.loss_1"] = 1e-5 * (1 + rng.random(len(table)))
    for learner in ("transfer", "transfer(learner=forest,target=vector)"):
        table[f"{learner}.r2"] = table[f"{learner}.r2_twice"] = 0.9
        table[f"{learner}.median_relative_error"] = 0.02
        table[f"{learner}.error_twice"] = 0.4
        table[f"{learner}.status"] = np.where(table.index % 6 == 0, "found", "none")
        table[f"{learner}.verdict"] = np.where(table.index % 3 == 0, "up_to_scale", "different")
    table["far.error"] = 0.05 + rng.random(len(table))
    if "target" in table:
        known = table["target"].str.extract(r"inertia=([\d.]+)")[0].astype(float)
        known = known.fillna((table["target"] == "residual").astype(float))
        left = (1 - known) * 0.05 / table.get("dt", 0.008)
        table["evaluate.acceleration_share"] = 1 / (known + left**2)
        error = (0.01 + 0.05 * left * context**0.4) * np.exp(0.05 * rng.random(len(table)))
        table["far.error"] = error
        table["kicked.kick_r2_1"] = 1 - table["far.error"] ** 2
        table["world_model"] = np.where(table["far.error"] < 0.1, "law", "Keplerian")
    if "other laws" in set(table.get("label", ())):
        table["law"] = np.where(table["label"] == "other laws", "hooke", "newton")
        for power, shell in enumerate(("trained", "twice", "fourfold", "tenfold")):
            table[f"far.shells_{shell}_share_error"] = 1e-3 * (2 + rng.random(len(table))) ** power
        for name, value in (("exponent_value", -1.9), ("true_exponent", -2.0)):
            table[f"far.shells_tenfold_{name}"] = value
        table["world_model"] = "law"
        sides = table["label"].str.removeprefix("both ")
        table = table.assign(inputs=sides, outputs=sides, norm="none", target="residual")
        return table.convert_dtypes()
    if "label" in table:
        knows = table["label"] == "knows"
        table["far.error"] = np.where(knows, 0.01, 0.6)
        table["model.size"] = np.where(knows, np.nan, np.geomspace(0.01, 0.5, len(table)))
        table["world_model"] = np.where(knows | (table["model.size"] < 0.02), "law", "neither")
        table["recovered"] = knows
        table["kind_failed"] = np.where(knows, None, "far states")
    return table.convert_dtypes()


TABLES = {
    "calibration": {
        "label": ["knows", "lookup", "another force", "near miss"],
        "seed": [*range(6)],
    },
    "grid": {"context_length": [2, 32], "attention": ["softmax", "lssar"], "seed": [0, 1]},
    "context": {"seed": [0, 1], "context_length": [2, 3, 4, 8, 16, 32, 64, 100]},
    "attention": {"attention": KINDS, "window": [None, 2], "kicked": [0.0, 0.5], "seed": [0, 1]},
    "extrapolation": {
        "attention": KINDS,
        "mass": ["1 1", "0.5 2"],
        "window": [None, 3],
        "kicked": [0.0, 0.5],
        "seed": [0, 1, 2],
    },
    "identify": {
        "attention": ["softmax", "lssar"],
        "target": ["displacement", "displacement(inertia=0.9)", "residual"],
        "context_length": [2, 8, 64],
        "dt": [0.008, 0.016],
        "seed": [0, 1],
    },
    "paired": {
        "seed": [0, 1, 2, 3],
        "attention": ["softmax", "lssar"],
        "target": ["displacement", "residual"],
    },
    "beyond": {
        "label": ["both logarithms", "both coordinates", "other laws"],
        "attention": ["softmax", "lssar"],
        "seed": [0, 1],
    },
    "protocol": {
        "attention": ["softmax", "lssar"],
        "target": ["displacement", "residual"],
        "seed": [0, 1, 2],
    },
    "softplus": {
        "attention": ["map=exp norm=l1", "map=relu norm=l1 sharpen=3", "softpick"],
        "seed": [0, 1, 2],
    },
    "zoo": {
        "context_length": [2, 32],
        "attention": ["softmax"],
        "model": [None, "zoo/lstm.py:make", "zoo/published.py:position"],
        "seed": [0, 1, 2],
    },
}


def texts(figure: Figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", sorted(FIGURES))
def test_every_kind_of_figure_is_drawn_whole_and_from_a_bare_table(kind, tmp_path):
    table = frame(**TABLES[kind])
    drawn = FIGURES[kind].draw(table)
    assert drawn
    for name, (figure, caption) in drawn.items():
        figure.savefig(tmp_path / f"{name}.png")
        assert caption.endswith(".")
        assert "not measured" not in texts(figure)
        assert kind == "grid" or all(axes.get_legend() for axes in figure.axes)
    bare = table[[*TABLES[kind], "status"]]
    for figure, _ in FIGURES[kind].draw(bare).values():
        figure.savefig(tmp_path / "bare.png")
        assert texts(figure).count("not measured") == len(figure.axes)


def test_a_kind_of_attention_is_told_by_its_medians_with_the_range():
    table = frame(**TABLES["softplus"])
    row = FIGURES["softplus"].summary(table).iloc[1]
    losses = table["extrapolate.loss_1"][3:6].astype(float)
    told = f"{losses.median():.3g} ({losses.min():.3g}–{losses.max():.3g})"
    assert row["loss at the training length"] == told
    assert row["first key at 1 × and 16 ×"] == "0.02, 0.00125"


def test_the_study_beyond_counts_laws_by_setting():
    table = frame(**TABLES["beyond"])
    rows = FIGURES["beyond"].summary(table)
    assert [row.split(" (")[0] for row in rows["holds a law"]] == ["2 of 2"] * 6
    assert set(rows["exponent to 10×"]) == {"-1.9 to -1.9 (-2)"}


def test_the_protocol_counts_newton_s_formulas_by_setting_and_learner():
    table = frame(**TABLES["protocol"])
    table.attrs["axes"] = ["attention", "target", "seed", "readouts"]
    rows = FIGURES["protocol"].summary(table)
    assert len(rows) == 2 * 2 * 2
    assert set(rows["learner"]) == {"network, size", "forest"}
    assert set(rows["Newton's is best"]) == {"1 of 3 (0.8–90.6 %)"}
    assert sorted(set(rows["and found"])) == ["0 of 3 (0.0–70.8 %)", "1 of 3 (0.8–90.6 %)"]


def test_the_calibration_counts_what_is_wrong_by_half():
    table = frame(**TABLES["calibration"])
    rows = FIGURES["calibration"].summary(table)
    wrong = {(row["half"], row["label"]): row["wrong"] for row in rows.to_dict("records")}
    lowest = table[(table["model.size"] < 0.02) & (table["label"] != "near miss")]
    for odd, half in ((0, "chosen on"), (1, "frozen")):
        yes = int((lowest["seed"] % 2 == odd).sum())
        assert wrong[half, "false yes"].startswith(f"{yes} of 6 (")
        assert wrong[half, "false no"].startswith("0 of 3 (")


def test_one_variable_of_inertia_and_context_is_found_where_there_is_one():
    identify = MODULES["identify"]
    table = identify.usual(frame(**TABLES["identify"]))
    assert set(table["inertia left"]) == {6.2, 3.1, 0.62, 0.31, 0.0}
    table = table[table["inertia left"] > 0]
    gamma, scatter = identify.one_variable(table)
    assert gamma == pytest.approx(0.4, abs=0.1)  # error ~ inertia left · context^0.4
    assert scatter < 0.03
    assert identify.seed_scatter(table) == pytest.approx(0.05 / np.sqrt(12) / np.log(10), rel=0.5)
    table["far.error"] = np.random.default_rng(0).permutation(table["far.error"])
    assert identify.one_variable(table)[1] > 0.1


@pytest.mark.parametrize(
    ("mean", "spread", "said"),
    [
        (0.0, 0.02, "equivalent"),
        (0.05, 0.02, "equivalent, different"),
        (0.3, 0.02, "different"),
        (0.0, 0.5, "not decided"),
        (0.09, 0.06, "different"),
    ],
)
def test_pairs_are_equivalent_within_the_margin_alone(mean, spread, said):
    noise = np.random.default_rng(1).standard_normal(20)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    assert MODULES["paired"].equivalence(mean + spread * noise, 0.1).words == said


def test_equivalence_is_wrongly_said_of_one_in_twenty():
    draws = np.random.default_rng(2).standard_normal((2000, 20)) * 0.1 + 0.1
    wrong = sum("equivalent" in MODULES["paired"].equivalence(each, 0.1).words for each in draws)
    assert 0.03 < wrong / 2000 < 0.07


def test_cells_that_are_labelled_are_put_together_by_label():
    table = frame(**TABLES["calibration"])
    rows = answer_table(table, ["seed"])
    assert [row[:2] for row in rows[1:]] == [[name, "6"] for name in table["label"].unique()]
    assert "The law by label: at knows 6 of 6" in answer(table, ["seed"])


def test_the_figure_of_any_grid_has_a_line_for_each_setting_on_an_axis_that_the_data_fill():
    """Over the option of numbers; R² far below any use are arrows at the edge."""
    rows = [
        {"cell": f"{kind}{context}{seed}", "status": "done", "attention": kind, "seed": seed,
         "context_length": context, "kicked.kick_r2_first": 0.9 - 0.01 * seed,
         "far.error": 0.01 * context}
        for kind in ("softmax", "lssar") for context in (2, 8, 64) for seed in (0, 1, 2)
    ]  # fmt: skip
    rows[0]["kicked.kick_r2_first"] = -300.0
    table = pd.DataFrame(rows).convert_dtypes()
    table.attrs["axes"] = ["attention", "context_length", "seed"]
    (figure, caption), *_ = ANY_GRID.draw(table).values()
    kicks, errors = figure.axes
    lines = [line for line in kicks.get_lines() if len(line.get_xdata()) == 3]
    assert [line.get_label() for line in lines] == ["attention softmax", "attention lssar"]
    assert list(lines[1].get_ydata()) == pytest.approx([0.89] * 3)
    low, high = errors.get_ylim()
    assert low < 0.02
    assert high > 0.64
    assert low > 0.01  # nothing else shares the axis
    assert kicks.get_ylim()[0] > -1.5
    assert "context length" in caption


def test_a_table_of_a_page_has_the_finished_cells_and_keeps_its_columns(tmp_path):
    shown = MODULES["columns"].shown
    cells = {"seed": [0, 1], "status": ["done", "failed"], "r2": [0.5, None], "error": [None, "no"]}
    pd.DataFrame(cells).to_csv(tmp_path / "results.csv", index=False)
    (tmp_path / "table.csv").write_text("r2,seed\n")
    found = shown(tmp_path / "results.csv", tmp_path / "table.csv")
    assert found.to_dict("list") == {"r2": [0.5], "seed": [0]}
