"""A picture of observations beside the orbits that explain them."""

from typing import Any

import numpy as np

from orbits.palette import CYCLE
from symreg.weighing.observed.result import Series, SkyWeighing


def plot_sky(found: SkyWeighing) -> Any:
    """The orbit on the sky, where places were seen, and radial velocities with what is left.

    Args:
        found: what was found.

    Returns:
        The matplotlib `Figure`.
    """
    from matplotlib.figure import Figure

    series = {each.quantity: each for each in found.series}
    panels = ["sky"] * ("x" in series) + ["rv"] * ("rv" in series)
    figure = Figure(figsize=(5.2 * len(panels), 4.6), layout="constrained")
    grid = figure.add_gridspec(4, len(panels))
    for column, panel in enumerate(panels):
        if panel == "sky":
            _sky(figure.add_subplot(grid[:, column]), series["x"], series["y"])
        else:
            top = figure.add_subplot(grid[:3, column])
            _velocities(top, figure.add_subplot(grid[3, column], sharex=top), series["rv"])
    return figure


def _by_instrument(series: Series) -> list[tuple[str, np.ndarray, str]]:
    names = np.array(series.instrument)
    each = dict.fromkeys(series.instrument)
    return [(name, names == name, CYCLE[k % len(CYCLE)]) for k, name in enumerate(each)]


def _sky(axes: Any, east: Series, north: Series) -> None:
    axes.plot(east.curve, north.curve, color="0.6", lw=1)
    for name, at, color in _by_instrument(east):
        x, y = np.array(east.value)[at], np.array(north.value)[at]
        errors = {"xerr": np.array(east.error)[at], "yerr": np.array(north.error)[at]}
        axes.errorbar(x, y, **errors, fmt=".", ms=4, lw=0.7, color=color, label=name)
    axes.set(xlabel="offset to the east (arcsec)", ylabel="offset to the north (arcsec)")
    axes.set_aspect("equal", adjustable="datalim")
    axes.invert_xaxis()  # as on the sky, the east is on the left
    axes.legend(frameon=False, fontsize=8)


def _velocities(axes: Any, below: Any, series: Series) -> None:
    axes.plot(series.curve_times, series.curve, color="0.6", lw=1)
    below.axhline(0.0, color="0.6", lw=1)
    for name, at, color in _by_instrument(series):
        times, value, error, fitted = (
            np.array(part)[at] for part in (series.times, series.value, series.error, series.fitted)
        )
        axes.errorbar(times, value, error, fmt=".", ms=4, lw=0.7, color=color, label=name)
        below.errorbar(times, value - fitted, error, fmt=".", ms=4, lw=0.7, color=color)
    axes.set_ylabel("radial velocity (km/s)")
    axes.tick_params(labelbottom=False)
    axes.legend(frameon=False, fontsize=8)
    below.set(xlabel="year", ylabel="left")
