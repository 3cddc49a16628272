"""Pictures of datasets; every function draws into an `Axes` and returns it."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from orbits.config import PlotConfig
from orbits.dataset import Data, as_dataset
from orbits.files import written_aside
from orbits.forces import UNKNOWN, known_law
from orbits.frames import relative_states
from orbits.invariants import energy_scale, specific_energy, total_energy
from orbits.options import checked
from orbits.palette import COLORS, LEGEND
from orbits.printing import plural


@contextmanager
def own_style() -> Iterator[Any]:
    """Give `matplotlib.pyplot`, by its own settings, to a block that draws: with a user's, as
    text.usetex without LaTeX, there may be no picture."""
    import matplotlib.pyplot as plt

    with plt.rc_context():
        plt.matplotlib.rcdefaults()
        yield plt


@own_style()
@checked
def plot_orbits(data: Data, orbits: int = PlotConfig.orbits, ax: Any = None) -> Any:
    """Trajectories in the plane of the first two axes, the attracting centre marked.

    Named bodies are labelled and differ in colour; a third axis is not shown, as the title says.

    Args:
        data: a dataset, or the path of one.
        orbits: how many to draw, spread evenly over the dataset.
        ax: where to draw; without it a new figure's.

    Returns:
        The matplotlib `Axes`.
    """
    ax, data = ax or new_axes(), as_dataset(data)
    some = _some(data, orbits)
    for i, position in enumerate(some["position"].values):
        bodies = position[:, None] if position.ndim == 2 else position
        for body in range(bodies.shape[1]):
            path, (color, name) = bodies[:, body], _look(some, i, body)
            ax.plot(path[:, 0], path[:, 1], lw=1, color=color, alpha=0.8, label=name)
            ax.plot(*path[0, :2], ".", ms=4, color=color)
    if "body" not in some["position"].dims:
        ax.plot(0, 0, "*", ms=12, color="goldenrod", mec="k", mew=0.5, zorder=3)
    ax.set(xlabel="x (au)", ylabel="y (au)", aspect="equal")
    if "body_name" in some:
        handles, labels = ax.get_legend_handles_labels()
        each = dict(zip(labels, handles, strict=True))
        ax.legend(each.values(), each, **LEGEND, loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_title(_title(data, some.sizes["orbit"]))
    return ax


def _look(some: xr.Dataset, row: int, body: int | None = None) -> tuple[str, str | None]:
    """Colour and name for the path of a body; by row where that has none, or several in one."""
    several = "body" in some["position"].dims
    if "body_name" not in some or (several and body is None):
        return f"C{row % 10}", None
    names = [str(name) for name in some["body_name"].values]
    name = names[body if several and body is not None else row]
    return f"C{list(dict.fromkeys(names)).index(name) % 10}", name


def _title(data: xr.Dataset, count: int) -> str:
    """What is drawn: whose orbits, under which law, and whether a third axis is hidden."""
    attributes = data.attrs
    if attributes["law"] == UNKNOWN:
        title = f"{count} imported trajector{'ies' if count > 1 else 'y'}, law unknown"
    elif "centre" in attributes:
        title = f"real bodies, JPL DE421: {plural(count, 'stretch')}"
    else:
        title = f"{plural(count, 'orbit')}, {attributes['law']}"
    return title + ("\n(3-D, projected on the x-y plane)" if data.sizes["axis"] == 3 else "")


@own_style()
@checked
def plot_phase_portrait(data: Data, orbits: int = PlotConfig.orbits, ax: Any = None) -> Any:
    """Radial speed against separation: a closed curve for a bound orbit.

    Args:
        data: a dataset, or the path of one.
        orbits: how many to draw.
        ax: where to draw; without it a new figure's.

    Returns:
        The matplotlib `Axes`.
    """
    ax = ax or new_axes()
    some = _some(as_dataset(data), orbits)
    position, velocity = _relative(some)
    r = np.linalg.norm(position, axis=-1)
    radial = np.sum(position * velocity, axis=-1) / r
    for i in range(len(r)):
        ax.plot(r[i], radial[i], lw=1, color=_look(some, i)[0], alpha=0.8)
    ax.set(xlabel="separation (au)", ylabel="radial speed (au/yr)", title="phase portrait")
    return ax


@own_style()
@checked
def plot_energy_drift(data: Data, orbits: int = PlotConfig.orbits, ax: Any = None) -> Any:
    """Largest departure so far of each orbit's energy, over its largest kinetic energy.

    For a float32 file this shows the file's rounding, not the integration error.

    Args:
        data: a dataset, or the path of one.
        orbits: how many to draw.
        ax: where to draw; without it a new figure's.

    Returns:
        The matplotlib `Axes`.
    """
    ax, data = ax or new_axes(), as_dataset(data)
    some = _some(data, orbits)
    law = known_law(data.attrs["law"])
    if law is None:
        raise ValueError("the law of the data is not known, so they have no energy to look at.")
    if data.attrs["system"] == "nbody":
        mass = some["mass"].values
        position, velocity = (some[name].values.astype(float) for name in ("position", "velocity"))
        energy = total_energy(law, position, velocity, mass)
        square = np.sum(velocity**2, axis=-1)
        scale = 0.5 * np.sum(mass[:, None] * square, axis=-1).max(axis=1)
    else:
        position, velocity = _relative(some)
        energy = specific_energy(law, position, velocity, some["gm"].values)
        scale = energy_scale(velocity)
    departure = np.maximum.accumulate(np.abs(energy - energy[:, :1]), axis=1) / scale[:, None]
    for i in range(len(departure)):
        ax.semilogy(data["time"].values[1:], departure[i, 1:], lw=1, color=_look(some, i)[0])
    ax.set(xlabel="time (yr)", ylabel="largest departure so far")
    pulled = data.attrs["system"] == "planets"  # real ones, by bodies that are not in the file
    stored = f"as stored in {data.attrs['dtype']}"
    ax.set_title("two-body energy; other bodies pull too" if pulled else f"energy, {stored}")
    return ax


@own_style()
def plot_forces(table: pd.DataFrame, ax: Any = None) -> Any:
    """Attraction against distance from force samples, with the true law's where known."""
    ax = new_axes() if ax is None else ax
    axes = [axis for axis in "xyz" if axis in table]
    r = table["r"].to_numpy()
    towards = -table[axes].to_numpy() / r[:, None]
    shown = {"a_": ("implied", COLORS["kicked"], 9)}
    if "true_a_x" in table:
        shown["true_a_"] = ("true", COLORS["reference"], 2)
    for prefix, (label, color, size) in shown.items():
        pull = np.sum(table[[prefix + axis for axis in axes]].to_numpy() * towards, axis=1)
        ax.scatter(r, pull, s=size, color=color, label=label, linewidths=0, rasterized=True)
    ax.set_xscale("log")
    if np.all(pull > 0):
        ax.set_yscale("log")
    else:
        ax.set_yscale("symlog", linthresh=1.0)
    plain_ticks(ax)
    return labelled(ax, "distance r (au)", "attraction (au/yr²)")


