"""Pictures of attention."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from orbits.files import written_aside
from orbits.palette import CYCLE
from worldmodel.config import AttentionConfig
from worldmodel.source import Source
from worldmodel.world_model import WorldModel, require_same_world

PLACES = {
    "lssar": 0, "lssar(p=15)": 1, "sigmoid": 3, "relu": 4, "lssa": 5, "ssmax": 6, "softmax": 7,
}  # fmt: skip
ATTENTION_COLORS = {kind: CYCLE[place] for kind, place in PLACES.items()}
"""By kind of attention, the same in every picture."""


def attention_of_run(run: str, data: str, config: AttentionConfig) -> Figure:
    """The attention maps of a run on one orbit of a data set.

    Raises:
        ValueError: if they do not fit together, or there is no such orbit.
    """
    model, source = WorldModel.load(run, config.checkpoint), Source(data)
    facts, length = source.facts, config.length or model.context_length
    require_same_world(model, facts)
    if config.orbit >= facts.orbits or length > facts.samples:
        raise ValueError(
            f"{data} has {facts.orbits} orbits of {facts.samples} states; orbit {config.orbit} "
            f"with {length} positions is not in it. Orbits are counted from 0."
        )
    position = source.read([config.orbit]).position[:, :length]
    maps = model.attention(position)[:, 0]
    return plot_attention(maps, f"{model.record.train.attention}, orbit {config.orbit}")


def save_figure(figure: Figure, path: Path | str) -> None:
    """Write a figure as PNG, whole or not at all, and forget it."""
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=150, format="png")
    plt.close(figure)


def plot_attention(maps: np.ndarray, title: str = "") -> Figure:
    """A panel for each layer and head: the weight of every key for every query.

    Args:
        maps: (layer, head, query, key) weights.
        title: of the figure.
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
    for layer in range(layers):
        for head in range(heads):
            panel = panels[layer, head]
            image = panel.imshow(
                maps[layer, head], norm=norm, cmap="magma_r", interpolation="nearest"
            )
            panel.set_title(f"layer {layer}, head {head}", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("key (time step)")
    for panel in panels[:, 0]:
        panel.set_ylabel("query (time step)")
    figure.colorbar(image, ax=panels, label="weight")
    figure.suptitle(title, fontsize=10)
    return figure
