"""A trained model in use: predictions from positions."""

import copy
import html
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.progress import advance
from orbits.settings import own_settings
from worldmodel.attention import attention_maps
from worldmodel.backbone import Backbone, Stream
from worldmodel.checkpoint import (
    RunRecord,
    damage_named,
    load_tensors,
    read_record,
    require_run_folder,
    require_same_run,
    save_tensors,
    sha256_of_tensors,
    write_record,
)
from worldmodel.data import training_orbits
from worldmodel.inside import Inside, autograd_jacobians, kept_outputs
from worldmodel.interventions import Edit, intervene
from worldmodel.model import Network, fresh_network
from worldmodel.objective import next_position
from worldmodel.predictor import by_windows, roll_out
from worldmodel.source import DataFacts

TOKENS_AT_ONCE, TOKENS_ON_CPU = 65_536, 4096
"""Tokens of one pass: on a CPU more no longer fit its caches, and take half as long again each."""


class WorldModel:
    """A network and its training record: `WorldModel.load("run").predict(positions)`.

    Args:
        network: the weights.
        record: how it was trained, on what, and in which units of length.
        step: optimiser steps taken.
        run: the folder it comes from, if any.
    """

    def __init__(
        self, network: Network, record: RunRecord, step: int = 0, run: str | None = None
    ) -> None:
        self.network = network.eval()
        self.record = record
        self.step = step
        self.run = run

    @classmethod
    @own_settings()
    def load(cls, run: str | os.PathLike[str], checkpoint: str = "last") -> "WorldModel":
        """The model of a run.

        Args:
            run: the folder written by `worldmodel train` or `save`.
            checkpoint: `last`, or `best` for the lowest held-out loss.

        Raises:
            ValueError: if the run is missing, or its weights are truncated or another's.
        """
        record = read_record(run)
        network = Network(record.train.model, record.scales)
        path = Path(run) / f"{checkpoint}.safetensors"
        tensors, header = load_tensors(path, record.identity)
        with damage_named(path):
            network.load_state_dict(tensors)
        return cls(network.to(_device()), record, header["step"], str(run))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write `config.json` and the weights, which `load` reads.

        Raises:
            ValueError: if the folder holds anything else, or a run of another configuration.
        """
        run = require_run_folder(folder)
        require_same_run(run, self.record)
        run.mkdir(parents=True, exist_ok=True)
        write_record(run, self.record)
        header = {"identity": self.record.identity, "step": self.step}
        save_tensors(run / "last.safetensors", self.network.state_dict(), header)

    @own_settings()
    def untrained(self, seed: int) -> "WorldModel":
        """The same architecture and scales with fresh weights: the baseline of every probe."""
        network = fresh_network(self.record.train.model, self.record.scales, seed)
        return WorldModel(network.to(_device()), self.record)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the weights by name, whatever their file."""
        return sha256_of_tensors(self.network.state_dict())

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    @property
    def name(self) -> str:
        """The run's folder, or attention and seed where there is none."""
        train = self.record.train
        return self.run or f"{train.attention}, seed {train.seed}"

    def __repr__(self) -> str:
        train, data = self.record.train, self.record.data
        window = f", window {train.window}" if train.window else ""
        trained = f"{self.step} steps on {data.orbits} orbits" if self.step else "never trained"
        return (
            f"WorldModel({train.attention}, context {train.context_length}{window}, "
            f"{self.parameters} parameters; law {data.law}, {trained})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    @property
    def context_length(self) -> int:
        """Positions used for a prediction."""
        return self.record.train.context_length

    @property
    def dt(self) -> float:
        """Time between two positions, yr."""
        return self.record.data.dt

    @property
    def radius(self) -> tuple[float, float]:
        """Smallest and largest distance from the centre in the training orbits, au."""
        return self.record.radius

    @property
    def identity(self) -> str:
        """Fingerprint of its options and training data."""
        return self.record.identity

    @property
    def training_facts(self) -> DataFacts:
        """Facts of its training data set."""
        return self.record.data

    @property
    def trained_on(self) -> str:
        """Where its training data set was."""
        return self.record.data.path

    def about(self) -> dict[str, Any]:
        """What is known of it, for files read off it."""
        train = self.record.train
        names = ("attention", "context_length", "target", "seed")
        return {name: getattr(train, name) for name in names}

    def for_world(self, facts: DataFacts) -> "WorldModel":
        """The model itself; ValueError if a data set's step or shape differs from the training
        data's."""
        scales = self.record.scales
        if not np.isclose(facts.dt, self.dt, rtol=1e-9, atol=0):
            raise ValueError(
                f"{facts.path} has a state every {facts.dt:g} yr, but the model was trained on "
                f"{self.dt:g} yr; make the data with --dt {self.dt:g}."
            )
        if (facts.bodies, facts.axes) != (scales.bodies, scales.axes):
            raise ValueError(
                f"{facts.path} has {facts.bodies} body/bodies with {facts.axes} axes, but the "
                f"model was trained on {scales.bodies} with {scales.axes}; give it data of that "
                "shape."
            )
        return self

    def first_unseen(self, facts: DataFacts) -> int:
        """Number of the first orbit in a data set that it was not trained on."""
        own = self.record.data.fingerprint == facts.fingerprint
        return training_orbits(facts, self.record.train.held_out_share) if own else 0

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after each time, from only the last C positions.

        Each prediction is made from a context of exactly C positions, as in training: the model
        sees nothing older, and no other length.

        Args:
            positions: (orbit, time, axis) or (orbit, time, body, axis), au, `dt` apart.

        Returns:
            Predicted positions one step later, au, float64; NaN at the first C − 1 times.

        Raises:
            ValueError: if the shape does not fit, or there are fewer times than C.
        """
        seen = self._checked(positions)
        advance(seen.shape[0] * seen.shape[1])
        at_once = self._tokens_at_once // self.network.tokens_per_step

        @own_settings()
        @torch.no_grad()
        def following(contexts: np.ndarray) -> np.ndarray:
            return self._following(torch.from_numpy(contexts)).numpy()

        predicted = by_windows(seen.numpy(), self.context_length, following, at_once)
        return predicted.reshape(positions.shape)

    def rollout(
        self, positions: Float[np.ndarray, "orbit time *body axis"], steps: int
    ) -> Float[np.ndarray, "orbit step *body axis"]:
        """Continue the given positions, each prediction becoming the next input.

        Args:
            positions: at least C of them, au, `dt` apart; only the last C are seen.
            steps: number of positions to predict.

        Returns:
            au, float64.

        Raises:
            ValueError: if the shape does not fit, or there are fewer times than C.
        """
        return roll_out(self, positions, steps)

    @own_settings()
    def jacobians(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> tuple[Float[np.ndarray, "state time out in"], None]:
        """Derivatives of the next position with respect to every position of full contexts.

        By reverse differentiation of a float64 copy, with negligible error.

        Raises:
            ValueError: for the head `tokens`.
        """
        if self.network.config.head == "tokens":
            raise ValueError(
                "a model of tokens sees bins, and its predictions have no derivatives by "
                "positions; take --readout kick_response, or a model with --head regression."
            )
        network = copy.deepcopy(self.network).double().cpu()

        def last(seen: Tensor) -> Tensor:
            output = network(seen)[:, -2:]
            return next_position(network.config, network.scales, output, seen[:, -2:])[:, -1]

        return autograd_jacobians(last, contexts), None

    def features(
        self, contexts: Float[np.ndarray, "state time body axis"]
    ) -> dict[str, Float[np.ndarray, "state feature"]]:
        """Activations at the last position of each context, by layer: `embed`, `blocks.0`, ..."""
        names = ["embed", *(f"blocks.{n}" for n in range(self.network.config.n_layers)), "norm"]
        count = max(1, self._tokens_at_once // (contexts.shape[1] * self.network.tokens_per_step))
        parts = [
            self.activations(contexts[start : start + count], names)
            for start in range(0, len(contexts), count)
        ]
        return {
            name: np.concatenate([part[name][:, -1].astype(np.float64) for part in parts])
            for name in names
        }

    def backbone(self, what: str) -> Backbone:
        """A copy of the network without head, for fine-tuning."""
        return Stream(self.network)

    def inside(self, what: str) -> Inside:
        """The network, open to inspection and edits."""
        layers = [
            f"blocks.{n}{part}"
            for n in range(self.network.config.n_layers)
            for part in (".attention", ".mlp", "")  # in the order they run
        ]
        return Inside(self.network, self._following, ["embed", *layers])

    def intervene(
        self, site: str | Mapping[str, Edit], edit: Edit | None = None
    ) -> AbstractContextManager[None]:
        """Edit what parts of the network output inside a block: see `worldmodel.intervene`.

        Args:
            site: `embed`, `blocks.0.attention`, `blocks.0.mlp`, `blocks.0`, ...; TransformerLens's
                `blocks.0.resid_post`, `.attn_out`, `.mlp_out` are the last three. Or several sites
                with their edits.
            edit: gives the new output.
        """
        return intervene(self.network, site, edit)

    @own_settings()
    @torch.no_grad()
    def activations(
        self, positions: Float[np.ndarray, "orbit time *body axis"], names: Sequence[str]
    ) -> dict[str, Float[np.ndarray, "orbit token ..."]]:
        """Intermediate results of one pass over the positions, by name.

        Args:
            positions: one context, au.
            names: `embed`, `blocks.0.attention`, `blocks.0`, `norm`, ...

        Raises:
            ValueError: if a name is not known (names the nearest), or the shape does not fit.
        """
        with kept_outputs(self.network, names) as kept:
            self.network(self._checked(positions, least=1).to(next(self.network.parameters())))
        return {name: output.float().cpu().numpy() for name, output in kept.items()}

    @own_settings()
    def attention(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "layer orbit head query key"]:
        """The attention weights in one pass over the positions, seen as one context."""
        seen = self._checked(positions, least=1).to(next(self.network.parameters()))
        return attention_maps(self.network, seen).float().cpu().numpy()

    @property
    def _tokens_at_once(self) -> int:
        device = next(self.network.parameters()).device.type
        return TOKENS_ON_CPU if device == "cpu" else TOKENS_AT_ONCE

    def _following(
        self, contexts: Float[Tensor, "context time body axis"]
    ) -> Float[Tensor, "context body axis"]:
        """The position after each context, au, float64."""
        network, last = self.network, contexts[:, -2:]
        output = network(contexts.to(next(network.parameters())))[:, -2:].to(contexts.device)
        return next_position(network.config, network.scales, output, last)[:, -1]

    def _checked(
        self, positions: np.ndarray, least: int = 0
    ) -> Float[Tensor, "orbit time body axis"]:
        scales = self.record.scales
        if np.asarray(positions).dtype.kind not in "fiu":
            raise ValueError("positions are no real numbers.")
        seen = torch.from_numpy(np.array(positions, dtype=np.float64))
        if seen.ndim == 3:
            seen = seen[:, :, None]
        if seen.ndim != 4 or seen.shape[2:] != (scales.bodies, scales.axes):
            raise ValueError(
                f"positions of shape {tuple(np.shape(positions))} do not fit the model, which "
                f"knows {scales.bodies} body/bodies with {scales.axes} axes: give (orbit, time, "
                f"{'' if scales.bodies == 1 else 'body, '}axis)."
            )
        least = least or self.context_length
        if seen.shape[1] < least:
            raise ValueError(
                f"{seen.shape[1]} position(s) of each orbit were given; {least} or more are needed."
            )
        if not torch.isfinite(seen).all():
            raise ValueError("positions hold values that are not finite numbers.")
        return seen


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let torch use so many threads inside the block; 0 leaves its own choice."""
    before = torch.get_num_threads()
    try:
        if count:
            torch.set_num_threads(count)
        yield
    finally:
        torch.set_num_threads(before)


def _device() -> torch.device:
    """The GPU if there is one (hide it with CUDA_VISIBLE_DEVICES=), else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
