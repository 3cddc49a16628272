"""How the loss of trained models changes on sequences longer than those of training."""

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.files import write_json, written_aside
from orbits.options import P, keywords_of, options_from
from orbits.provenance import provenance
from worldmodel.config import ExtrapolateConfig
from worldmodel.objective import loss
from worldmodel.plot import plot_extrapolation, save_figure
from worldmodel.source import Source
from worldmodel.world_model import (
    ModelOrRun,
    WorldModel,
    as_model,
    require_same_world,
    threads,
    unseen_orbits,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from worldmodel.source import Data

TOKENS_AT_ONCE = 16_384


@dataclasses.dataclass(frozen=True)
class Extrapolation:
    """Losses of models on sequences longer than those of training."""

    table: pd.DataFrame
    """One row for each model and factor: run, attention, window, seed, training_length, factor,
    length, loss, late_loss, ratio (loss over that at the training length)."""
    data: str
    config: ExtrapolateConfig

    @property
    def summary(self) -> pd.DataFrame:
        """For each attention, window and factor: the number of runs and their median losses."""
        keys = ["attention", "window", "training_length", "factor"]
        grouped = self.table.groupby(keys, sort=False)
        return grouped.agg(
            runs=("run", "count"),
            loss=("loss", "median"),
            late_loss=("late_loss", "median"),
            ratio=("ratio", "median"),
            lowest_ratio=("ratio", "min"),
            highest_ratio=("ratio", "max"),
        ).reset_index()

    @property
    def metrics(self) -> dict[str, float]:
        """The numbers by name, as `ratio_4` at four times the training length (of one model)."""
        return {
            f"{name}_{row['factor']}": row[name]
            for name in ("loss", "late_loss", "ratio")
            for row in self.table.to_dict("records")
        }

    @property
    def text(self) -> str:
        """The summary for a terminal."""
        return self.summary.to_string(index=False, float_format=lambda x: f"{x:.4g}")

    def plot(self) -> "Figure":
        """Loss against length, a line for each model."""
        return plot_extrapolation(self.table)

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write extrapolation.csv, .json and .png into a folder."""
        out = Path(folder)
        with written_aside(out / "extrapolation.csv") as aside:
            self.table.to_csv(aside, index=False)
        content = {
            "rows": self.table.to_dict("records"),
            "by_attention": self.summary.to_dict("records"),
            "runs": list(dict.fromkeys(self.table["run"])),
            "data": self.data,
            **provenance(dataclasses.asdict(self.config) | {"out": str(folder)}),
        }
        write_json(out / "extrapolation.json", content)
        save_figure(self.plot(), out / "extrapolation.png")

    def _repr_html_(self) -> str:
        return self.summary.to_html(index=False, border=0)


@keywords_of(ExtrapolateConfig)
def extrapolate(
    kind: Callable[P, ExtrapolateConfig],
    models: Sequence[ModelOrRun],
    data: "Data",
    config: ExtrapolateConfig | None = None,
    *args: P.args,
    **options: P.kwargs,
) -> Extrapolation:
    """The loss of each model at multiples of its training length.

    A sequence of f times the training length C is seen whole, with full context. `loss` is the
    mean over all its positions; `late_loss` over the last C of them, whose context is longer
    than (f − 1) C. The first C positions of all lengths are the same ones.

    Args:
        models: models, or folders of their runs.
        data: path of a data set, or the data set itself, whose orbits hold at least
            max(factors) · C + 1 states.
        config: options; the defaults if left out.
        options: further options by name.

    Raises:
        ValueError: if the data do not fit a model, or their orbits are too short.
    """
    config = options_from(ExtrapolateConfig, config, options)
    if isinstance(models, (WorldModel, str, os.PathLike)):
        models = [models]
    with threads(config.threads):
        source = Source(data)
        rows: list[dict[str, Any]] = []
        for model in models:
            found = _rows(as_model(model, config.checkpoint), source, config)
            taken = {row["run"] for row in rows}
            rows += [row | {"run": _another(row["run"], taken)} for row in found]
    return Extrapolation(pd.DataFrame(rows), source.facts.path, config)


def _another(name: str, taken: set[str]) -> str:
    """The name, numbered if there is such a model already."""
    numbered = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 2)))
    return next(candidate for candidate in numbered if candidate not in taken)


def _rows(model: WorldModel, source: Source, config: ExtrapolateConfig) -> list[dict[str, Any]]:
    length = model.context_length
    require_same_world(model, source.facts)
    factors = sorted(set(config.factors) | {1})
    positions = _sequences(model, source, factors[-1] * length, config.orbits)
    losses = segment_losses(model, torch.from_numpy(positions), length)
    scored = np.array([length - (length > 1), *[length] * (len(losses) - 1)])
    whole = np.cumsum(losses * scored) / np.cumsum(scored)
    train = model.record.train
    return [
        {
            "run": model.name,
            "attention": train.attention,
            "window": train.window or 0,
            "seed": train.seed,
            "training_length": length,
            "factor": factor,
            "length": factor * length,
            "loss": whole[factor - 1],
            "late_loss": losses[factor - 1],
            "ratio": whole[factor - 1] / whole[0],
        }
        for factor in factors
    ]


def _sequences(
    model: WorldModel, source: Source, length: int, most: int
) -> Float[np.ndarray, "orbit time body axis"]:
    """The first `length` + 1 states of orbits that the model has not been trained on."""
    facts = source.facts
    if facts.samples < length + 1:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit, but {length} positions and "
            f"the one after them need {length + 1}; generate with --samples {length + 1} or more, "
            f"or give smaller --factors."
        )
    chosen = unseen_orbits(model, facts, most)
    return source.read(chosen).position[:, : length + 1]


@torch.no_grad()
def segment_losses(
    model: WorldModel, positions: Float[Tensor, "orbit time body axis"], length: int
) -> Float[np.ndarray, " segment"]:
    """Mean loss in each consecutive segment of `length` times, with all earlier times seen.

    A causal model says the same of a time however the sequence goes on, so that one pass over
    the longest sequence gives every shorter one.

    Args:
        model: a trained model.
        positions: (orbit, time, body, axis), au; the last time is only predicted.
        length: times in a segment; the first segment scores one less where that is more than
            one, since a single position says nothing of the velocity.
    """
    parameter = next(model.network.parameters())
    positions = positions.to(parameter.device, parameter.dtype)
    network, scales = model.network, model.record.scales
    times = positions.shape[1] - 1
    starts = range(0, times, length)
    total = np.zeros(len(starts))
    for part in positions.split(max(1, TOKENS_AT_ONCE // times)):
        seen, following = part[:, :-1], part[:, 1:]
        output = network(seen)
        for number, start in enumerate(starts):
            # The loss leaves out the first time that it is given, where contexts are longer than 1.
            begin = start - 1 if start and network.config.context_length > 1 else start
            cut = (slice(None), slice(begin, start + length))
            value = loss(network.config, scales, output[cut], seen[cut], following[cut])
            total[number] += len(part) * value.item()
    return total / len(positions)
