"""Reading a dataset in random order, as fast as the disk."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from orbits.dataset import open_dataset, shard_file, variables
from orbits.storage import Place

Arrays = dict[str, np.ndarray]
"""Arrays by name, the first axis of each the orbit."""


class ShuffleBuffer:
    """Some orbits of a dataset in memory, replaced by others as they are used up.

    Orbits come block by block. The state holds their numbers and not the orbits themselves: those
    are read again when reading goes on.

    Attributes:
        numbers: (orbit,) numbers in the dataset of what is held.
        arrays: what was read of them, by name.
    """

    def __init__(
        self, block: Callable[[int], np.ndarray], read: Callable[[np.ndarray], Arrays]
    ) -> None:
        """An empty buffer.

        Args:
            block: numbers of the orbits in the block that comes as number 0, 1, ...; none when
                there is no further one.
            read: the arrays of orbits of given numbers.
        """
        self.block = block
        self.read = read
        self.blocks_read = 0
        self.coming = np.empty(0, dtype=np.int64)
        self.coming_arrays: Arrays = {}
        self.numbers = np.empty(0, dtype=np.int64)
        self.arrays: Arrays = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def fill(self, size: int) -> None:
        """Let orbits in until so many are held, or no more come."""
        parts = [(self.numbers, self.arrays)] if len(self) else []
        missing = size - len(self)
        while missing > 0 and len((part := self.take(missing))[0]):
            parts.append(part)
            missing -= len(part[0])
        if parts:
            self.numbers = np.concatenate([numbers for numbers, _ in parts])
            self.arrays = _joined([arrays for _, arrays in parts])

    def replace(self, slots: np.ndarray) -> int:
        """Put the next orbits into places of the buffer.

        Args:
            slots: places, in the order in which they are filled.

        Returns:
            How many were: the rest of a block may hold fewer.
        """
        numbers, arrays = self.take(len(slots))
        slots = slots[: len(numbers)]
        self.numbers[slots] = numbers
        for name, values in arrays.items():
            self.arrays[name][slots] = values
        return len(numbers)

    def keep(self, rows: np.ndarray) -> None:
        """Let go of all orbits but those in some places."""
        self.numbers = self.numbers[rows]
        self.arrays = {name: values[rows] for name, values in self.arrays.items()}

    def take(self, most: int) -> tuple[np.ndarray, Arrays]:
        """Up to so many of the next orbits, past the buffer: their numbers and arrays."""
        if not len(self.coming):
            self.coming = np.asarray(self.block(self.blocks_read))
            if len(self.coming):
                self.blocks_read += 1
                self.coming_arrays = self.read(self.coming)
        numbers, self.coming = self.coming[:most], self.coming[most:]
        arrays = {name: values[:most] for name, values in self.coming_arrays.items()}
        self.coming_arrays = {name: values[most:] for name, values in self.coming_arrays.items()}
        return numbers, arrays

    def state(self) -> Arrays:
        """What `restore` goes on from."""
        return {
            "blocks_read": np.asarray(self.blocks_read),
            "coming": self.coming,
            "numbers": self.numbers,
        }

    def restore(self, state: Mapping[str, np.ndarray], at_once: int = 4096) -> None:
        """Go on from a state.

        Args:
            state: as `state` gave it.
            at_once: orbits to read in one go.
        """
        self.blocks_read = int(state["blocks_read"])
        self.coming, self.numbers = np.array(state["coming"]), np.array(state["numbers"])
        self.coming_arrays = self.read(self.coming) if len(self.coming) else {}
        starts = range(0, len(self.numbers), at_once)
        parts = [self.read(self.numbers[first : first + at_once]) for first in starts]
        self.arrays = _joined(parts) if parts else {}


def _joined(parts: Sequence[Arrays]) -> Arrays:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def shuffled_batches(
    path: str | os.PathLike[str],
    names: Sequence[str] = ("position",),
    batch: int = 64,
    seed: int = 0,
) -> Iterator[Arrays]:
    """Every orbit once, in random batches.

    A dataset on a local disk is mapped into memory, so that it may be larger; each shard is
    compared with its checksum before it is first used. Any other is read into memory.

    Args:
        path: a complete dataset.
        names: variables to read.
        batch: orbits per batch; the last one may be smaller.
        seed: of the order.

    Yields:
        (batch, ...) arrays by name.

    Raises:
        ValueError: if there is no whole dataset, or `batch` is below 1.
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}; it must be at least 1.")
    data, place = open_dataset(path), Place(path)
    per_shard = data.attrs["shard_orbits"]
    mapped: dict[tuple[str, int], np.ndarray] = {}

    def rows_of(name: str, rows: np.ndarray) -> np.ndarray:
        if place.local is None:
            return data[name].values[rows]
        found = np.empty((len(rows), *data[name].shape[1:]), data[name].dtype)
        for shard in np.unique(rows // per_shard):
            if (name, shard) not in mapped:
                mapped[name, shard] = _mapped(place.local, data, name, shard)
            chosen = rows // per_shard == shard
            found[chosen] = mapped[name, shard][rows[chosen] - shard * per_shard]
        return found

    order = np.random.default_rng(seed).permutation(data.sizes["orbit"])
    for start in range(0, len(order), batch):
        yield {name: rows_of(name, order[start : start + batch]) for name in names}


def _mapped(folder: Path, data: xr.Dataset, name: str, shard: int) -> np.ndarray:
    """One shard of an array: its file, once it has been compared with its checksum."""
    array, per_shard = data[name], data.attrs["shard_orbits"]
    _ = array[shard * per_shard : (shard + 1) * per_shard].values  # zarr compares the checksum
    file = folder / shard_file(name, variables(data.attrs["system"])[name], shard)
    shape = (min(per_shard, data.sizes["orbit"]), *array.shape[1:])
    return np.memmap(file, dtype=array.dtype.newbyteorder("<"), mode="r", shape=shape)