def labelled(axes: Any, x: str, y: str, title: str = "", legend: bool = True) -> Any:
    """Axes with names, a title and a legend, in the style of every picture here."""
    axes.set(xlabel=x, ylabel=y)
    if title:
        axes.set_title(title, fontsize=10)
    if legend and axes.get_legend_handles_labels()[0]:  # of none matplotlib warns
        axes.legend(**LEGEND)
    return axes


def plain_numbers(axis: Any, ticks: Sequence[float]) -> None:
    """Numbers on a logarithmic axis in plain decimals, at these places alone."""
    axis.set_ticks(ticks)
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")


def plain_ticks(axes: Any) -> None:
    """Distances in au on a logarithmic axis, in plain decimals."""
    low, high = axes.get_xlim()
    # some five in every factor of ten
    places = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 30, 50)
    plain_numbers(axes.xaxis, [t for t in places if low <= t <= high])


def squeezed_r2(axes: Any) -> Any:
    """Give R² an axis that separates 0.97 from 1, and shows -100 too where need be."""
    lowest = axes.dataLim.y0 if math.isfinite(axes.dataLim.y0) else 0.0
    # logarithmic in 1.01 - R², where 1 itself has a place
    axes.set_yscale(
        "function",
        functions=(
            lambda values: -np.log10(1.01 - np.minimum(values, 1.009)),
            lambda values: 1.01 - 10.0 ** (-values),
        ),
    )
    axes.set_yticks([1, 0.97, 0.9, 0, -1, -10, -100])
    axes.yaxis.set_major_formatter("{x:g}")
    # a little beyond the last tick on either side
    axes.set_ylim(-1000 if lowest < -10 else -10, 1.003)
    return axes


def save_figure(data: Data, out: str, orbits: int = PlotConfig.orbits) -> None:
    """Draw orbits, phase portrait and, where the law is known, energy drift to a file.

    Raises:
        ValueError: if there is no complete dataset, or the file's ending is no picture's.
    """
    with own_style() as plt:
        known = sorted(plt.Figure().canvas.get_supported_filetypes())
        ending = str(out).rsplit(".", 1)[-1].lower()
        if ending not in known:
            raise ValueError(f"{out}: cannot draw a {ending!r} file; known: {', '.join(known)}.")
        data = as_dataset(data)
        panels = [plot_orbits, plot_phase_portrait]
        if known_law(data.attrs["law"]) is not None:
            panels.append(plot_energy_drift)
        figure = plt.Figure(figsize=(16 / 3 * len(panels), 4.8), layout="constrained")
        for panel, axes in zip(panels, figure.subplots(1, len(panels)), strict=True):
            panel(data, orbits, axes)
        with written_aside(out) as aside:
            figure.savefig(aside, dpi=120, format=ending)


def _some(data: xr.Dataset, orbits: int) -> xr.Dataset:
    count = data.sizes["orbit"]
    rows = np.unique(np.linspace(0, count - 1, min(orbits, count)).astype(int))
    return data.isel(orbit=rows)


def _relative(some: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(path, time, axis) relative positions and velocities, one path for every planet."""
    states = (some[name].values.astype(float) for name in ("position", "velocity"))
    position, velocity = relative_states(some.attrs["system"], *states)
    if position.ndim == 4:
        position, velocity = (np.concatenate(np.moveaxis(x, 2, 1)) for x in (position, velocity))
    return position, velocity


def new_axes() -> Any:
    """Axes in a new figure, for a notebook."""
    with own_style() as plt:
        return plt.subplots(figsize=(5, 5), layout="constrained")[1]
