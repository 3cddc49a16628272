"""Batches from a data set larger than memory: read in blocks, mixed in a shuffle buffer."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from worldmodel.config import TrainConfig
from worldmodel.data import Source, training_positions

BLOCK_ORBITS = 256
"""Orbits read at once: a few chunks of a shard."""


class StreamedBatches:
    """Contexts drawn at random from a buffer of orbits that moves on through the data set.

    Each step replaces as many orbits of the buffer as it used up states, so that every orbit is
    seen about as often as in one pass over all contexts. Blocks come in another order in every
    pass. The state holds the numbers of the orbits in the buffer and not the orbits themselves:
    they are read again when a run goes on.
    """

    def __init__(self, source: Source, orbits: int, config: TrainConfig) -> None:
        self.source = source
        self.orbits = orbits
        self.config = config
        self.count = config.crops_per_step
        self.offsets = torch.arange(config.context_length + 1)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.read_so_far = torch.zeros((), dtype=torch.int64)
        self.debt = torch.zeros((), dtype=torch.float64)
        self.coming = torch.empty(0, dtype=torch.int64)
        self.coming_positions = torch.empty(0)
        self.held = torch.empty(0, dtype=torch.int64)
        self.positions = torch.empty(0)

    def _fill(self) -> None:
        numbers: list[Tensor] = []
        positions: list[Tensor] = []
        missing = min(self.config.shuffle_buffer, self.orbits)
        while missing:
            number, position = self._take(missing)
            numbers.append(number)
            positions.append(position)
            missing -= len(number)
        self.held, self.positions = torch.cat(numbers), torch.cat(positions)

    def next(self) -> Float[Tensor, "crop time body axis"]:
        if not len(self.held):
            self._fill()
        samples = self.positions.shape[1]
        starts = samples - len(self.offsets) + 1
        orbit = torch.randint(len(self.held), (self.count, 1), generator=self.generator)
        start = torch.randint(starts, (self.count, 1), generator=self.generator)
        crops = self.positions[orbit, start + self.offsets]
        if len(self.held) < self.orbits:
            self._move_on(self.count * self.config.context_length / samples)
        return crops

    def _move_on(self, used: float) -> None:
        """Replace so many orbits of the buffer, in the mean, by the next ones."""
        self.debt += used
        while self.debt >= 1:
            number, positions = self._take(min(int(self.debt), len(self.held)))
            slots = torch.randperm(len(self.held), generator=self.generator)[: len(number)]
            self.held[slots], self.positions[slots] = number, positions
            self.debt -= len(number)

    def _take(self, most: int) -> tuple[Tensor, Tensor]:
        """Up to so many of the next orbits: their numbers and positions."""
        if not len(self.coming):
            self.coming = self._block(int(self.read_so_far))
            self.read_so_far += 1
            self.coming_positions = self._read(self.coming)
        number, self.coming = self.coming[:most], self.coming[most:]
        positions, self.coming_positions = (
            self.coming_positions[:most],
            self.coming_positions[most:],
        )
        return number, positions

    def _block(self, serial: int) -> Tensor:
        """Numbers of the orbits in the block that is read as number `serial`, shuffled."""
        blocks = -(-self.orbits // BLOCK_ORBITS)
        turn, place = divmod(serial, blocks)
        order = np.random.default_rng((self.config.seed, turn)).permutation(blocks)
        first = order[place] * BLOCK_ORBITS
        numbers = np.arange(first, min(first + BLOCK_ORBITS, self.orbits))
        return torch.from_numpy(
            np.random.default_rng((self.config.seed, turn, place)).permutation(numbers)
        )

    def _read(self, numbers: Tensor) -> Tensor:
        """(orbit, time, body, axis) positions of some orbits, au."""
        order = torch.argsort(numbers)
        positions = training_positions(self.source, numbers[order].numpy(), self.config)
        return positions[torch.argsort(order)]

    def state(self) -> dict[str, Tensor]:
        return {
            "generator": self.generator.get_state(),
            "read_so_far": self.read_so_far,
            "debt": self.debt,
            "coming": self.coming,
            "held": self.held,
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        self.generator.set_state(state["generator"])
        self.read_so_far, self.debt = state["read_so_far"], state["debt"]
        self.coming, self.held = state["coming"], state["held"]
        if len(self.coming):
            self.coming_positions = self._read(self.coming)
        self.positions = torch.cat(
            [self._read(part) for part in self.held.split(16 * BLOCK_ORBITS)]
        )
