"""Attraction against distance: what the model implies, the true law, the recovered formula."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.force_samples import attracting_gm
from orbits.palette import COLORS
from orbits.plot import labelled, plain_ticks
from orbits.statistics import varies
from symreg.experiments.figures.base import (
    Curve,
    Law,
    RunFigure,
    Shown,
    curve,
    label,
    panels,
    reference_curve,
    thinned,
)
from symreg.recovery.force_field import attraction


def draw(shown: Shown) -> Figure | None:
    """A panel for each set of states."""
    if not shown.sources or not shown.relative:
        return None
    figure, axes = panels(len(shown.sources), 4.0 * max(len(shown.sources), 2), 3.8)
    for panel, (name, law) in zip(axes, shown.sources.items(), strict=True):
        plot_field(
            panel, shown.tables[name], reference_curve(shown.law), curve(law),
            title=shown.titles[name], color=COLORS[name], label=label(law),
        )  # fmt: skip
    return figure


def plot_field(
    axes: Axes,
    table: pd.DataFrame,
    reference: Law | None,
    recovered: Curve | None,
    *,
    title: str,
    color: str,
    label: str = "recovered",
) -> Axes:
    """Attraction against distance: what the model implies, the true law, the recovered formula.

    Args:
        axes: where to draw.
        table: force samples.
        reference: attraction of the true law by distance and GM, au and au^3/yr^2 to au/yr^2; drawn
            for the median GM of the table. None if unknown.
        recovered: the recovered formula by distance, or None.
        title: of the panel.
        color: of the points.
        label: of the recovered formula in the legend.
    """
    r, pull = attraction(table)
    shown = thinned(len(r))
    positive = pull[shown] > 0
    axes.scatter(
        r[shown][positive], pull[shown][positive], s=5, color=color, alpha=0.35, linewidths=0,
        label="implied by the model", rasterized=True,
    )  # fmt: skip
    hidden = int(np.count_nonzero(pull <= 0))
    grid = np.geomspace(r.min(), r.max(), 200)
    limits = pull[shown][positive]
    if reference is not None:
        gm = attracting_gm(table)
        limits = reference(grid, np.full(len(grid), np.median(gm)))
        name = "true law, median GM" if varies(gm) else "true law"
        axes.plot(grid, limits, color=COLORS["reference"], linewidth=1.2, label=name)
    if recovered is not None:
        values = recovered(grid)
        axes.plot(
            grid, np.where(values > 0, values, np.nan), color=color, linewidth=2.2,
            linestyle=(0, (4, 2)), label=label,
        )  # fmt: skip
    axes.set_xscale("log")
    if len(limits):  # an axis of nothing has no logarithms
        axes.set_yscale("log")
        axes.set_ylim(limits.min() / 4, limits.max() * 4)
    plain_ticks(axes)
    suffix = f"\n{hidden} of {len(r)} points repel, not shown" if hidden else ""
    labelled(axes, "distance r (au)", "attraction (au/yr²)", title + suffix, legend=False)
    axes.legend(fontsize=8, frameon=False, markerscale=3)
    return axes


FIGURE = RunFigure(
    "law",
    (
        "The force that the model's predictions imply, against distance, for each set of "
        "states. Points: the model. Black: the true law. Dashed: the formula that symbolic "
        "regression found."
    ),
    draw,
    wide=True,
)
