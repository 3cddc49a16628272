"""From a data set on disk to contexts for training: facts, splits, scales and batches."""

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.dataset import open_dataset
from orbits.forces import ForceLaw, parse_law
from orbits.records.files import sha256_of_json
from worldmodel.config import KICK_ANGLE, KICK_SCALE, ModelConfig, TrainConfig
from worldmodel.kick import kick
from worldmodel.model import Scales
from worldmodel.objective import raw_target


@dataclasses.dataclass(frozen=True)
class DataFacts:
    """What a data set is, as a run remembers it."""

    path: str
    """Where it was."""
    fingerprint: str
    """Of its law, step, shape and first orbit: the same data have the same one anywhere."""
    law: str
    """The law of force, as `orbits.forces.parse_law` reads it."""
    system: str
    """`relative`, `barycentric`, `nbody` or `planets`."""
    dt: float
    """Time between two states, yr."""
    orbits: int
    """Number of orbits."""
    samples: int
    """States in each orbit."""
    bodies: int
    """Bodies in each state."""
    axes: int
    """Coordinates of each body."""


@dataclasses.dataclass(frozen=True)
class Trajectories:
    """Orbits in memory.

    position, velocity: (orbit, time, body, axis), au and au/yr. gm: (orbit,), au^3/yr^2. index:
    (orbit,) their numbers in the data set. body: (orbit,) which planet it is, for planets.
    """

    facts: DataFacts
    position: Float[np.ndarray, "orbit time body axis"]
    velocity: Float[np.ndarray, "orbit time body axis"]
    gm: Float[np.ndarray, " orbit"]
    index: np.ndarray
    body: np.ndarray | None = None


class Source:
    """A data set on disk, checked, of which orbits can be read."""

    def __init__(self, path: str | os.PathLike[str]):
        self.dataset = open_dataset(path)
        attributes = self.dataset.attrs
        sizes = self.dataset.sizes
        first = self.dataset["position"].isel(orbit=0).values
        described: dict[str, Any] = {
            "law": str(attributes["law"]),
            "system": str(attributes["system"]),
            "dt": float(attributes["dt"]),
            "orbits": sizes["orbit"],
            "samples": sizes["time"],
            "bodies": sizes.get("body", 1),
            "axes": sizes["axis"],
        }
        fingerprint = sha256_of_json({**described, "first": first.astype("float32")})
        where = str(path) if "://" in str(path) else str(Path(path).resolve())
        self.facts = DataFacts(path=where, fingerprint=fingerprint, **described)

    def read(self, index: Iterable[int]) -> Trajectories:
        """Some of the orbits, by their numbers.

        Raises:
            ValueError: if a state is not finite (says which orbit).
        """
        numbers = np.fromiter(index, dtype=np.int64)
        contiguous = len(numbers) and np.all(np.diff(numbers) == 1)
        chosen = slice(numbers[0], numbers[-1] + 1) if contiguous else numbers
        part = self.dataset.isel(orbit=chosen)
        position, velocity = part["position"].values, part["velocity"].values
        finite = np.isfinite(position) & np.isfinite(velocity)
        bad = ~finite.all(axis=tuple(range(1, position.ndim)))
        if bad.any():
            raise ValueError(
                f"{self.facts.path}: orbit {numbers[np.argmax(bad)]} holds positions or "
                "velocities that are not finite numbers; `orbits validate` lists what is "
                "missing, `orbits generate` with the same options completes it."
            )
        if position.ndim == 3:
            position, velocity = position[:, :, None], velocity[:, :, None]
        gm = np.asarray(part["gm"].values, dtype=np.float64)
        body = part["body"].values if self.facts.system == "planets" else None
        return Trajectories(self.facts, position, velocity, gm, numbers, body)


def training_orbits(facts: DataFacts, held_out: float) -> int:
    """How many orbits, from the first, are trained on; the rest are held out.

    Raises:
        ValueError: if no orbit is left on either side.
    """
    count = round(facts.orbits * (1 - held_out))
    if not 0 < count < facts.orbits:
        raise ValueError(
            f"held_out {held_out:g} of {facts.orbits} orbit(s) leaves {count} for training and "
            f"{facts.orbits - count} held out; both need at least one. Give more orbits or "
            "another fraction."
        )
    return count


def require_long_enough(facts: DataFacts, context_length: int) -> None:
    """Raise ValueError if orbits hold no context with a next position."""
    if facts.samples < context_length + 1:
        raise ValueError(
            f"{facts.path} has {facts.samples} states in each orbit, but context_length "
            f"{context_length} needs {context_length + 1}; give a shorter context or generate "
            f"with --samples {context_length + 1} or more."
        )


