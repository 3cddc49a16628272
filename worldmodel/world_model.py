"""A trained model, for use: predictions from positions."""

import os
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from worldmodel.checkpoint import RunRecord, load_network, read_record
from worldmodel.model import Network
from worldmodel.objective import next_position

TOKENS_AT_ONCE = 65_536


class WorldModel:
    """A network with what it was trained on: `WorldModel.load("run").predict(positions)`."""

    def __init__(self, network: Network, record: RunRecord) -> None:
        self.network = network.eval()
        self.record = record

    @classmethod
    def load(cls, run: str | os.PathLike[str], checkpoint: str = "last") -> "WorldModel":
        """The model of a run.

        Args:
            run: the folder that `worldmodel train` wrote.
            checkpoint: `last`, or `best` for the lowest held-out loss.

        Raises:
            ValueError: if the run is missing, or its weights are cut short or another's.
        """
        return cls(load_network(run, checkpoint), read_record(run))

    @classmethod
    def untrained(cls, run: str | os.PathLike[str], seed: int) -> "WorldModel":
        """The same architecture and scales with fresh weights: the baseline of every probe."""
        record = read_record(run)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return cls(Network(record.train.model, record.scales), record)

    @property
    def context_length(self) -> int:
        """Positions that a prediction is made from."""
        return self.record.train.context_length

    @property
    def dt(self) -> float:
        """Time between two positions, yr."""
        return self.record.data.dt

    def predict(
        self,
        positions: Float[np.ndarray, "orbit time *body axis"],
        decode: str = "expectation",
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after each time, from the last C positions alone.

        Each prediction is made from a context of exactly C positions, as in training: the model
        sees nothing older, and knows no other length.

        Args:
            positions: (orbit, time, axis) or (orbit, time, body, axis), au, `dt` apart.
            decode: for the head `tokens`: `expectation` over the bins, or the `centre` of the
                likeliest.

        Returns:
            Predicted positions one step later, au, float64; NaN at the first C − 1 times.

        Raises:
            ValueError: if the shape does not fit, or there are fewer times than C.
        """
        seen = self._checked(positions)
        orbits, times = seen.shape[:2]
        length = self.context_length
        contexts = seen.unfold(1, length, 1).movedim(-1, 2).flatten(0, 1)
        count = max(1, TOKENS_AT_ONCE // (length * self.network.tokens_per_step))
        last = torch.cat([self._last(part, decode) for part in contexts.split(count)])
        predicted = torch.full(seen.shape, torch.nan, dtype=torch.float64)
        predicted[:, length - 1 :] = last.view(orbits, times - length + 1, *seen.shape[2:])
        return predicted.view(positions.shape).numpy()

    @torch.no_grad()
    def _last(
        self, contexts: Float[Tensor, "context time body axis"], decode: str
    ) -> Float[Tensor, "context body axis"]:
        """The position after each context, au, float64."""
        parameter = next(self.network.parameters())
        output = self.network(contexts.to(parameter.device, parameter.dtype))
        decoded = next_position(
            self.network.config, self.network.scales, output[:, -2:].cpu(), contexts[:, -2:], decode
        )
        return decoded[:, -1]

    def _checked(self, positions: np.ndarray) -> Float[Tensor, "orbit time body axis"]:
        scales = self.record.scales
        seen = torch.from_numpy(np.array(positions, dtype=np.float64))
        if seen.ndim == 3:
            seen = seen[:, :, None]
        if seen.ndim != 4 or seen.shape[2:] != (scales.bodies, scales.axes):
            raise ValueError(
                f"positions of shape {tuple(np.shape(positions))} do not fit the model, which "
                f"knows {scales.bodies} body/bodies with {scales.axes} axes: give (orbit, time, "
                f"{'' if scales.bodies == 1 else 'body, '}axis)."
            )
        if seen.shape[1] < self.context_length:
            raise ValueError(
                f"{seen.shape[1]} position(s) are fewer than the model's context of "
                f"{self.context_length}."
            )
        if not torch.isfinite(seen).all():
            raise ValueError("positions hold values that are not finite numbers.")
        return seen


def require_same_world(
    model: WorldModel, data_path: str, dt: float, bodies: int, axes: int
) -> None:
    """Raise ValueError if a data set has another step or shape than the model was trained on."""
    scales = model.record.scales
    if not np.isclose(dt, model.dt, rtol=1e-9, atol=0):
        raise ValueError(
            f"{data_path} has a state every {dt:g} yr, but the model was trained on {model.dt:g} "
            f"yr; make the data with --dt {model.dt:g}."
        )
    if (bodies, axes) != (scales.bodies, scales.axes):
        raise ValueError(
            f"{data_path} has {bodies} body/bodies with {axes} axes, but the model was trained on "
            f"{scales.bodies} with {scales.axes}; give it data of that shape."
        )


def is_training_data(model: WorldModel, fingerprint: str) -> bool:
    """Whether a data set is the one that the model was trained on."""
    return model.record.data.fingerprint == fingerprint


def resolved(path: str | os.PathLike[str]) -> str:
    """A path for messages and records."""
    return str(path) if "://" in str(path) else str(Path(path).resolve())
