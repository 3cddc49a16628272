"""Any grid: a point for every cell and a line from the lowest seed to the highest, by setting."""

import pandas as pd
from matplotlib.figure import Figure

from orbits.palette import CYCLE
from symreg.experiments.answer import FIXED, MEASURES, settings
from symreg.experiments.study_figure import StudyFigure, finished

MOST_PANELS = 3
LOWEST_R2 = -1.0
"""Lower R² are drawn at the edge, as arrows: how bad they are means nothing."""
ROW = 0.32
"""Inches of a setting."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Whatever was measured, by setting: for studies without a figure of their own."""
    words = settings(frame, frame.attrs.get("axes", axes_of(frame)))
    names = list(dict.fromkeys(words))
    known = [name for name in MEASURES if name in frame and frame[name].notna().any()]
    count = max(1, min(MOST_PANELS, len(known)))
    height = max(2.4, 1.2 + ROW * len(names))
    figure = Figure(figsize=(3.5 + 2.8 * count, height), layout="constrained")
    drawn = list(figure.subplots(1, count, sharey=True, squeeze=False).flat)
    if not known:
        finished(drawn[0], False)
    for axes, name, color in zip(drawn, known, CYCLE, strict=False):
        values = frame[name].astype(float)
        is_r2 = "r2" in name
        shown = values.clip(lower=LOWEST_R2) if is_r2 else values
        for row, setting in enumerate(names):
            part, raw = shown[words == setting].dropna(), values[words == setting].dropna()
            axes.plot(part, [row] * len(part), color=color, linewidth=1, alpha=0.5)
            off = raw < LOWEST_R2 if is_r2 else raw != raw
            axes.scatter(part[~off], [row] * int((~off).sum()), s=22, color=color)
            axes.scatter(part[off], [row] * int(off.sum()), s=34, color=color, marker="<")
        axes.set_xlabel(MEASURES[name])
        axes.grid(axis="x", linewidth=0.3)
        if is_r2:
            axes.set_xlim(LOWEST_R2 - 0.08, 1.08)
        elif (values.dropna() > 0).all() and values.max() > 30 * values.min():
            axes.set_xscale("log")
    drawn[0].set_yticks(range(len(names)), names)
    drawn[0].invert_yaxis()
    caption = (
        f"What was measured, by setting: a point for every cell. Arrows are R² below {LOWEST_R2:g}."
    )
    return {"grid": (figure, caption)}


def axes_of(frame: pd.DataFrame) -> list[str]:
    """The options that vary in a table, if it does not say which."""
    return [str(name) for name in frame if "." not in str(name) and name not in FIXED]


ANY_GRID = StudyFigure(draw)
