"""Departure of the implied attraction from the true law by distance."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orbits.force_samples import attracting_gm
from orbits.palette import COLORS
from orbits.plot import labelled, plain_ticks
from symreg.experiments.figures.base import (
    Law,
    RunFigure,
    Shown,
    panels,
    reference_curve,
    thinned,
)
from symreg.recovery.force_field import attraction

GAP = 0.05
"""Relative distance between neighbouring states that counts as a gap."""


def draw(shown: Shown) -> Figure | None:
    """A panel for each set of states."""
    reference = reference_curve(shown.law)
    if not shown.sources or not shown.relative or reference is None:
        return None
    figure, axes = panels(len(shown.sources), 4.0 * max(len(shown.sources), 2), 3.2)
    for panel, name in zip(axes, shown.sources, strict=True):
        plot_residuals(
            panel, shown.tables[name], reference, title=shown.titles[name],
            color=COLORS[name],
        )  # fmt: skip
    return figure


def plot_residuals(
    axes: Axes, table: pd.DataFrame, reference: Law, *, title: str, color: str
) -> Axes:
    """Relative deviation from the true law against distance, with its median in 20 bins.

    The law uses each row's own GM.
    """
    r, pull = attraction(table)
    deviation = 100 * (pull / reference(r, attracting_gm(table)) - 1)
    shown = thinned(len(r))
    axes.axhline(0, color=COLORS["reference"], linewidth=1)
    axes.scatter(
        r[shown], deviation[shown], s=5, color=color, alpha=0.3, linewidths=0, rasterized=True
    )
    edges = np.quantile(r, np.linspace(0, 1, 21))
    bins = np.clip(np.searchsorted(edges, r, side="right") - 1, 0, 19)
    medians = pd.DataFrame({"bin": bins, "r": r, "deviation": deviation}).groupby("bin").median()
    centres, values = broken_at_gaps(r, medians["r"].to_numpy(), medians["deviation"].to_numpy())
    axes.plot(centres, values, color=color, linewidth=2, label="median", marker=".", markersize=4)
    spread = float(np.quantile(np.abs(deviation), 0.95))
    limit = min(max(2 * spread, 1.0), 200.0)
    axes.set_ylim(-limit, limit)
    axes.set_xscale("log")
    plain_ticks(axes)
    return labelled(axes, "distance r (au)", "deviation from the true law (%)", title)


def broken_at_gaps(
    r: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A curve by ascending (point,) distance x, interrupted where no states lie in between."""
    ordered = np.sort(r)
    wide = np.flatnonzero(np.diff(np.log(ordered)) > GAP)
    breaks = np.unique(np.searchsorted(x, ordered[wide], side="right"))
    breaks = breaks[(breaks > 0) & (breaks < len(x))]
    return np.insert(x, breaks, np.nan), np.insert(y, breaks, np.nan)


FIGURE = RunFigure(
    "residuals",
    "The same, as a deviation from the true law; the line is the median in 20 bins.",
    draw,
    wide=True,
)
