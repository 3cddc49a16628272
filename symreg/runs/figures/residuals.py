"""How far the implied attraction is from the true law, against distance."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import COLORS
from symreg.recovery.force_field import attraction
from symreg.runs.figures.base import (
    Law,
    RunFigure,
    Shown,
    attracting_gm,
    panels,
    plain_ticks,
    reference_curve,
    thinned,
)


class ResidualsFigure(RunFigure):
    """A panel for each set of states."""

    name = "residuals"
    caption = "The same, as a deviation from the true law; the line is the median in 20 bins."
    wide = True

    def draw(self, shown: Shown) -> Figure | None:
        if not shown.sources or not shown.relative:
            return None
        figure, axes = panels(len(shown.sources), 4.0 * max(len(shown.sources), 2), 3.2)
        for panel, name in zip(axes, shown.sources, strict=True):
            plot_residuals(
                panel, shown.tables[name], reference_curve(shown.law), title=shown.titles[name],
                color=COLORS[name],
            )  # fmt: skip
        return figure


def plot_residuals(
    axes: Axes, table: pd.DataFrame, reference: Law, *, title: str, color: str
) -> Axes:
    """Relative deviation from the true law against distance, with its median in 20 bins.

    The law is that of each row's own GM.
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
    axes.plot(medians["r"], medians["deviation"], color=color, linewidth=2, label="median")
    spread = float(np.quantile(np.abs(deviation), 0.95))
    limit = min(max(2 * spread, 1.0), 200.0)
    axes.set_ylim(-limit, limit)
    axes.set_xscale("log")
    plain_ticks(axes)
    axes.set_xlabel("distance r (au)")
    axes.set_ylabel("deviation from the true law (%)")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


FIGURE = ResidualsFigure()
