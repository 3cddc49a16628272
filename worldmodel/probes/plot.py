"""Pictures of the read-outs: each draws what `worldmodel probe` wrote as JSON into given axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from orbits.palette import COLORS, CYCLE

LOWEST = -1.0
"""R² below this is drawn at the edge of the picture: it is no better there than at −20."""


def plot_kick_response(
    axes: Axes, responses: Mapping[str, Mapping[str, Any]], kick: str = "velocity"
) -> Axes:
    """R² of the implied acceleration against the steps since the kick, a line for each model.

    A dotted line in a model's colour shows from where on its context holds nothing older than the
    kick.

    Args:
        axes: to draw into.
        responses: what the read-out `kick_response` wrote, by the name to show.
        kick: `velocity`, or `gm` where the data's GM varies.

    Raises:
        ValueError: if a response has no such kick (says which).
    """
    for number, (name, response) in enumerate(responses.items()):
        if f"r2_{kick}" not in response:
            raise ValueError(f"{name} has no response to a kick in {kick}; GM is the same for all.")
        color = CYCLE[number % len(CYCLE)]
        r2 = np.array([np.nan if value is None else value for value in response[f"r2_{kick}"]])
        # The first lines are the widest, so that they show behind later ones on the same values.
        width = 1.3 + 0.9 * (len(responses) - 1 - number)
        axes.plot(response["steps"], r2.clip(min=LOWEST), color=color, lw=width, label=name)
        left = response["context_length"] - 1
        if 1 < left <= response["steps"][-1]:
            axes.axvline(left, color=color, linestyle=":", linewidth=1)
    axes.axhline(0, color=COLORS["injected"], linewidth=0.8, zorder=0)
    what = "velocity" if kick == "velocity" else "GM"
    axes.set(
        xlabel=f"steps since the {what} was kicked",
        ylabel="R² of the implied acceleration",
        ylim=(LOWEST - 0.05, 1.08),
    )
    axes.legend(fontsize=8, loc="lower right")
    return axes


def plot_linear(axes: Axes, reading: Mapping[str, Any], target: str = "force") -> Axes:
    """R² of a linear probe by layer: the trained network beside the same one untrained.

    Args:
        axes: to draw into.
        reading: what the read-out `linear` wrote.
        target: one of its targets.

    Raises:
        ValueError: if there is no such target (names those that are there).
    """
    if target not in reading["targets"]:
        raise ValueError(f"{target!r} is not a target; there are {', '.join(reading['targets'])}.")
    layers, lowest = reading["layers"], 0.0
    for who, color in (("trained", COLORS["orbit"]), ("untrained", COLORS["untrained"])):
        table = reading[who]
        known = [layer for layer in layers if layer in table]
        values = [max(table[layer][target], LOWEST) for layer in known]
        lowest = min(lowest, *values)
        axes.plot(
            [layers.index(layer) for layer in known], values, marker="o", color=color, label=who
        )
    bare = max(reading["positions"][target], LOWEST)
    axes.axhline(
        bare, color=COLORS["injected"], linestyle="--", linewidth=1, label="positions alone"
    )
    axes.set_xticks(range(len(layers)), layers, rotation=30, ha="right")
    axes.set(ylabel=f"R² of {target.replace('_', ' ')}", ylim=(min(lowest, bare) - 0.05, 1.05))
    axes.legend(fontsize=8)
    return axes


def plot_jacobian(axes: Axes, readings: Mapping[str, Mapping[str, Any]], lags: int = 6) -> Axes:
    """Median size of the prediction's derivative by each of the last positions, in groups of bars.

    Black marks show inertia with a small force: 2√d, √d, and nothing older, in d coordinates.

    Args:
        axes: to draw into.
        readings: what the read-out `jacobian` wrote, by the name to show.
        lags: number of positions, from the present one back.
    """
    width = 0.8 / len(readings)
    shown = min(lags, max(len(reading["norm_by_lag"]) for reading in readings.values()))
    for number, (name, reading) in enumerate(readings.items()):
        norms = reading["norm_by_lag"][:shown]
        at = np.arange(len(norms)) + (number - (len(readings) - 1) / 2) * width
        axes.bar(at, norms, width, color=CYCLE[number % len(CYCLE)], label=name)
    first = next(iter(readings.values()))
    coordinates = first["data"]["bodies"] * first["data"]["axes"]
    ideal = np.array([2.0, 1.0] + [0.0] * (shown - 2)) * np.sqrt(coordinates)
    axes.hlines(ideal, np.arange(shown) - 0.45, np.arange(shown) + 0.45, color="black", lw=1.2)
    names = ["t", *(f"t−{lag}" for lag in range(1, shown))]
    axes.set_xticks(range(shown), [f"x({name})" for name in names])
    axes.set(ylabel="‖∂x̂(t+1)/∂x(s)‖, median")
    axes.legend(fontsize=8)
    return axes
