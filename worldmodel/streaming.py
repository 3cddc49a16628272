"""Batches from a data set larger than memory: read in blocks, mixed in a shuffle buffer."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from orbits.reading import ShuffleBuffer
from worldmodel.config import TrainConfig
from worldmodel.data import Source, training_positions

BLOCK_ORBITS = 256
"""Orbits read at once: a few chunks of a shard."""


class StreamedBatches:
    """Contexts drawn at random from a buffer of orbits that moves on through the data set.

    Each step replaces as many orbits of the buffer as it used up states, so that every orbit is
    seen about as often as in one pass over all contexts. Blocks come in another order in every
    pass.
    """

    def __init__(self, source: Source, orbits: int, config: TrainConfig) -> None:
        self.source = source
        self.orbits = orbits
        self.config = config
        self.count = config.crops_per_step
        self.offsets = torch.arange(config.context_length + 1)
        self.generator = torch.Generator().manual_seed(config.seed)
        self.debt = torch.zeros((), dtype=torch.float64)
        self.buffer = ShuffleBuffer(self._block, self._read)

    def next(self) -> Float[Tensor, "crop time body axis"]:
        if not len(self.buffer):
            self.buffer.fill(min(self.config.shuffle_buffer, self.orbits))
        positions = torch.from_numpy(self.buffer.arrays["position"])
        held, samples = positions.shape[:2]
        starts = samples - len(self.offsets) + 1
        orbit = torch.randint(held, (self.count, 1), generator=self.generator)
        start = torch.randint(starts, (self.count, 1), generator=self.generator)
        crops = positions[orbit, start + self.offsets]
        if held < self.orbits:
            self._move_on(self.count * self.config.context_length / samples)
        return crops

    def _move_on(self, used: float) -> None:
        """Replace so many orbits of the buffer, on average, by the next ones."""
        self.debt += used
        held = len(self.buffer)
        while self.debt >= 1:
            slots = torch.randperm(held, generator=self.generator)[: int(self.debt)]
            self.debt -= self.buffer.replace(slots.numpy())

    def _block(self, serial: int) -> np.ndarray:
        """Numbers of the orbits in the block that is read as number `serial`, shuffled."""
        blocks = -(-self.orbits // BLOCK_ORBITS)
        turn, place = divmod(serial, blocks)
        order = np.random.default_rng((self.config.seed, turn)).permutation(blocks)
        first = order[place] * BLOCK_ORBITS
        numbers = np.arange(first, min(first + BLOCK_ORBITS, self.orbits))
        return np.random.default_rng((self.config.seed, turn, place)).permutation(numbers)

    def _read(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """(orbit, time, body, axis) positions of some orbits, au."""
        order = np.argsort(numbers)
        positions = training_positions(self.source, numbers[order], self.config)
        return {"position": positions.numpy()[np.argsort(order)]}

    def state(self) -> dict[str, Tensor]:
        buffer = {name: torch.from_numpy(value) for name, value in self.buffer.state().items()}
        return {
            "generator": self.generator.get_state(),
            "read_so_far": buffer["blocks_read"],
            "debt": self.debt,
            "coming": buffer["coming"],
            "held": buffer["numbers"],
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        self.generator.set_state(state["generator"])
        self.debt = state["debt"]
        self.buffer.restore(
            {
                "blocks_read": state["read_so_far"].numpy(),
                "coming": state["coming"].numpy(),
                "numbers": state["held"].numpy(),
            }
        )
