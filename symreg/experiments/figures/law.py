"""Attraction against distance: what the model implies, the true law, the recovered formula."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.force_samples import attracting_gm
from orbits.options import checked
from orbits.palette import COLORS, FAINT, LEGEND
from orbits.plot import labelled, plain_ticks
from orbits.statistics import varies
from symreg.experiments.figures.base import (
    Curve,
    FigureData,
    Law,
    RunFigure,
    curve,
    label,
    reference_curve,
    thinned,
)
from symreg.formulas.compare import MATCHING
from symreg.recovery.force_field import attraction
from symreg.recovery.result import Recovery
from symreg.recovery.words import true_number

DASHED: dict[str, Any] = {"linewidth": 1.6, "linestyle": (0, (4, 2))}
"""The recovered formula, over the line of the true law."""


def draw(shown: FigureData) -> Figure | None:
    """Kicked states, or the first that there are."""
    if not shown.sources or not shown.relative:
        return None
    name = "kicked" if "kicked" in shown.sources else next(iter(shown.sources))
    law = shown.sources[name]
    figure = Figure(figsize=(7, 4.8), layout="constrained")  # as wide as the page, by its style
    above, below = figure.subplots(2, height_ratios=(2, 1), sharex=True)
    plot_field(
        above, shown.tables[name], reference_curve(shown.law), curve(law),
        title=f"{shown.titles[name]}: {beside_truth(law, shown.law)}", color=COLORS[name],
        label=label(law), below=below,
    )  # fmt: skip
    return figure


def beside_truth(law: Recovery, true_law: str) -> str:
    """A recovered law and the true one: `a(r) = 39.46/r² au/yr²; true 4π² = 39.478`."""
    truth = law.constant.truth if law.verdict in MATCHING else None
    true = f"law: {true_law}" if truth is None else true_number(truth)
    return f"a(r) = {label(law)} au/yr²; true {true}"


@checked
def plot_field(
    axes: Axes,
    table: pd.DataFrame,
    reference: Law | None,
    recovered: Curve | None,
    *,
    title: str,
    color: str,
    label: str = "recovered",
    below: Axes | None = None,
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
        below: where the departures from the true law are drawn, in per cent, or those from the
            recovered formula if the law is unknown.
    """
    r, pull = attraction(table)
    shown = thinned(len(r))
    pulls = pull[shown] > 0
    for some, face, name in (pulls, color, "implied by the model"), (~pulls, "none", "repels"):
        if some.any():
            axes.scatter(
                r[shown][some], np.abs(pull[shown][some]), s=14, facecolors=face, edgecolors=color,
                linewidths=0.6, alpha=FAINT, label=name, rasterized=True,
            )  # fmt: skip
    repelled = int(np.count_nonzero(pull <= 0))
    grid = np.geomspace(r.min(), r.max(), 200)
    limits = np.abs(pull[shown][pull[shown] != 0])
    if reference is not None:
        gm = attracting_gm(table)
        limits = reference(grid, np.full(len(grid), np.median(gm)))
        name = "true law, median GM" if varies(gm) else "true law"
        axes.plot(grid, limits, color=COLORS["reference"], linewidth=1, label=name)
    if recovered is not None:
        values = recovered(grid)
        axes.plot(
            grid, np.where(values > 0, values, np.nan), color=color, label=label, **DASHED,
        )  # fmt: skip
    axes.set_xscale("log")
    if len(limits):  # an axis of nothing has no logarithms
        axes.set_yscale("log")
        axes.set_ylim(limits.min() / 4, limits.max() * 4)
    plain_ticks(axes)
    suffix = f"\n{repelled} of {len(r)} points repel: hollow" if repelled else ""
    labelled(axes, "distance r (au)", "attraction (au/yr²)", title + suffix, legend=False)
    axes.legend(**LEGEND, markerscale=2)
    if below is not None and (reference or recovered):
        axes.set_xlabel("")
        gm = attracting_gm(table)
        true = (
            reference(r, gm) if reference is not None else np.asarray(recovered(r))  # type: ignore[misc]
        )
        left = 100 * (pull / true - 1)
        below.scatter(r[shown], left[shown], s=9, color=color, alpha=FAINT, linewidths=0,
                      rasterized=True)  # fmt: skip
        below.axhline(0, color=COLORS["reference"], linewidth=1)
        if reference is not None and recovered is not None and not varies(gm):
            beside = 100 * (recovered(grid) / reference(grid, np.full(len(grid), gm[0])) - 1)
            below.plot(grid, beside, color=color, **DASHED)
        most = 1.5 * float(np.quantile(np.abs(left), 0.99))  # a stray point does not set the scale
        below.set_ylim(-most, most)
        plain_ticks(below)
        whose = "the true law" if reference is not None else "the formula"
        labelled(below, "distance r (au)", f"off {whose} (%)", legend=False)
    return axes


FIGURE = RunFigure(
    "law",
    (
        "The attraction that the model's predictions imply, against distance. Points: single "
        "states, hollow where they repel. Black: the true law. Dashed: the formula that symbolic "
        "regression gave. Below: how far off the true law they are, in per cent."
    ),
    draw,
)
