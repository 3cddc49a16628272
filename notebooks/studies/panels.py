"""Panels that several studies draw."""

import itertools
from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from orbits.palette import COLORS, CYCLE
from orbits.plot import plain_numbers
from symreg.experiments.study_figure import finished, measured

FULL = "full context"
STYLES = ("-", "--", ":", "-.")


def panels(
    rows: int, columns: int, width: float = 11.0, height: float = 4.2
) -> tuple[Figure, list[Axes]]:
    """A figure with its width, and height per row of panels, in inches."""
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def dotted(axes: Axes, *levels: float) -> None:
    """Horizontal lines where a verdict changes."""
    for level in levels:
        axes.axhline(level, color=COLORS["reference"], linestyle=":", linewidth=1)


def names_below(axes: Axes, names: Sequence[str]) -> None:
    """Names at 0, 1, ... of the horizontal axis."""
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")


def plot_beside(
    axes: Axes, names: Sequence[str], of: pd.Series, values: pd.Series, shift: float, color: str,
    label: str, hollow: bool = False,
) -> None:  # fmt: skip
    """A point for every cell, beside the others of its name.

    Args:
        axes: where to draw.
        names: at 0, 1, ... of the horizontal axis.
        of: (cell,) its name.
        values: (cell,) what is drawn.
        shift: to the right.
        color: of the points.
        label: in the legend.
        hollow: leave them open.
    """
    x = [names.index(name) + shift for name in of]
    faces = "none" if hollow else color
    axes.scatter(
        x, values.astype(float), s=28, edgecolors=color, facecolors=faces, alpha=0.8, label=label
    )


def plot_against(
    axes: Axes,
    frame: pd.DataFrame,
    x: str,
    columns: Mapping[str, str],
    *,
    colors: Sequence[str] = CYCLE,
    styles: Sequence[str] = ("-",),
) -> Axes:
    """Columns against an option: a point for every cell, a line through the medians.

    Args:
        axes: where to draw.
        frame: the table of a study.
        x: column of the option, a number.
        columns: column by its name in the legend.
        colors: one after the other, again and again.
        styles: of the lines, which change when all colours have been used.
    """
    looks = itertools.product(styles, colors)
    for (label, column), (style, color) in zip(columns.items(), looks, strict=False):
        if measured(frame, column):
            known = frame[[x, column]].dropna().astype(float)
            axes.scatter(known[x], known[column], s=16, color=color, alpha=0.6, linewidths=0)
            medians = known.groupby(x)[column].median()
            axes.plot(medians.index, medians, style, color=color, linewidth=1.6, label=label)
    return finished(axes, bool(axes.lines), columns=len(styles))


def settings(frame: pd.DataFrame) -> pd.Series:
    """In words, what varied besides the kind of attention: window and kicked training."""
    words = pd.Series(FULL, index=frame.index, dtype=object)
    if "window" in frame:
        window = frame["window"].astype("Int64").astype(str)
        words = words.where(frame["window"].isna(), "window " + window)
    if "kicked" in frame:
        beside = words.map(lambda word: "" if word == FULL else f"{word}, ")
        words = words.where(frame["kicked"] == 0, beside + "kicked training")
    return words


def factors_of(frame: pd.DataFrame, stem: str) -> list[int]:
    """Lengths, in training contexts, in a table: columns STEM1, STEM4, ..."""
    names = [str(name) for name in frame]
    return sorted(int(name.removeprefix(stem)) for name in names if name.startswith(stem))


def against_lengths(axes: Axes, factors: Sequence[int]) -> None:
    """A logarithmic axis of lengths, in training contexts."""
    axes.set_xscale("log", base=2)
    plain_numbers(axes.xaxis, factors)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}×"))
    axes.set_xlabel("length, in contexts of training")
