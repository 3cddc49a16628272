"""Where the implied acceleration is right: its error by distance and speed."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from symreg.experiments.figures.base import FigureData, RunFigure, panels
from worldmodel.controls import CONTROLS
from worldmodel.plot import LEVELS, map_edges, plot_validity


def draw(shown: FigureData) -> Figure | None:
    """A panel for the model, and one for the best lookup of its orbits."""
    if not shown.far:
        return None
    figure, axes = panels(len(shown.far), 10.0, 4.0)
    for panel, name in zip(axes, shown.far, strict=True):
        title = CONTROLS[name or "none"].label
        plot_validity(panel, shown.far[name], shown.trained, title=title)
    return figure


def states(shown: FigureData) -> Any:
    """The same for the page's own script, which says the states under a pointer."""
    return {
        "levels": LEVELS,
        "trained": None if shown.trained is None else _rounded(shown.trained),
        "panels": [
            {
                "title": CONTROLS[name or "none"].label,
                "edges": [_rounded(edges) for edges in map_edges(np.asarray(far["r"]))],
                "states": _rounded([far[column] for column in ("r", "speed", "error")]),
                "anticlockwise": far["anticlockwise"],
            }
            for name, far in shown.far.items()
        ],
    }


def _rounded(values: ArrayLike) -> Any:
    """Four decimals: what a reader can see, in a third of the characters."""
    return np.round(np.asarray(values, dtype=float), 4).tolist()


FIGURE = RunFigure(
    "validity",
    (
        "Where the implied acceleration is right: its median relative error on far states, by "
        "distance and by speed (in circular speeds). Thick line: 10 %. Crosses: states that are "
        "off by more. Blue: the distances and speeds of orbits like the training orbits."
    ),
    draw,
    states,
)
