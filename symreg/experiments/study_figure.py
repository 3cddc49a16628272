"""The contract of a study's figures, and what every study's table and figures share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import binomtest

from orbits.palette import LEGEND

LABEL = "label"
"""Key of a grid part for what is known of its cells, a column of the table."""


@dataclass(frozen=True)
class StudyFigure:
    """The figures of a study: `FIGURE` of the file that its `figure` names.

    Attributes:
        draw: from the table of finished cells, figures with their captions by file name. A missing
            column is left out; a panel without any says so.
        summary: from the same, the answer in a table of a few rows, if any.
    """

    draw: Callable[[pd.DataFrame], dict[str, tuple[Figure, str]]]
    summary: Callable[[pd.DataFrame], pd.DataFrame | None] = lambda frame: None


def figure_in(path: Path) -> StudyFigure:
    """The figures that a file defines as `FIGURE`; its code is executed."""
    from worldmodel.loading import executed

    if not path.is_file():
        raise ValueError(f"figure: there is no file {path}.")
    figure = getattr(executed(path, f"figure {path}"), "FIGURE", None)
    if not isinstance(figure, StudyFigure):
        raise ValueError(f"figure: {path} has no FIGURE, a symreg.StudyFigure.")
    return figure


def measured(frame: pd.DataFrame, *columns: str) -> bool:
    """Whether a table holds each of these columns, with some number in it."""
    return all(name in frame and bool(frame[name].notna().any()) for name in columns)


def frequency(yes: pd.Series) -> str:
    """`0 of 60 (0.0–6.0 %)`: for how many cells something holds, with the Clopper-Pearson 95 %
    interval."""
    if yes.empty:
        return "–"
    count, of = int(yes.sum()), len(yes)
    low, high = binomtest(count, of).proportion_ci(method="exact")
    return f"{count} of {of} ({100 * low:.1f}–{100 * high:.1f} %)"


def finished(axes: Axes, drawn: bool, columns: int = 1, beside: bool = False) -> Axes:
    """With a legend, beside the panel if it would hide something; or with words instead."""
    if drawn:
        place: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}
        axes.legend(ncols=columns, **LEGEND, **(place if beside else {}))
    else:
        axes.text(0.5, 0.5, "not measured", transform=axes.transAxes, ha="center", color="#777777")
    return axes
