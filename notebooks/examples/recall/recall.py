"""Tasks that cannot be solved without remembering something far back: how they are trained.

A task draws sequences and scores what the network says of them. For each kind of attention and each
seed a network is trained at one length and scored at multiples of it. The tasks are
`worldmodel.recall.passkeys` and `worldmodel.recall.told_mass`.
"""

import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.records.files import write_json, written_aside
from orbits.records.provenance import provenance
from worldmodel.config import RecallConfig, TrainConfig
from worldmodel.model import Network, Scales
from worldmodel.optimizers import make_optimizers, set_learning_rates
from worldmodel.plot import plot_recall, save_figure
from worldmodel.world_model import threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOKENS_AT_ONCE = 16_384

EVALUATION_SEED = 1_000_003
"""Added to the seed for the sequences of the evaluation, so that training has drawn none of them.
(torch takes seeds modulo 2**32: a multiple of that would change nothing.)"""


class Task(ABC):
    """Sequences that ask for something far back."""

    name: ClassVar[str]
    """Of the command and of the files that it writes."""
    scales: ClassVar[Scales]
    """Of what the network sees and says."""
    shown: ClassVar[str]
    """Column that tells how well it was solved."""

    @property
    @abstractmethod
    def options(self) -> Mapping[str, Any]:
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


@dataclasses.dataclass(frozen=True)
class Recall:
    """How well each kind of attention solves a task, by length."""

    task: Task
    table: pd.DataFrame
    """One row for each kind, seed and length: attention, window, seed, factor, length, and the
    task's columns."""
    config: RecallConfig

    @property
    def summary(self) -> pd.DataFrame:
        """For each kind the median over the seeds at each length (lowest to highest)."""
        rows = []
        for (kind, window), runs in self.table.groupby(["attention", "window"], sort=False):
            row: dict[str, Any] = {"attention": kind if not window else f"{kind}, window {window}"}
            for factor, at in runs.groupby("factor"):
                values = at[self.task.shown]
                row[f"{factor}×"] = f"{values.median():.3g}"
                if len(values) > 1:
                    row[f"{factor}×"] += f" ({values.min():.3g}-{values.max():.3g})"
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def text(self) -> str:
        """The summary for a terminal."""
        return f"{self.task.shown}:\n{self.summary.to_string(index=False)}"

    def plot(self) -> "Figure":
        """The task's score against length, a line for each kind."""
        return plot_recall(self.table, self.task.shown)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write the table as .csv and .json, and the picture, into a folder."""
        out, name = Path(folder), self.task.name
        with written_aside(out / f"{name}.csv") as aside:
            self.table.to_csv(aside, index=False)
        rows = {"rows": self.table.to_dict("records")}
        write_json(out / f"{name}.json", rows | provenance(self.config))
        save_figure(self.plot(), out / f"{name}.png")

    def _repr_html_(self) -> str:
        return self.summary.to_html(index=False, border=0)


def recall(
    task: Task, config: RecallConfig, progress: Callable[[str], None] | None = None
) -> Recall:
    """Train a network for each kind and seed, and score it at each length.

    Args:
        task: what is asked.
        config: options.
        progress: is told a line after each network.
    """
    rows: list[dict[str, Any]] = []
    with threads(config.threads):
        for kind in config.kinds:
            for seed in config.seeds:
                network = _trained(task, kind, seed, config)
                found = _evaluated(task, network, kind, seed, config)
                rows += found
                if progress is not None:
                    shown = ", ".join(f"{row['factor']}× {row[task.shown]:.3g}" for row in found)
                    progress(f"{kind}, seed {seed}: {task.shown} {shown}")
    return Recall(task, pd.DataFrame(rows), config)


def _trained(task: Task, kind: str, seed: int, config: RecallConfig) -> Network:
    """A network trained on the task at the training length."""
    options = TrainConfig(
        attention=kind,
        window=config.window,
        context_length=config.length,
        d_model=config.d_model,
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        seed=seed,
        steps=config.steps,
        batch_tokens=config.batch * config.length,
        **task.options,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(options.model, task.scales)
    optimizers = make_optimizers(network, options)
    generator = torch.Generator().manual_seed(seed)
    for step in range(config.steps):
        set_learning_rates(optimizers, options, step)
        task.loss(network, config.batch, config.length, generator).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), options.clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return network.eval()


@torch.no_grad()
def _evaluated(
    task: Task, network: Network, kind: str, seed: int, config: RecallConfig
) -> list[dict[str, Any]]:
    """Scores at each length, on sequences that training did not draw."""
    rows = []
    for factor in sorted(set(config.factors)):
        length = factor * config.length
        generator = torch.Generator().manual_seed(EVALUATION_SEED + seed)
        parts, left = [], config.evaluated
        while left:
            count = min(left, max(2, TOKENS_AT_ONCE // length))
            count = left if left - count == 1 else count  # a control needs two sequences
            parts.append(pd.DataFrame(task.scores(network, count, length, generator)))
            left -= count
        place: dict[str, Any] = {"attention": kind, "window": config.window or 0, "seed": seed}
        means = pd.concat(parts).astype(np.float64).mean()
        place |= {"factor": factor, "length": length}
        rows.append(place | {str(name): float(value) for name, value in means.items()})
    return rows
