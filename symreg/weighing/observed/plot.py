"""A picture of observations beside the orbits that explain them."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from orbits.palette import CYCLE
from symreg.weighing.observed.result import Series, SkyWeighing

POINTS = {"fmt": ".", "ms": 4, "lw": 0.7}


def plot_sky(found: SkyWeighing) -> Figure:
    """The orbit on the sky, where places were seen, and radial velocities with what is left."""
    series = {each.quantity: each for each in found.series}
    names = dict.fromkeys(each.name for each in found.instruments)
    colors = dict(zip(names, cycle(CYCLE), strict=False))
    panels = ["sky"] * ("x" in series) + ["rv"] * ("rv" in series)
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    grid = figure.add_gridspec(4, len(panels))
    for column, panel in enumerate(panels):
        if panel == "sky":
            _sky(figure.add_subplot(grid[:, column]), series["x"], series["y"], colors)
        else:
            top = figure.add_subplot(grid[:3, column])
            _velocities(top, figure.add_subplot(grid[3, column], sharex=top), series["rv"], colors)
    return figure


def _sky(axes: Any, east: Series, north: Series, colors: Mapping[str, str]) -> None:
    axes.plot(east.curve, north.curve, color="0.6", lw=1)
    for name in dict.fromkeys(east.instrument):
        at = np.array(east.instrument) == name
        x, y = np.array(east.value)[at], np.array(north.value)[at]
        errors = {"xerr": np.array(east.error)[at], "yerr": np.array(north.error)[at]}
        axes.errorbar(x, y, **errors, **POINTS, color=colors[name], label=name)
    axes.set(xlabel="offset to the east (arcsec)", ylabel="offset to the north (arcsec)")
    axes.set_aspect("equal", adjustable="datalim")
    axes.invert_xaxis()  # as on the sky, the east is on the left
    axes.legend(frameon=False, fontsize=8)


def _velocities(axes: Any, below: Any, series: Series, colors: Mapping[str, str]) -> None:
    scale, unit = (1.0, "km/s") if np.ptp(series.value) > 1 else (1000.0, "m/s")
    axes.plot(series.curve_times, scale * np.array(series.curve), color="0.6", lw=1)
    below.axhline(0.0, color="0.6", lw=1)
    for name in dict.fromkeys(series.instrument):
        at = np.array(series.instrument) == name
        columns = (series.value, series.error, series.fitted)
        value, error, fitted = (scale * np.array(part)[at] for part in columns)
        times = np.array(series.times)[at]
        axes.errorbar(times, value, error, **POINTS, color=colors[name], label=name)
        below.errorbar(times, value - fitted, error, **POINTS, color=colors[name])
    axes.set_ylabel(f"radial velocity ({unit})")
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.tick_params(labelbottom=False)
    axes.legend(frameon=False, fontsize=8)
    below.set(xlabel="year", ylabel="left")
