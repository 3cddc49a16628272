"""Any grid: what was measured over one option, a colour for each setting of the others."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import CYCLE
from orbits.statistics import is_wide
from symreg.experiments.answer import FIXED, MEASURES, settings, telling_axes
from symreg.experiments.study_figure import StudyFigure, finished

MOST_PANELS = 3
LOWEST_R2 = -1.0
"""Lower R² are drawn there, as arrows: how bad they are means nothing."""
CROWDED = 40
"""Characters below an axis that stand side by side; longer ones are turned."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Whatever was measured, for studies without a figure of their own: medians over the seeds."""
    options = telling_axes(frame, frame.attrs.get("axes", axes_of(frame)))
    across = next((name for name in options if _numbers(frame[name]) is not None), None)
    across = across or next(iter(options), None)
    colours = settings(frame, [name for name in options if name != across])
    measures = [name for name in MEASURES if name in frame and frame[name].notna().any()]
    count = max(1, min(MOST_PANELS, len(measures)))
    figure = Figure(figsize=(1.6 + 3.4 * count, 3.4), layout="constrained")
    panels = list(figure.subplots(1, count, squeeze=False).flat)
    if not measures:
        finished(panels[0], False)
    x, labels = _places(frame, across)
    for axes, name in zip(panels, measures, strict=False):
        values = frame[name].astype(float)
        for number, setting in enumerate(dict.fromkeys(colours)):
            mine = colours == setting
            color, style = CYCLE[number % len(CYCLE)], "o" if labels else "o-"
            _draw(
                axes, x[mine], values[mine], "r2" in name, color=color, style=style, label=setting
            )
        axes.set_ylabel(MEASURES[name])
        axes.grid(axis="y", linewidth=0.3)
        axes.set_xlabel("" if across is None else across.replace("_", " "))
        if labels:
            turned = sum(map(len, labels)) > CROWDED
            axes.set_xticks(range(len(labels)), labels, rotation=60 if turned else 0)
        elif is_wide(x):
            axes.set_xscale("log")
            places = x.drop_duplicates().sort_values()
            axes.set_xticks(places, [f"{place:g}" for place in places])
            axes.minorticks_off()
        if "r2" not in name and is_wide(values.dropna()):
            axes.set_yscale("log")
    if measures and colours.nunique() > 1:
        finished(panels[-1], True, beside=True)
    over = "" if across is None else f" over {across.replace('_', ' ')}"
    caption = (
        f"What was measured{over}: medians over the seeds, with a bar from the lowest to the "
        f"highest, in a colour for each setting of the other options. Arrows: R² below "
        f"{LOWEST_R2:g}."
    )
    return {"grid": (figure, caption)}


def _draw(
    axes: Axes, x: pd.Series, values: pd.Series, is_r2: bool, color: str, style: str, label: str
) -> None:
    """Medians over the seeds at each place, with the range; R² that are too low as arrows."""
    shown = values.clip(lower=LOWEST_R2) if is_r2 else values
    seeds = shown.groupby(x).agg(["median", "min", "max"]).dropna()
    axes.plot(seeds.index, seeds["median"], style, color=color, markersize=4, label=label)
    axes.vlines(seeds.index, seeds["min"], seeds["max"], color=color, linewidth=1, alpha=0.6)
    low = x[values < LOWEST_R2] if is_r2 else x[:0]
    axes.plot(low, np.full(len(low), LOWEST_R2), "v", color=color, markersize=7)


def _places(frame: pd.DataFrame, across: str | None) -> tuple[pd.Series, list[str]]:
    """(cell,) place of each cell on the axis, and what stands below the places, if no numbers."""
    if across is None:
        return pd.Series(0.0, frame.index), [""]
    numbers = _numbers(frame[across])
    if numbers is not None:
        return numbers, []
    words = frame[across].astype("string").fillna("none")
    labels = list(dict.fromkeys(words))
    return words.map(labels.index).astype(float), labels


def _numbers(column: pd.Series) -> pd.Series | None:
    """An option's values if all are numbers."""
    numbers = pd.to_numeric(column, errors="coerce")
    return numbers.astype(float) if numbers.notna().all() else None


def axes_of(frame: pd.DataFrame) -> list[str]:
    """The options that vary in a table, if it does not say which."""
    return [str(name) for name in frame if "." not in str(name) and name not in FIXED]


ANY_GRID = StudyFigure(draw)
