"""From a data set to contexts for training: scales, kicked orbits and batches."""

import tempfile
from collections.abc import Iterable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.forces import ForceLaw, known_law
from orbits.printing import plural
from worldmodel.config import KickConfig, ModelConfig, TrainConfig
from worldmodel.kick import kicked_at, turned_at_random
from worldmodel.model import Scales
from worldmodel.objective import raw_target
from worldmodel.representation import REPRESENTATIONS
from worldmodel.source import DataFacts, DatasetSource, Trajectories
from worldmodel.targets import inertia

ORBITS_AT_ONCE = 4096
"""Read at a time from a data set larger than memory."""


def training_orbits(facts: DataFacts, held_out_share: float) -> int:
    """How many orbits, from the first, train the model; others are held out. ValueError if either
    has none."""
    count = round(facts.orbits * (1 - held_out_share))
    if not 0 < count < facts.orbits:
        raise ValueError(
            f"held_out_share {held_out_share:g} of {plural(facts.orbits, 'orbit')} leaves {count} "
            f"for training and {facts.orbits - count} held out; both need at least one. Give more "
            "orbits or another share."
        )
    return count


def measure_scales(
    positions: Float[np.ndarray, "orbit time body axis"], model: ModelConfig
) -> Scales:
    """The units that standardise inputs and targets."""
    states = torch.from_numpy(np.asarray(positions, dtype=np.float64))
    target = raw_target(model.target, states[:, :-1], states[:, 1:])
    target = target[:, 1:] if inertia(model.target) else target
    seen = REPRESENTATIONS[model.inputs].seen(states)
    said = REPRESENTATIONS[model.outputs].said(target)
    units = (tuple(part.unit() for part in parts) for parts in (seen, said))
    return Scales(positions.shape[2], positions.shape[3], *units)


def training_positions(
    source: DatasetSource, numbers: Iterable[int], config: TrainConfig
) -> Float[Tensor, "orbit time body axis"]:
    """Positions of some training orbits, au; a fraction `kicked` of them is kicked.

    Whether, when and how an orbit is kicked depends on the seed and on the orbit's number alone.
    ValueError if orbits of several bodies would be kicked.
    """
    part = source.read(numbers)
    position = part.position.astype(np.float32)
    if config.kicked:
        if source.facts.bodies != 1:
            raise ValueError(
                f"kicked orbits need one body in each state; {source.facts.path} has "
                f"{source.facts.bodies}. Leave --kicked out."
            )
        law = known_law(source.facts.law)
        if law is None:
            raise ValueError(
                f"kicked orbits are followed under the law, and that of {source.facts.path} is not "
                "known. Leave --kicked out."
            )
        for row, number in enumerate(part.index):
            random = np.random.default_rng((config.seed, 1, number))
            if random.random() < config.kicked:
                position[row, :, 0] = _kicked_in_mid_course(part, row, law, random)
    return torch.from_numpy(position)


def _kicked_in_mid_course(
    part: Trajectories, row: int, law: ForceLaw, random: np.random.Generator
) -> Float[np.ndarray, "time axis"]:
    """One orbit, kicked as in the kick test at a random time; unchanged if it would collide."""
    samples, one = part.position.shape[1], slice(row, row + 1)
    at = int(random.integers(1, samples - 1))
    x, v = (states[one, :, 0].astype(np.float64) for states in (part.position, part.velocity))
    how = KickConfig.kick_angle, KickConfig.kick_scale, random
    new = turned_at_random(x[:, at], v[:, at], *how)
    arcs = kicked_at(x, v, part.gm[one], law, part.facts.dt, at, samples - 1 - at, new)
    kicked = arcs.position[0].astype(np.float32)
    return kicked if np.isfinite(kicked).all() else part.position[row, :, 0]


def mapped_positions(
    source: DatasetSource, count: int, config: TrainConfig
) -> Float[Tensor, "orbit time body axis"]:
    """The same for the first orbits, in an unnamed memory-mapped file."""
    facts = source.facts
    shape = (count, facts.samples, facts.bodies, facts.axes)
    with tempfile.TemporaryFile() as file:
        whole = np.memmap(file, np.float32, "w+", shape=shape)
    for start in range(0, count, ORBITS_AT_ONCE):
        part = range(start, min(start + ORBITS_AT_ONCE, count))
        whole[part.start : part.stop] = training_positions(source, part, config).numpy()
    return torch.from_numpy(whole)


class Batches:
    """Endless random contexts of training orbits."""

    def __init__(
        self, positions: Float[Tensor, "orbit time body axis"], config: TrainConfig
    ) -> None:
        self.positions = positions
        self.size = config.crops_per_step, config.context_length + 1
        self.generator = torch.Generator().manual_seed(config.seed)

    def lie_on(self, device: torch.device) -> None:
        """Keep the positions where contexts are needed, if they take a quarter of what is free."""
        if 4 * self.positions.nbytes < torch.cuda.mem_get_info(device)[0]:
            self.positions = self.positions.to(device)

    def next(self) -> Float[Tensor, "crop time body axis"]:
        """`crops_per_step` contexts of C positions with the next position: C + 1 states."""
        crops = random_crops(self.positions, *self.size, self.generator)
        return self.positions[tuple(x.to(self.positions.device, non_blocking=True) for x in crops)]


def random_crops(
    states: Tensor, count: int, length: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Indices of adjacent (orbit, time) states: any orbit, any start, with replacement."""
    orbits, samples = states.shape[:2]
    orbit = torch.randint(orbits, (count, 1), generator=generator)
    start = torch.randint(samples - length + 1, (count, 1), generator=generator)
    return orbit, start + torch.arange(length)


def held_out_crops(
    positions: Float[np.ndarray, "orbit time body axis"], context_length: int
) -> Float[Tensor, "crop time body axis"]:
    """Contexts from held-out orbits, with the next position: the same every time.

    They start at evenly spaced times in evenly spaced orbits.
    """
    orbits, samples = positions.shape[:2]
    # 8192 positions in all: an evaluation costs a few training steps whatever the context
    starts, most = samples - context_length, max(1, 8192 // context_length)
    chosen = np.unique(np.linspace(0, orbits * starts - 1, most).astype(int))
    orbit, start = chosen // starts, chosen % starts
    crops = positions[orbit[:, None], start[:, None] + np.arange(context_length + 1)]
    return torch.from_numpy(np.asarray(crops, dtype=np.float32))
