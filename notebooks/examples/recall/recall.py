"""Tasks that cannot be solved without remembering something far back: how they are trained.

A task draws sequences and scores what the network says of them. For each kind of attention and each
seed a network is trained at one length and scored at multiples of it. The tasks are the scripts
`passkeys.py` and `told_mass.py`.
"""

import argparse
import dataclasses
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

import worldmodel
from worldmodel.model import Network, Scales
from worldmodel.optimizers import descend

TOKENS_AT_ONCE = 16_384
NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"}
"""Options of every network; a task may have others."""

EVALUATION_SEED = 1_000_003
"""Added to the seed for the sequences of the evaluation, so that training has drawn none of them.
(torch takes seeds modulo 2**32: a multiple of that would change nothing.)"""


@dataclass(frozen=True)
class Options:
    """Which networks learn a task, and at which lengths."""

    kinds: tuple[str, ...] = ("softmax", "ssmax", "lssa", "lssar", "lssar(p=15)")
    seeds: tuple[int, ...] = (0,)
    factors: tuple[int, ...] = (1, 2, 4, 8)
    """Lengths at which to evaluate, as multiples of the training length."""
    length: int = 64
    """Length of the training sequences."""
    window: int = 0
    """Local attention: each layer sees the last W steps; 0 the whole sequence."""
    steps: int = 1200
    batch: int = 32
    evaluated: int = 512
    """Sequences evaluated at each length."""
    d_model: int = 64
    n_layers: int = 2
    n_heads: int = 4


class Task(ABC):
    """Sequences that ask for something far back."""

    name: ClassVar[str]
    scales: ClassVar[Scales]
    """Of what the network sees and says."""
    shown: ClassVar[str]
    """Column that tells how well it was solved."""
    options: Any

    @property
    @abstractmethod
    def network(self) -> dict[str, Any]:
        """Options of the network beside those of every task."""

    @abstractmethod
    def loss(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> Float[Tensor, ""]:
        """Of so many sequences of a length, to be lowered."""

    @abstractmethod
    def scores(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> dict[str, Float[Tensor, " sequence"]]:
        """What is reported of each of so many sequences, by column."""


def recall(task: Task) -> pd.DataFrame:
    """Train a network for each kind and seed, and score it at each length.

    Returns:
        One row for each kind, seed and length: attention, window, seed, factor, length, and the
        task's columns.

    Raises:
        ValueError: for a kind of attention that is not known.
    """
    options, rows = task.options, []
    for kind in options.kinds:
        worldmodel.make_attention(kind, d_head=16, n_heads=1)
    for kind in options.kinds:
        for seed in options.seeds:
            found = _evaluated(task, _trained(task, kind, seed), kind, seed)
            rows += found
            shown = ", ".join(f"{row['factor']}× {row[task.shown]:.3g}" for row in found)
            print(f"{kind}, seed {seed}: {task.shown} {shown}", flush=True)
    return pd.DataFrame(rows)


def _trained(task: Task, kind: str, seed: int) -> Network:
    """A network trained on the task at the training length."""
    options = task.options
    config = worldmodel.TrainConfig(
        attention=kind,
        window=options.window or None,
        context_length=options.length,
        d_model=options.d_model,
        n_layers=options.n_layers,
        n_heads=options.n_heads,
        seed=seed,
        steps=options.steps,
        batch_tokens=options.batch * options.length,
        muon_lr=0.02,
        **NETWORK | task.network,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(config.model, task.scales)
    generator = torch.Generator().manual_seed(seed)
    descend(network, config, lambda: task.loss(network, options.batch, options.length, generator))
    return network.eval()


@torch.no_grad()
def _evaluated(task: Task, network: Network, kind: str, seed: int) -> list[dict[str, Any]]:
    """Scores at each length, on sequences that training did not draw."""
    options, rows = task.options, []
    for factor in sorted(set(options.factors)):
        length = factor * options.length
        generator = torch.Generator().manual_seed(EVALUATION_SEED + seed)
        parts, left = [], options.evaluated
        while left:
            count = min(left, max(2, TOKENS_AT_ONCE // length))
            count = left if left - count == 1 else count  # a control needs two sequences
            parts.append(pd.DataFrame(task.scores(network, count, length, generator)))
            left -= count
        place: dict[str, Any] = {"attention": kind, "window": options.window, "seed": seed}
        means = pd.concat(parts).astype(np.float64).mean()
        place |= {"factor": factor, "length": length}
        rows.append(place | {str(name): float(value) for name, value in means.items()})
    return rows


def summary(table: pd.DataFrame, shown: str) -> pd.DataFrame:
    """The median over the seeds, by kind and length."""
    return table.pivot_table(shown, ["attention", "window"], "factor", "median", sort=False)


def plot(table: pd.DataFrame, shown: str, chance: float) -> plt.Figure:
    """How well a task is solved against length, a line for each kind; dotted: without memory."""
    figure, panel = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
    for kind, values in summary(table, shown).iterrows():
        color = worldmodel.ATTENTION_COLORS.get(kind[0])
        label = f"{kind[0]}, window {kind[1]}" if kind[1] else kind[0]
        panel.plot(values.index, values, marker="o", ms=4, color=color, label=label)
    panel.axhline(chance, color="grey", linestyle=":", linewidth=1)
    panel.set(xscale="log", xlabel="sequence length / training length", ylabel=shown)
    panel.set_xticks(marks := sorted(set(table["factor"])), [f"{mark}×" for mark in marks])
    panel.minorticks_off()
    panel.legend(fontsize=8)
    return figure


def command(
    task: Callable[[Any], Task], kind: type[Options], chance: float, arguments: list[str] | None
) -> pd.DataFrame:
    """Read options from the command line; write table, options and picture into a folder."""
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("out", type=Path, help="folder that receives table and figure")
    for field in dataclasses.fields(kind):
        default: Any = field.default
        flag = f"--{field.name.replace('_', '-')}"
        if isinstance(default, bool):
            parser.add_argument(flag, default=default, action=argparse.BooleanOptionalAction)
        elif isinstance(default, tuple):
            parser.add_argument(flag, default=default, nargs="+", type=type(default[0]), help=" ")
        else:
            parser.add_argument(flag, default=default, type=type(default), help=" ")
    given = vars(parser.parse_args(arguments))
    out = given.pop("out")
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    try:
        asked = task(kind(**given))
        table = recall(asked)
    except ValueError as error:
        sys.exit(f"{parser.prog}: {error}")
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / f"{asked.name}.csv", index=False)
    (out / f"{asked.name}.json").write_text(json.dumps(given, indent=2))
    figure = plot(table, asked.shown, chance)
    figure.savefig(out / f"{asked.name}.png", dpi=150)
    plt.close(figure)
    print(summary(table, asked.shown).to_string(float_format=lambda x: f"{x:.3g}"))
    return table
