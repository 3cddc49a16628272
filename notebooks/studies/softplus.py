"""Attention part by part: loss, force, longer sequences, and how evenly it attends."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panels import against_lengths, factors_of, panels

from orbits.palette import COLORS, CYCLE
from orbits.plot import plain_numbers
from symreg import StudyFigure
from symreg.experiments.study_figure import finished, measured

KIND, STEM = "attention", "extrapolate."
MEASURES = {
    f"{STEM}loss_1": "loss at the training length",
    "far.error": "median relative error on far states",
    f"{STEM}ratio_4": "loss at 4 ×, over that",
    f"{STEM}ratio_16": "loss at 16 ×, over that",
}
DRAWN = list(MEASURES)[:2]
"""The others are in the tables."""
MAPS = ("exp", "softplus", "relu", "sigmoid")
WORDS = {
    "map=exp": "exponential", "map=softplus": "softplus", "map=relu": "ReLU",
    "map=sigmoid": "sigmoid", "norm=l1": "", "norm=none": "no sum", "scale=sqrt": "√d",
    "scale=logn": "log N", "scale=learned": "s log N", "scale=logdlogn": "log d · log N",
    "sharpen": "p", "map=exp norm=l1 scale=sqrt": "softmax",
}  # fmt: skip
"""Parts of a kind, as in the text."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Attention part by part."""
    kinds = list(dict.fromkeys(frame[KIND].astype(str)))
    if measured(frame, DRAWN[0]):  # the best first
        medians = frame.assign(**{KIND: frame[KIND].astype(str)}).groupby(KIND)[DRAWN[0]].median()
        kinds.sort(key=lambda kind: medians[kind])
    figure, drawn = panels(1, len(DRAWN), width=11, height=max(3.0, 1.2 + 0.2 * len(kinds)))
    for panel, column in zip(drawn, DRAWN, strict=True):
        plot_by_kind(panel, frame, kinds, column, MEASURES[column])
        if panel is not drawn[0]:
            panel.set_yticklabels([])
    if measured(frame, DRAWN[0]):
        for name_of_map, color in zip(MAPS, CYCLE, strict=False):
            drawn[0].plot([], [], "o", color=color, label=WORDS[f"map={name_of_map}"])
        drawn[0].plot([], [], "o", color=COLORS["injected"], label="other kinds")
        finished(drawn[0], True)
    caption = (
        "A point for each seed, a bar at the median, from the least loss to the largest. Colours: "
        "map of the scores. Dotted: softmax. p: power of the re-weighting."
    )
    spread, shown = panels(1, 2, width=12)
    plot_lengths(shown[0], frame, "entropy", "entropy over log N")
    plot_lengths(shown[1], frame, "first_key", "share of the first key")
    return {
        "softplus": (figure, caption),
        "softplus_spread": (
            spread,
            "How evenly the last positions attend, and how much to the first, on sequences "
            "longer than those of training: medians over seeds.",
        ),
    }


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per attention: medians over seeds, with the least and largest loss."""
    rows = []
    for kind, part in frame.groupby(KIND, sort=False):
        row: dict[str, object] = {KIND: kind, "seeds": len(part)}
        for column, words in MEASURES.items():
            if column in part:
                values = part[column].astype(float)
                row[words] = f"{values.median():.3g} ({values.min():.3g}–{values.max():.3g})"
        for name in ("entropy", "first_key"):
            columns = [f"{STEM}{name}_{factor}" for factor in (1, 16)]
            if set(columns) <= set(part):
                first, last = (part[column].astype(float).median() for column in columns)
                row[f"{name.replace('_', ' ')} at 1 × and 16 ×"] = f"{first:.3g}, {last:.3g}"
        rows.append(row)
    return pd.DataFrame(rows)


def in_words(kind: str) -> str:
    """A kind as a label."""
    if kind in WORDS:
        return WORDS[kind]
    words = [WORDS.get(word, word.replace("sharpen", WORDS["sharpen"])) for word in kind.split()]
    return ", ".join(word for word in words if word)


def color_of(kind: str) -> str:
    """By the map of its scores."""
    name = dict(word.split("=") for word in kind.split() if "=" in word).get("map")
    return CYCLE[MAPS.index(name)] if name in MAPS else COLORS["injected"]


def plot_by_kind(
    axes: Axes, frame: pd.DataFrame, kinds: list[str], column: str, words: str
) -> Axes:
    """A line per kind, a point per seed, on a logarithmic axis."""
    if not measured(frame, column):
        return finished(axes, False)
    for row, kind in enumerate(kinds):
        values = frame.loc[frame[KIND] == kind, column].astype(float).dropna()
        axes.scatter(values, [row] * len(values), s=14, color=color_of(kind), alpha=0.6)
        axes.plot([values.median()] * 2, [row - 0.35, row + 0.35], color=color_of(kind))
    first = frame[KIND].astype(str).iloc[0]
    axes.axvline(
        frame.loc[frame[KIND] == first, column].astype(float).median(),
        color=COLORS["reference"], linestyle=":", linewidth=1, zorder=0, label=in_words(first),
    )  # fmt: skip
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < 30 * low:  # hardly more than a decade
        places = 10.0 ** np.arange(-9, 10)[:, None] * [1, 2, 5]
        plain_numbers(axes.xaxis, [p for p in places.flat if low <= p <= high])
    axes.set_yticks(range(len(kinds)), [in_words(kind) for kind in kinds], fontsize=8)
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.invert_yaxis()
    axes.set_xlabel(words)
    return finished(axes, True)


def plot_lengths(axes: Axes, frame: pd.DataFrame, name: str, words: str) -> Axes:
    """A number of the weights against length, a line per kind."""
    stem = f"{STEM}{name}_"
    factors = factors_of(frame, stem)
    if not factors:
        return finished(axes, False)
    for kind, part in frame.groupby(KIND, sort=False):
        medians = part[[f"{stem}{factor}" for factor in factors]].astype(float).median()
        re_weighted = "sharpen=" in str(kind)
        axes.plot(
            factors, np.asarray(medians), color=color_of(str(kind)), linewidth=1, marker="o",
            markersize=3, linestyle="--" if re_weighted else "-",
        )  # fmt: skip
    against_lengths(axes, factors)
    axes.set_ylabel(words)
    for name_of_map, color in zip(MAPS, CYCLE, strict=False):
        axes.plot([], [], color=color, label=name_of_map)
    axes.plot([], [], color="#555555", linestyle="--", label="re-weighted")
    return finished(axes, True)


FIGURE = StudyFigure(draw, summary)
