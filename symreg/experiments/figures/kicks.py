"""Error of the implied acceleration against the steps since a kick."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from orbits.force_samples import vectors
from orbits.options import checked
from orbits.palette import COLORS, LEGEND
from orbits.plot import labelled
from orbits.statistics import r_squared
from symreg.experiments.figures.base import FigureData, RunFigure, panels
from worldmodel.controls import CONTROLS


def draw(shown: FigureData) -> Figure | None:
    """A line for the model and for each kicked control."""
    kicked = {n: table for n, table in shown.tables.items() if "steps_since_kick" in table}
    if not kicked:
        return None
    figure, axes = panels(1, 6.0)
    plot_kicks(axes[0], kicked, shown.required)
    return figure


def kick_errors(table: pd.DataFrame) -> pd.Series:
    """√(1 − R²) of the implied acceleration vectors by `steps_since_kick`."""
    steps = table.groupby("steps_since_kick")
    r2 = {k: r_squared(vectors(rows, "a_"), vectors(rows, "true_a_")) for k, rows in steps}
    return (1 - pd.Series(r2)) ** 0.5


@checked
def plot_kicks(axes: Axes, tables: Mapping[str, pd.DataFrame], required: float) -> Axes:
    """Error of the implied acceleration, √(1 − R²), against the steps since the kick.

    It is the root mean square of the error vectors over that of the true accelerations' departures
    from their mean.

    Args:
        axes: where to draw.
        tables: force samples of kicked states by curve (`kicked`, `injected`, `untrained`).
        required: the R² that the gate requires; a dotted line is its error.
    """
    for name, table in tables.items():
        who = CONTROLS[name if name in CONTROLS else "none"]
        values = kick_errors(table)
        top = 3 if name not in CONTROLS else 2  # a control's line never hides the model's
        axes.plot(values.index, values, marker="o", color=who.color, label=who.label, zorder=top)
    axes.axhline(
        (1 - required) ** 0.5, color=COLORS["reference"], linestyle=":", linewidth=1,
        label="required",
    )  # fmt: skip
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda error, _: f"{100 * error:g} %")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    y = "error of the implied acceleration"
    labelled(axes, "steps since the kick", y, "After a kick in mid-orbit", legend=False)
    axes.legend(**LEGEND, loc="upper left", bbox_to_anchor=(1, 1))  # off the data
    return axes


FIGURE = RunFigure(
    "kicks",
    (
        "The velocity is turned by up to ±0.5 rad and rescaled in mid-orbit. A model that obeys "
        "the force stays right; one that fits ellipses to what it saw fails. The error is the root "
        "mean square over the spread of the true accelerations, √(1 − R²); the dotted line is what "
        "the verdict requires. At the first step no neighbour before it helps to correct for the "
        "finite step: there the true law itself is off by about a per cent."
    ),
    draw,
)
