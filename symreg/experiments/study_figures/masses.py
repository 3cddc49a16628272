"""Exponents of the distance and of the masses."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import CYCLE
from symreg.experiments.config import SOURCES
from symreg.experiments.study_figures.base import (
    StudyFigure,
    finished,
    panels,
)

PARTS = ("low", "high", "truth")


class MassesFigure(StudyFigure):
    """Exponents of the distance and of the masses."""

    name = "masses"

    def draw(self, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
        figure, drawn = panels(1, 2, width=12)
        for panel, source in zip(drawn, ("orbit", "kicked"), strict=True):
            plot_powers(panel, frame, source)
            panel.set_title(SOURCES[source], fontsize=10)
        caption = (
            "Exponents of the distance and of the masses, which the symbolic step alone is "
            "given, a point for every cell. Dotted: those of the true law."
        )
        return {"masses": (figure, caption)}


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
    return finished(axes, drawn)


FIGURE = MassesFigure()
