"""Pictures of a model's attention, and of what is read off it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, PowerNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from orbits.files import written_aside
from orbits.options import checked
from orbits.palette import CYCLE, FAINT
from orbits.plot import labelled, own_style, plain_ticks
from worldmodel.config import AttentionConfig
from worldmodel.source import DatasetSource

ATTENTION_COLORS = {
    kind: CYCLE[place]
    for place, kind in enumerate(
        ("lssar", "lssar(p=15)", None, "sigmoid", "relu", "lssa", "ssmax", "softmax")
    )
    if kind is not None
}
"""One per kind, the same in every picture."""
LEVELS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0)
"""Relative errors at which the colour changes."""


def attention_of_run(run: str, data: str, config: AttentionConfig) -> Figure:
    """Attention maps of a run on one orbit of a data set; ValueError if they do not fit."""
    from worldmodel.world_model import WorldModel  # torch, which maps of errors do without

    source = DatasetSource(data)
    model = WorldModel.load(run, config.checkpoint).for_world(source.facts)
    facts, length = source.facts, config.length or model.context_length
    if config.orbit >= facts.orbits or length > facts.samples:
        raise ValueError(
            f"{data} has {facts.orbits} orbits of {facts.samples} states; orbit {config.orbit} "
            f"with {length} positions is not in it. Orbits are counted from 0."
        )
    position = source.read([config.orbit]).position[:, :length]
    maps = model.attention(position)[:, 0]
    axes = plot_attention(maps, f"{model.record.train.attention}, orbit {config.orbit}")
    assert isinstance(axes.figure, Figure)  # for the type checker: not within another
    return axes.figure


@own_style()
def save_figure(figure: Figure, path: Path | str) -> None:
    """Write a figure as PNG, whole or not at all, and close it."""
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=150, format="png")
    plt.close(figure)


@own_style()
@checked
def plot_attention(maps: np.ndarray, title: str = "") -> Axes:
    """A panel for each layer and head: the weight of every key for every query.

    Args:
        maps: (layer, head, query, key) weights.
        title: of the figure.

    Returns:
        The matplotlib `Axes` of the first panel; all are in `.figure.axes`.
    """
    layers, heads = maps.shape[:2]
    figure, panels = plt.subplots(
        layers,
        heads,
        figsize=(2.6 * heads + 1.2, 2.6 * layers + 0.6),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    # The square root shows the small weights of a long row beside the large ones of the first.
    norm = PowerNorm(0.5, vmin=0, vmax=max(float(maps.max()), 1e-12))
    for (layer, head), panel in np.ndenumerate(panels):
        image = panel.imshow(maps[layer, head], norm=norm, cmap="magma_r", interpolation="nearest")
        panel.set_title(f"layer {layer}, head {head}", fontsize=9)
    panels[0, 0].xaxis.set_major_locator(MaxNLocator(integer=True))  # of all: they share axes
    panels[0, 0].yaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in panels[-1]:
        panel.set_xlabel("key (time step)")
    for panel in panels[:, 0]:
        panel.set_ylabel("query (time step)")
    figure.colorbar(image, ax=panels, label="weight")
    figure.suptitle(title, fontsize=10)
    return panels[0, 0]


def map_edges(r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of the map's cells: of distance (au), and of speed in circular ones."""
    # finer about the circular speed, 1
    up = np.array([0, 0.15, 0.4, 0.7, 0.9, 1.1, 1.4, 1.7, 2.0])
    return np.geomspace(r.min(), r.max(), len(up)), up


@checked
def plot_validity(
    axes: Axes,
    states: Mapping[str, Sequence[float]],
    trained: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    title: str = "",
) -> Axes:
    """Median relative error of the implied acceleration by distance and speed.

    Args:
        axes: where to draw.
        states: `r` (au), `speed` (over the circular one) and `error` of each far state.
        trained: distance and speed of states like those of training; None if unknown.
        title: of the panel.
    """
    r, speed, error = (np.asarray(states[name], dtype=float) for name in ("r", "speed", "error"))
    across, up = map_edges(r)
    shown = np.minimum(speed, up[-1])
    from scipy.stats import binned_statistic_2d

    median = binned_statistic_2d(shown, r, error, "median", [up, across]).statistic
    mesh = axes.pcolormesh(
        across, up, median, cmap="YlOrRd", norm=BoundaryNorm(LEVELS, 256), rasterized=True
    )
    right = LEVELS[3]
    wrong = error > right
    beyond = np.pad(median > right, 1)  # the line runs between cells on either side of 10 %
    for j, i in np.argwhere(np.diff(beyond[1:-1])):
        axes.plot(across[[i, i]], up[j : j + 2], color="#222222", linewidth=2)
    for i, j in np.argwhere(np.diff(beyond[:, 1:-1].T)):
        axes.plot(across[i : i + 2], up[[j, j]], color="#222222", linewidth=2)
    axes.scatter(r[wrong], speed[wrong], s=8, marker="x", color="#333333", linewidths=0.5)
    if trained is not None:
        axes.scatter(*trained, s=2, color="#1f4e9c", alpha=FAINT, linewidths=0, rasterized=True)
    bar = axes.figure.colorbar(mesh, ax=axes, ticks=LEVELS)
    bar.ax.set_yticklabels([f"{level:.0%}" for level in LEVELS])
    axes.set_xscale("log")
    plain_ticks(axes)
    axes.set_xlim(across[0], across[-1])
    axes.set_ylim(0, 2)
    return labelled(axes, "distance r (au)", "speed / circular speed", title, legend=False)
