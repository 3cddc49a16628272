"""The contract of a run's figures, and what several share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orbits.forces import known_law
from symreg.recovery.plot import short
from symreg.recovery.result import Recovery

MAX_POINTS = 3000
"""Points drawn in a scatter plot; more would only make the file larger."""

Curve = Callable[[np.ndarray], np.ndarray]
Law = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class FigureData:
    """The content of a run's figures.

    Attributes:
        law: of the training orbits.
        sources: the law recovered from each set of states, in display order.
        tables: force samples of each source and control.
        titles: of the sources.
        training: metrics of the training by step.
        relative: whether one body orbits a centre.
        required: R² that the kick test requires.
        far: states of the probe `far`, of the model ("") and of controls: r (au), speed in
            circular ones, and relative error of the acceleration.
        reach: of the same, and of a straight line in logarithms, inside and beyond the distances of
            training: r (au), `size` of the acceleration and of the `true` one (au/yr^2), and the
            relative `error`.
        radius: these, au.
        trained: distances (au) and speeds, in circular ones, of orbits like those of training.
    """

    law: str
    sources: Mapping[str, Recovery]
    tables: Mapping[str, pd.DataFrame]
    titles: Mapping[str, str]
    training: pd.DataFrame
    relative: bool
    required: float
    far: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    reach: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)
    radius: tuple[float, float] | None = None
    trained: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class RunFigure:
    """A figure of the report, one object in a file of this folder; it draws None for want of data.

    `states` are what a figure that a reader can ask shows on a screen in place of the picture, as
    JSON, by a script in `templates`.
    """

    name: str
    caption: str
    draw: Callable[[FigureData], Figure | None]
    states: Callable[[FigureData], Any] | None = None


def panels(count: int, width: float = 12.0, height: float = 4.0) -> tuple[Figure, Any]:
    """A figure with so many panels side by side."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(1, count, squeeze=False)[0]


def reference_curve(law: str) -> Law | None:
    """A law's attraction by distance and GM, au and au^3/yr^2 to au/yr^2; None if unknown."""
    parsed = known_law(law)
    if parsed is None:
        return None
    return lambda r, gm: -parsed.radial_acceleration(r, gm)


def curve(law: Recovery) -> Curve | None:
    """A recovered law's attraction by distance; None unless a function of r alone."""
    if {symbol.name for symbol in law.formula.free_symbols} - {"r"}:
        return None
    return lambda r: np.broadcast_to(law.predict({"r": r}), np.shape(r))


def label(law: Recovery) -> str:
    """A recovered formula for a legend."""
    return short(law.expression)


def thinned(rows: int) -> NDArray[np.int64]:
    """At most `MAX_POINTS` of the rows, drawn at random."""
    return np.random.default_rng(0).permutation(rows)[:MAX_POINTS]
