"""R² of the implied acceleration against the steps since a kick."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from orbits.force_samples import vectors
from orbits.palette import COLORS
from orbits.plot import labelled, squeezed_r2
from orbits.statistics import r_squared
from symreg.experiments.figures.base import RunFigure, Shown, panels
from worldmodel.controls import CONTROLS


def draw(shown: Shown) -> Figure | None:
    """A line for the model and for each kicked control."""
    kicked = {n: table for n, table in shown.tables.items() if "steps_since_kick" in table}
    if not kicked:
        return None
    figure, axes = panels(1, 6.0)
    plot_kicks(axes[0], kicked, shown.required)
    return figure


def kick_r2(table: pd.DataFrame) -> pd.Series:
    """R² of the implied acceleration vectors by `steps_since_kick`."""
    steps = table.groupby("steps_since_kick")
    found = {k: r_squared(vectors(rows, "a_"), vectors(rows, "true_a_")) for k, rows in steps}
    return pd.Series(found)


def plot_kicks(axes: Axes, tables: Mapping[str, pd.DataFrame], required: float) -> Axes:
    """R² of the implied acceleration against the steps since the kick.

    Args:
        axes: where to draw.
        tables: force samples of kicked states by curve (`kicked`, `injected`, `untrained`).
        required: the R² that the gate requires.
    """
    for name, table in tables.items():
        who = name if name in CONTROLS else "none"
        values = kick_r2(table)
        axes.plot(
            values.index, values, marker="o", color=CONTROLS[who].color, label=CONTROLS[who].label,
        )  # fmt: skip
    axes.axhline(required, color=COLORS["reference"], linestyle=":", linewidth=1)
    squeezed_r2(axes)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    y = "R² of the implied acceleration"
    return labelled(axes, "steps since the kick", y, "After a kick in mid-orbit")


FIGURE = RunFigure(
    "kicks",
    (
        "The velocity is turned by up to ±0.5 rad and rescaled in mid-orbit. A model that holds "
        "the force stays right (R² near 1); one that fits ellipses to what it saw fails."
    ),
    draw,
)
