"""A picture of how late transits are."""

import numpy as np
from matplotlib.figure import Figure

from orbits.palette import CYCLE
from symreg.weighing.transits.result import TransitWeighing

MINUTES = 1440.0


def plot_transits(found: TransitWeighing) -> Figure:
    """Transits later than a straight line, minutes, as observed and as fitted, by planet."""
    count = len(found.planets)
    figure = Figure(figsize=(6.4, 1.0 + 1.15 * count), layout="constrained")
    panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axes, planet in zip(panels, found.planets, strict=True):
        line, kept = np.array(planet.line), np.array(planet.kept)
        late, fitted = ((np.array(t) - line) * MINUTES for t in (planet.time, planet.fitted))
        time, error = np.array(planet.time), np.array(planet.error) * MINUTES
        axes.plot(time, fitted, color="0.6", lw=1)
        axes.errorbar(time[kept], late[kept], error[kept], fmt=".", ms=4, lw=0.7, color=CYCLE[0])
        axes.plot(time[~kept], late[~kept], "x", ms=5, color=CYCLE[1])
        axes.set_ylabel(planet.name, rotation=0, labelpad=10)
        shown = np.concatenate([fitted, late[kept]])
        room = 0.1 * np.ptp(shown)
        axes.set_ylim(shown.min() - room, shown.max() + room)
    panels[-1].set_xlabel("time (days)")
    figure.supylabel("later than evenly spaced (minutes)")
    return figure
