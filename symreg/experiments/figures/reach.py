"""The force by distance, where the model was trained and beyond."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.options import checked
from orbits.palette import COLORS, FAINT
from orbits.plot import labelled, plain_ticks
from symreg.experiments.figures.base import FigureData, RunFigure
from worldmodel.controls import CONTROLS
from worldmodel.examiner.answers import RIGHT

BINS = 24
"""Of distance, even in its logarithm."""


def draw(shown: FigureData) -> Figure | None:
    """The size of the force above, its error below."""
    if not shown.reach or shown.radius is None:
        return None
    figure = Figure(figsize=(7, 5.2), layout="constrained")
    above, below = figure.subplots(2, height_ratios=(3, 2), sharex=True)
    plot_reach(above, shown.reach, shown.radius, law=shown.law, below=below)
    return figure


@checked
def plot_reach(
    axes: Axes,
    reach: Mapping[str, Mapping[str, Sequence[float]]],
    radius: tuple[float, float],
    *,
    law: str = "the law",
    below: Axes | None = None,
    styles: Mapping[str, tuple[str, float]] | None = None,
) -> Axes:
    """Size of the acceleration by distance, and its relative error.

    Args:
        axes: where to draw.
        reach: by who was asked, the first with its states as dots: `r` (au), `size` and `true`
            (au/yr^2), `error`.
        radius: distances of training, au, which are shaded.
        law: its name.
        below: where the errors are drawn.
        styles: colour and width of each line, with `reach`'s names as labels; by default the names
            are of controls ("" for the model).
    """
    first = next(iter(reach))
    for name in reversed(list(reach)):  # the first last, over the others
        if styles is None:
            who = CONTROLS[name or "none"]
            label, color, width = who.label, who.color, 1.2 if name else 2.0
        else:
            label, (color, width) = name, styles[name]
        at, size, true, error = medians(reach[name])
        if name == first:
            dots = reach[name]["r"], reach[name]["size"]
            axes.scatter(*dots, s=4, color=color, alpha=FAINT / 2, linewidths=0, rasterized=True)
            axes.plot(at, true, color=COLORS["reference"], linewidth=1, linestyle=(0, (4, 2)),
                      label=f"law: {law}", zorder=4)  # fmt: skip
        axes.plot(at, size, color=color, linewidth=width, label=label)
        if below is not None:
            below.plot(at, error, color=color, linewidth=width)
    for panel in (axes, *([] if below is None else [below])):
        panel.axvspan(*radius, color=COLORS["orbit"], alpha=0.12, linewidth=0)
        panel.set(xscale="log", yscale="log")
    true = np.array(reach[first]["true"])
    axes.set_ylim(true.min() / 10, true.max() * 10)
    labelled(axes, "" if below is not None else "r (au)", "|acceleration| (au/yr²)",
             "The force by distance; shaded: the distances of training")  # fmt: skip
    if below is not None:
        below.axhline(RIGHT, color=COLORS["reference"], linewidth=1, linestyle=":")
        below.set_ylim(1e-5, 1e2)
        below.yaxis.set_major_formatter(lambda error, _: f"{100 * error:g} %")
        labelled(below, "r (au)", "median error")
    plain_ticks(axes if below is None else below)
    return axes


def medians(columns: Mapping[str, Sequence[float]]) -> list[np.ndarray]:
    """(bin,) medians of distance, size, true size and error, in bins even in log r."""
    r, *others = (np.array(columns[name]) for name in ("r", "size", "true", "error"))
    edges = np.geomspace(r.min(), r.max(), BINS + 1)
    place = np.clip(np.searchsorted(edges, r) - 1, 0, BINS - 1)
    bins = np.unique(place)
    return [np.array([np.median(each[place == k]) for k in bins]) for each in (r, *others)]


FIGURE = RunFigure(
    "reach",
    (
        "The size of the force by distance, where the model was trained (shaded) and beyond, and "
        "its median relative error. Lines: medians; dots: single states of the model. Dotted: 10 %."
    ),
    draw,
)
