"""Exponents found against those of the laws that moved the orbits."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import COLORS
from symreg.experiments.study_figures.base import (
    StudyFigure,
    finished,
    panels,
    plot_recovered,
)


class LawsFigure(StudyFigure):
    """Exponents found against those of the laws that moved the orbits."""

    name = "laws"

    def draw(self, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
        figure, drawn = panels(1, 2, width=12)
        plot_exponents(drawn[0], frame)
        plot_recovered(drawn[1], frame, "law")
        caption = "The exponents that were found against those of the laws that moved the orbits."
        return {"laws": (figure, caption)}


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
        axes.plot(ends, ends, color=COLORS["reference"], linewidth=1, zorder=0)
        axes.set_xlabel("exponent of the true law on the same states")
        axes.set_ylabel("exponent found [95 %]")
    return finished(axes, drawn)


FIGURE = LawsFigure()
