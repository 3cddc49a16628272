"""The passkey task: a marked value far back in the sequence must be reproduced at its end.

Every time step carries a value and a mark. One step of the sequence is marked as the passkey and
the last as the question; the network says the passkey's value there. The network is the one that
learns orbits, with its two coordinates holding value and mark and its head choosing a value.
"""

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from orbits.command.options import with_options
from orbits.records.files import write_json, written_aside
from orbits.records.provenance import provenance
from worldmodel.config import RetrievalConfig, TrainConfig
from worldmodel.model import Network, Scales
from worldmodel.optimizers import make_optimizers, set_learning_rates
from worldmodel.plot import plot_retrieval, save_figure
from worldmodel.world_model import threads

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAIN, PASSKEY, QUESTION = 0, 1, 2
TOKENS_AT_ONCE = 16_384

EVALUATION_SEED = 1_000_003
"""Added to the seed for the sequences of the evaluation, so that training has drawn none of them.
(torch takes seeds modulo 2**32: a multiple of that would change nothing.)"""


@dataclasses.dataclass(frozen=True)
class Passkeys:
    """Sequences of the task, drawn from a generator."""

    values: int
    """Number of different values."""
    generator: torch.Generator

    def draw(
        self, count: int, length: int
    ) -> tuple[Float[Tensor, "sequence time body axis"], Int[Tensor, " sequence"]]:
        """Sequences as the network takes them, and the values that it is to say at the end.

        The passkey stands at any time but the last, with equal chance.
        """
        values = torch.randint(self.values, (count, length), generator=self.generator)
        marks = torch.full((count, length), PLAIN)
        where = torch.randint(length - 1, (count,), generator=self.generator)
        marks[torch.arange(count), where] = PASSKEY
        marks[:, -1] = QUESTION
        wanted = values[torch.arange(count), where]
        # Bins are 2 R / n = 1 wide and centred half-way between whole numbers.
        centres = torch.stack((values, marks), dim=-1) + 0.5 - _bins(self.values) / 2
        return centres[:, :, None].float(), wanted


@dataclasses.dataclass(frozen=True)
class Retrieval:
    """How many passkeys each kind of attention reproduces."""

    table: pd.DataFrame
    """One row for each kind, seed and length: attention, seed, factor, length, accuracy."""
    config: RetrievalConfig

    def plot(self) -> "Figure":
        """Accuracy against length, a line for each kind."""
        return plot_retrieval(self.table, 1 / self.config.values)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write retrieval.csv, .json and .png into a folder."""
        out = Path(folder)
        with written_aside(out / "retrieval.csv") as aside:
            self.table.to_csv(aside, index=False)
        rows = {"rows": self.table.to_dict("records")}
        write_json(out / "retrieval.json", rows | provenance(self.config))
        save_figure(self.plot(), out / "retrieval.png")

    def _repr_html_(self) -> str:
        columns = self.table.pivot_table("accuracy", ["attention", "seed"], "factor", sort=False)
        return columns.to_html(float_format=lambda value: f"{value:.2f}", border=0)


def retrieval(
    config: RetrievalConfig | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> Retrieval:
    """Train a network for each kind and seed, and see how many passkeys each reproduces.

    Args:
        config: options; the defaults if left out.
        progress: is told a line after each network.
        options: further options by name.
    """
    config = with_options(config or RetrievalConfig(), options)
    rows = []
    with threads(config.threads):
        for kind in config.kinds:
            for seed in config.seeds:
                network = _train(kind, seed, config)
                found = _evaluate(network, kind, seed, config)
                rows += found
                if progress is not None:
                    shown = ", ".join(f"{row['factor']}× {row['accuracy']:.2f}" for row in found)
                    progress(f"{kind}, seed {seed}: {shown}")
    return Retrieval(pd.DataFrame(rows), config)


def _train(kind: str, seed: int, config: RetrievalConfig) -> Network:
    """A network trained on the task at the training length."""
    bins = _bins(config.values)
    options = TrainConfig(
        attention=kind,
        context_length=config.length,
        head="tokens",
        bins=bins,
        bin_range=bins / 2,
        d_model=config.d_model,
        n_layers=config.n_layers,
        n_heads=config.n_heads,
        seed=seed,
        steps=config.steps,
        batch_tokens=config.batch * config.length,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Network(options.model, Scales(bodies=1, axes=2, position=1.0, target=1.0))
    optimizers = make_optimizers(network, options)
    task = Passkeys(config.values, torch.Generator().manual_seed(seed))
    for step in range(config.steps):
        set_learning_rates(optimizers, options, step)
        loss = cross_entropy(*_answers(network, task, config.batch, config.length))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), options.clip)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    return network.eval()


@torch.no_grad()
def _evaluate(
    network: Network, kind: str, seed: int, config: RetrievalConfig
) -> list[dict[str, Any]]:
    """Accuracy at each length, on sequences that training did not draw."""
    rows = []
    for factor in sorted(set(config.factors)):
        length = factor * config.length
        task = Passkeys(config.values, torch.Generator().manual_seed(EVALUATION_SEED + seed))
        right, left = 0, config.evaluated
        while left:
            count = min(left, max(1, TOKENS_AT_ONCE // length))
            logits, wanted = _answers(network, task, count, length)
            right += int((logits.argmax(-1) == wanted).sum())
            left -= count
        rows.append(
            {
                "attention": kind,
                "seed": seed,
                "factor": factor,
                "length": length,
                "accuracy": right / config.evaluated,
            }
        )
    return rows


def _answers(network: Network, task: Passkeys, count: int, length: int) -> tuple[Tensor, Tensor]:
    """What the network says at the question, (sequence, value) logits, and what is right."""
    sequences, wanted = task.draw(count, length)
    return network(sequences)[:, -1, 0, 0, : task.values], wanted


def _bins(values: int) -> int:
    """Bins of each coordinate: enough for the values and for the three marks."""
    return max(values, 3)
