"""The force field as arrows in the plane of the orbits."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orbits.force_samples import vectors
from orbits.forces import known_law
from orbits.options import checked
from orbits.palette import COLORS
from orbits.plot import labelled
from symreg.experiments.figures.base import RunFigure, Shown, panels


def draw(shown: Shown) -> Figure | None:
    """The model on kicked states."""
    if "kicked" not in shown.tables or not shown.relative or known_law(shown.law) is None:
        return None
    figure, axes = panels(1, 4.6, 4.6)
    table = shown.tables["kicked"]
    truth = vectors(table, "true_a_")
    plot_arrows(axes[0], table, truth, title="kicked states", color=COLORS["kicked"])
    return figure


@checked
def plot_arrows(
    axes: Axes, table: pd.DataFrame, truth: NDArray[np.float64], *, title: str, color: str
) -> Axes:
    """The force field as arrows in the orbital plane: the model's beside the true one.

    Args:
        axes: where to draw.
        table: force samples; about 150 rows, spread over the plane, are drawn.
        truth: (row, axis) true acceleration, au/yr^2.
        title: of the panel.
        color: of the model's arrows.
    """
    position = vectors(table)[:, :2]
    implied = vectors(table, "a_")[:, :2]
    chosen = _spread(position, 150)
    position, implied, truth = position[chosen], implied[chosen], truth[chosen, :2]
    truth, implied = _shortened(truth), _shortened(implied)
    scale = 8 * float(np.max(np.linalg.norm(truth, axis=1)))
    settings: dict[str, Any] = {"angles": "xy", "scale": scale, "scale_units": "width"}
    axes.quiver(*position.T, *truth.T, color="#bbbbbb", width=0.006, **settings)
    axes.quiver(*position.T, *implied.T, color=color, width=0.0025, **settings)
    axes.plot(0, 0, marker="*", color="#ddaa33", markersize=14, markeredgecolor="#886611")
    axes.set_aspect("equal")
    return labelled(axes, "x (au)", "y (au)", title, legend=False)


def _shortened(field: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrows of length acceleration^(1/4), so inner and outer ones stay visible."""
    return field * np.maximum(np.linalg.norm(field, axis=1, keepdims=True), 1e-12) ** -0.75


def _spread(position: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of rows spread over the plane: at most one per grid cell."""
    extent = float(np.quantile(np.abs(position), 0.98)) or 1.0
    cells = np.floor(position / extent * math.sqrt(count) / 2 * 1.3).astype(int)
    _, first = np.unique(cells, axis=0, return_index=True)
    inside = np.all(np.abs(position[first]) <= extent, axis=1)
    return np.sort(first[inside])


FIGURE = RunFigure(
    "arrows",
    (
        "The acceleration in the plane, true (grey) and implied (coloured). The length of an arrow "
        "is the fourth root of its size."
    ),
    draw,
)