def measure_scales(
    positions: Float[np.ndarray, "orbit time body axis"], model: ModelConfig
) -> Scales:
    """The units of length that standardise inputs and targets."""
    states = torch.from_numpy(np.asarray(positions, dtype=np.float64))
    target = raw_target(model.target, states[:, :-1], states[:, 1:])
    target = target[:, 1:] if model.target == "residual" else target
    steps = torch.diff(states, dim=1)
    bends = torch.diff(steps, dim=1)

    def rms(values: Tensor) -> float:
        return float(values.square().mean().sqrt())

    return Scales(
        bodies=positions.shape[2],
        axes=positions.shape[3],
        position=rms(states),
        target=rms(target),
        step=rms(steps),
        bend=rms(bends) if bends.numel() else 1.0,
    )


def spread(first: int, stop: int, most: int) -> np.ndarray:
    """At most so many numbers from first, ..., stop − 1, evenly spread."""
    return np.linspace(first, stop - 1, min(most, stop - first)).round().astype(int)


def training_positions(
    source: Source, numbers: Iterable[int], config: TrainConfig
) -> Float[Tensor, "orbit time body axis"]:
    """Positions of some training orbits, au; the fraction `kicked` of them changes course.

    Whether, when and how an orbit is kicked depends on the seed and on the orbit's number alone.

    Raises:
        ValueError: if orbits of several bodies are to be kicked.
    """
    part = source.read(numbers)
    position = part.position.astype(np.float32)
    if config.kicked:
        if source.facts.bodies != 1:
            raise ValueError(
                f"kicked orbits need one body in each state; {source.facts.path} has "
                f"{source.facts.bodies}. Leave --kicked away."
            )
        law = parse_law(source.facts.law)
        for row, number in enumerate(part.index):
            random = np.random.default_rng((config.seed, 1, number))
            if random.random() < config.kicked:
                position[row, :, 0] = _kicked_in_mid_course(part, row, law, random)
    return torch.from_numpy(position)


def _kicked_in_mid_course(
    part: Trajectories, row: int, law: ForceLaw, random: np.random.Generator
) -> Float[np.ndarray, "time axis"]:
    """One orbit, kicked as in the kick test at a random time; as it was if it would collide."""
    samples, one = part.position.shape[1], slice(row, row + 1)
    at = int(random.integers(1, samples - 1))
    arcs = kick(
        part.position[one, :, 0],
        part.velocity[one, :, 0],
        part.gm[one],
        law,
        part.facts.dt,
        at,
        samples - 1 - at,
        KICK_ANGLE,
        KICK_SCALE,
        random,
    )
    kicked = arcs.position[0].astype(np.float32)
    return kicked if np.isfinite(kicked).all() else part.position[row, :, 0]


class Batches(Protocol):
    """An endless sequence of contexts that can stop and go on."""

    def next(self) -> Float[Tensor, "crop time body axis"]:
        """`crops_per_step` contexts of C positions with the position after them: C + 1 states."""

    def state(self) -> dict[str, Tensor]:
        """Everything that the batches to come depend on."""

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from a state."""


class MemoryBatches:
    """Contexts drawn at random from orbits in memory: any orbit, any start, with replacement."""

    def __init__(
        self, positions: Float[Tensor, "orbit time body axis"], config: TrainConfig
    ) -> None:
        self.positions = positions
        self.count = config.crops_per_step
        self.offsets = torch.arange(config.context_length + 1)
        self.generator = torch.Generator().manual_seed(config.seed)

    def next(self) -> Float[Tensor, "crop time body axis"]:
        orbits, samples = self.positions.shape[:2]
        starts = samples - len(self.offsets) + 1
        orbit = torch.randint(orbits, (self.count, 1), generator=self.generator)
        start = torch.randint(starts, (self.count, 1), generator=self.generator)
        return self.positions[orbit, start + self.offsets]

    def state(self) -> dict[str, Tensor]:
        return {"generator": self.generator.get_state()}

    def restore(self, state: dict[str, Tensor]) -> None:
        self.generator.set_state(state["generator"])


def held_out_crops(
    positions: Float[np.ndarray, "orbit time body axis"], context_length: int, tokens: int = 8192
) -> Float[Tensor, "crop time body axis"]:
    """Contexts of held-out orbits, with the position after them: the same ones every time.

    They start at evenly spaced times of evenly spaced orbits, and hold about `tokens` positions
    together, so that an evaluation costs a few training steps whatever the context.
    """
    orbits, samples = positions.shape[:2]
    starts, most = samples - context_length, max(1, tokens // context_length)
    chosen = np.unique(np.linspace(0, orbits * starts - 1, most).astype(int))
    orbit, start = chosen // starts, chosen % starts
    crops = positions[orbit[:, None], start[:, None] + np.arange(context_length + 1)]
    return torch.from_numpy(np.asarray(crops, dtype=np.float32))
