"""Kick response by kind of attention."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panels import dotted, names_below, panels, plot_beside, settings

from orbits.palette import CYCLE
from orbits.plot import labelled, squeezed_r2
from symreg import StudyFigure
from symreg.experiments.study_figure import finished, measured
from symreg.recovery.thresholds import THRESHOLDS


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Kick response by kind of attention."""
    figure, drawn = panels(1, 2, width=12)
    t = THRESHOLDS
    steps = {
        "first": ("The first step after a kick", (t.field_r2, t.keplerian_r2)),
        "4": ("Four steps after a kick", (t.field_r2,)),
    }
    for panel, (step, (title, levels)) in zip(drawn, steps.items(), strict=True):
        plot_kinds(panel, frame, f"kicked.kick_r2_{step}", levels)
        panel.set_title(title, fontsize=10)
    caption = (
        "Kick response by kind of attention, a point for every cell. Dotted: Newtonian "
        "above, Keplerian below."
    )
    return {"attention": (figure, caption)}


def plot_kinds(axes: Axes, frame: pd.DataFrame, column: str, levels: Sequence[float] = ()) -> Axes:
    """R² after a kick by kind of attention: full and windowed, with or without kicks in training.

    Args:
        axes: where to draw.
        frame: the table of a study.
        column: what is drawn.
        levels: of dotted lines.
    """
    if not measured(frame, column):
        return finished(axes, False)
    kinds = list(dict.fromkeys(frame["attention"]))
    varied = settings(frame)
    names = list(dict.fromkeys(varied))
    for number, (name, color) in enumerate(zip(names, CYCLE, strict=False)):
        rows, shift = frame[varied == name], 0.16 * (number - (len(names) - 1) / 2)
        plot_beside(axes, kinds, rows["attention"], rows[column], shift, color, name)
    for line in range(1, len(kinds)):
        axes.axvline(line - 0.5, color="#eeeeee", linewidth=1, zorder=0)
    dotted(axes, *levels)
    names_below(axes, kinds)
    squeezed_r2(axes)
    return labelled(axes, "", "R² of the implied acceleration")


FIGURE = StudyFigure(draw)
