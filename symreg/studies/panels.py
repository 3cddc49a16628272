"""Pictures of a study, drawn from its table of results.

Every function draws on the Axes that it is given and returns it. A column that the table does not
have is left out; a panel without any says so.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from symreg.runs.config import FACTORS
from symreg.runs.figures import COLORS, REFERENCE_COLOR, squeezed_r2
from symreg.runs.score import ScoreThresholds

FULL = "full context"
LEAST_R2 = -100.0
"""Where values of R² are drawn that are lower still."""
STYLES = ("-", "--", ":", "-.")
PARTS = ("low", "high", "truth")
CYCLE = ("#4477aa", "#cc6677", "#228833", "#ccaa33", "#aa3377", "#66ccee", "#777777", "#222222")


def plot_against(
    axes: Axes,
    frame: pd.DataFrame,
    x: str,
    columns: Mapping[str, str],
    *,
    colors: Sequence[str] = CYCLE,
) -> Axes:
    """Columns against an option: a point for every cell, a line through the medians.

    Args:
        axes: where to draw.
        frame: the table of a study.
        x: column of the option, a number.
        columns: column by its name in the legend.
        colors: one for each column.
    """
    drawn = False
    for (label, column), color in zip(columns.items(), colors, strict=False):
        if column not in frame or frame[column].isna().all():
            continue
        known = frame[[x, column]].dropna().astype(float)
        axes.scatter(known[x], known[column], s=16, color=color, alpha=0.6, linewidths=0)
        medians = known.groupby(x)[column].median()
        axes.plot(medians.index, medians, color=color, linewidth=1.6, label=label)
        drawn = True
    return _finished(axes, drawn)


def plot_context_kicks(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² after a kick, and on undisturbed orbits, against the context length."""
    plot_against(
        axes, frame, "context_length",
        {
            "one step after a kick": "kicked.kick_r2_1",
            "four steps after a kick": "kicked.kick_r2_4",
            "undisturbed orbits": "orbit.r2",
        },
        colors=(COLORS["kicked"], "#e5a3ad", COLORS["orbit"]),
    )  # fmt: skip
    t = ScoreThresholds()
    axes.axhline(t.kick_r2, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    axes.axhline(t.lost_r2, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    squeezed_r2(axes)
    _context_axis(axes, frame)
    axes.set_ylabel("R² of the implied acceleration")
    axes.set_title(
        "Kick response (dotted: at the first step Newtonian above, Keplerian below)", fontsize=10
    )
    return axes


def plot_context_jacobian(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Share of the Jacobian on the last two positions against the context length."""
    plot_against(axes, frame, "context_length", {"locality": "jacobian.locality"})
    axes.axhline(ScoreThresholds().locality, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    axes.set_ylim(-0.03, 1.03)
    _context_axis(axes, frame)
    axes.set_ylabel("Jacobian locality")
    axes.set_title("Dependence on the last two positions", fontsize=10)
    return axes


def plot_context_linear(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Linear probes of the force against the context length: trained, untrained, bare positions."""
    drawn = False
    targets = {"|F|": "force", "F_x": "force_x", "F_y": "force_y"}
    styles = {"trained": "-", "untrained": "--", "positions": ":"}
    for (label, name), color in zip(targets.items(), CYCLE, strict=False):
        for who, style in styles.items():
            column = f"linear.{who}_{name}"
            if column in frame and frame[column].notna().any():
                known = frame[["context_length", column]].dropna().astype(float)
                medians = known.groupby("context_length")[column].median()
                axes.plot(
                    medians.index, medians, style, color=color, linewidth=1.4, marker="o",
                    markersize=3, label=f"{label}, {who}",
                )  # fmt: skip
                drawn = True
    if drawn:
        squeezed_r2(axes)
        axes.set_ylim(-1, 1.003)
    _finished(axes, drawn, columns=3)
    _context_axis(axes, frame)
    axes.set_ylabel("R² of the best layer, held-out orbits")
    axes.set_title("Linear probes of the force", fontsize=10)
    return axes


def plot_context_rollout(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Errors of prediction against the context length."""
    columns = {
        f"{step} step{'s' * (step > 1)}": f"evaluate.error_{step}" for step in (1, 4, 16, 64)
    }
    plot_against(axes, frame, "context_length", columns)
    if axes.lines:
        axes.set_yscale("log")
    _context_axis(axes, frame)
    axes.set_ylabel("median error / distance from the centre")
    axes.set_title("Roll-out error", fontsize=10)
    return axes


def plot_kinds(axes: Axes, frame: pd.DataFrame, column: str, levels: Sequence[float] = ()) -> Axes:
    """R² after a kick by kind of attention: full and windowed, trained with kicks or without.

    Args:
        axes: where to draw.
        frame: the table of a study.
        column: what is drawn.
        levels: where dotted lines are drawn.
    """
    if column not in frame or frame[column].isna().all():
        return _finished(axes, False)
    kinds = list(dict.fromkeys(frame["attention"]))
    settings = _settings(frame)
    names = list(dict.fromkeys(settings))
    for number, (name, color) in enumerate(zip(names, CYCLE, strict=False)):
        shift = 0.16 * (number - (len(names) - 1) / 2)
        rows = frame[settings == name]
        x = [kinds.index(kind) + shift for kind in rows["attention"]]
        axes.scatter(x, rows[column].astype(float), s=28, color=color, label=name, alpha=0.8)
    for line in range(1, len(kinds)):
        axes.axvline(line - 0.5, color="#eeeeee", linewidth=1, zorder=0)
    for level in levels:
        axes.axhline(level, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    axes.set_xticks(range(len(kinds)), kinds, rotation=25, ha="right")
    squeezed_r2(axes)
    axes.set_ylabel("R² of the implied acceleration")
    axes.legend(fontsize=8, frameon=False)
    return axes


def plot_loss_ratios(axes: Axes, frame: pd.DataFrame, title: str) -> Axes:
    """Loss over that at the training length, against length: colours by kind of attention, line
    styles by window and kicked training."""
    columns = [f"extrapolate.ratio_{factor}" for factor in FACTORS]
    columns = [column for column in columns if column in frame]
    if not columns:
        return _finished(axes, False)
    factors = [int(column.split("_")[-1]) for column in columns]
    settings = _settings(frame)
    colors = dict(zip(dict.fromkeys(frame["attention"]), itertools.cycle(CYCLE), strict=False))
    styles = dict(zip(dict.fromkeys(settings), itertools.cycle(STYLES), strict=False))
    for (kind, setting), rows in frame.groupby([frame["attention"], settings], sort=False):
        drawn = {"color": colors[kind], "linestyle": styles[setting]}
        ratios = rows[columns].astype(float).to_numpy()
        for row in ratios:
            axes.plot(factors, row, **drawn, linewidth=0.7, alpha=0.4)
        label = kind if setting == FULL else f"{kind}, {setting}"
        axes.plot(
            factors, np.median(ratios, axis=0), **drawn, linewidth=2, marker="o", markersize=4,
            label=label,
        )  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(factors)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}×"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.axhline(1, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    axes.set_xlabel("length, in contexts of training")
    axes.set_ylabel("loss / loss at the training length")
    axes.set_title(title, fontsize=10)
    return _finished(axes, True, beside=True)


def plot_exponents(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Free exponents found in each set of states against those of the true law there."""
    drawn = False
    for source in ("orbit", "kicked", "planets", "transfer"):
        column = f"{source}.exponent"
        if column not in frame or frame[column].isna().all():
            continue
        names = [f"{column}{part}" for part in ("_truth", "", "_low", "_high")]
        known = frame[names].dropna().astype(float)
        truth, value, low, high = (known[name] for name in names)
        axes.errorbar(
            truth, value, yerr=[np.maximum(value - low, 0), np.maximum(high - value, 0)],
            fmt="o", markersize=5, color=COLORS.get(source, "#aa3377"), label=source, alpha=0.8,
        )  # fmt: skip
        drawn = True
    if drawn:
        ends = axes.get_xlim()
        axes.plot(ends, ends, color=REFERENCE_COLOR, linewidth=1, zorder=0)
        axes.set_xlabel("exponent of the true law on the same states")
        axes.set_ylabel("exponent found [95 %]")
    return _finished(axes, drawn)


def plot_recovered(axes: Axes, frame: pd.DataFrame, by: str) -> Axes:
    """Distance of the exponent from the true law's by an option, for each set of states."""
    labels = _labels(frame, by)
    values = list(dict.fromkeys(labels))
    drawn = False
    for number, source in enumerate(("orbit", "kicked", "planets", "transfer")):
        names = [f"{source}.exponent", f"{source}.exponent_truth"]
        if not set(names) <= set(frame):
            continue
        known = frame[names].dropna()
        error = (known[names[0]].astype(float) - known[names[1]].astype(float)).abs()
        y = [values.index(value) + 0.15 * (number - 1) for value in labels[known.index]]
        color = COLORS.get(source, "#aa3377")
        axes.scatter(error.clip(lower=1e-5), y, s=28, color=color, label=source)
        drawn = True
    axes.set_yticks(range(len(values)), values)
    axes.invert_yaxis()
    if drawn:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.axvline(0.05, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
        axes.set_xlabel("distance of the exponent from the true law's (dotted: the gate)")
    return _finished(axes, drawn)


def plot_powers(axes: Axes, frame: pd.DataFrame, source: str) -> Axes:
    """Exponents of r and of every mass found in a set of states, by system and inputs.

    Args:
        axes: where to draw.
        frame: the table of a study.
        source: set of states.
    """
    stem = f"{source}.exponent"
    features = {stem: "r"}
    for name in frame.columns:
        if name.startswith(f"{stem}_of_") and name.rsplit("_", 1)[1] not in PARTS:
            features[name] = name.removeprefix(f"{stem}_of_")
    labels = pd.Series("", index=frame.index, dtype=object)
    for option in ("system", "inputs"):
        if option in frame:
            labels = labels + np.where(labels == "", "", ", ") + frame[option].astype(object)
    values = list(dict.fromkeys(labels))
    drawn = False
    for number, ((column, feature), color) in enumerate(zip(features.items(), CYCLE, strict=False)):
        names = [column, *(f"{column}_{part}" for part in PARTS)]
        if not set(names) <= set(frame):
            continue
        known = frame[names].dropna().astype(float)
        if known.empty:
            continue
        shift = 0.15 * (number - (len(features) - 1) / 2)
        x = np.array([values.index(value) + shift for value in labels[known.index]])
        found, low, high, truth = (known[name].to_numpy() for name in names)
        x = x + 0.03 * (known.groupby(x).cumcount().to_numpy() - 2)
        axes.errorbar(
            x, found, yerr=[np.maximum(found - low, 0), np.maximum(high - found, 0)], fmt="o",
            markersize=4, color=color, label=f"exponent of {feature}",
        )  # fmt: skip
        for level in sorted(set(np.round(truth, 6))):
            axes.axhline(level, color=color, linestyle=":", linewidth=1)
        drawn = True
    axes.set_xticks(range(len(values)), values)
    axes.set_ylabel("exponent found [95 %], true: dotted")
    return _finished(axes, drawn)


def plot_transfer(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² by kind of attention and step: of the fine-tuned force, on orbits and after kicks."""
    columns = {
        "fine-tuned": "transfer.r2",
        "fine-tuned, untrained": "transfer_untrained.r2",
        "new head": "transfer_frozen.r2",
        "new head, untrained": "transfer_frozen_untrained.r2",
        "predictions, orbits": "orbit.r2",
        "predictions, kicks": "kicked.kick_r2_first",
    }
    labels = _labels(frame, "attention")
    values = list(dict.fromkeys(labels))
    drawn = False
    for number, ((label, column), color) in enumerate(zip(columns.items(), CYCLE, strict=False)):
        if column in frame and frame[column].notna().any():
            x = [values.index(value) + 0.12 * (number - 2.5) for value in labels]
            shown = frame[column].astype(float).clip(lower=LEAST_R2)
            axes.scatter(x, shown, s=28, color=color, label=label)
            drawn = True
    axes.set_xticks(range(len(values)), values, rotation=25, ha="right")
    if drawn:
        squeezed_r2(axes)
        axes.set_ylabel(f"R² of the acceleration ({LEAST_R2:g}: that or less)")
    return _finished(axes, drawn, beside=True)


def _settings(frame: pd.DataFrame) -> pd.Series:
    """In words, what was varied beside the kind of attention: window and kicked training."""
    words = pd.Series(FULL, index=frame.index, dtype=object)
    if "window" in frame:
        window = frame["window"].astype("Int64").astype(str)
        words = words.where(frame["window"].isna(), "window " + window)
    if "kicked" in frame:
        beside = words.map(lambda word: "" if word == FULL else f"{word}, ")
        words = words.where(frame["kicked"] == 0, beside + "kicked training")
    return words


def _labels(frame: pd.DataFrame, by: str) -> pd.Series:
    """An option in words, with the width and the time step where they vary too."""
    words = frame[by].astype(str).astype(object)
    if "d_model" in frame and by != "d_model":
        words = words + ", width " + frame["d_model"].astype(str)
    if "dt" in frame and by != "dt":
        words = words + ", dt " + frame["dt"].map("{:.2g} yr".format)
    return words


def _context_axis(axes: Axes, frame: pd.DataFrame) -> None:
    axes.set_xscale("log")
    axes.set_xticks(sorted(frame["context_length"].astype(int).unique()))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("context length")


def _finished(axes: Axes, drawn: bool, columns: int = 1, beside: bool = False) -> Axes:
    """With a legend, beside the panel where it would hide something; or with words in its place."""
    if drawn:
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axes.legend(
            fontsize=8 if columns == 1 else 7, frameon=False, ncols=columns,
            **(place if beside else {}),
        )  # fmt: skip
    else:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", color="#777777")
    return axes
