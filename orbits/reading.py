"""Reading a dataset in random order, as fast as the disk: shard by shard through a buffer."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orbits import dataset
from orbits.records.places import Place
from orbits.records.shard_markers import shard_file

INDEX_ENTRY = 16
"""Bytes of one chunk's entry in a shard's index: offset and size, little-endian uint64."""

INDEX_CHECKSUM = 4
"""Bytes of the CRC-32C behind the index."""


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
    buffer_shards: int = 4,
) -> Iterator[Arrays]:
    """Every orbit once, in random batches; memory holds a few shards, whatever the dataset's size.

    Shards come in random order, one after the other, into a buffer; a full buffer is given out in
    random order before it is filled again.

    Args:
        path: a complete dataset.
        names: variables to read.
        batch: orbits per batch; the last one may be smaller.
        seed: of the order.
        buffer_shards: shards in memory; as many as the dataset has make the order uniform.

    Yields:
        (batch, ...) arrays by name.

    Raises:
        ValueError: if there is no whole dataset, or a count is below 1.
    """
    for what, count in (("batch", batch), ("buffer_shards", buffer_shards)):
        if count < 1:
            raise ValueError(f"{what} is {count}; it must be at least 1.")
    place, attributes = Place(path), dataset.open_dataset(path).attrs
    checksums = dataset.require_whole(place, attributes)
    group, per_shard = place.group("r"), attributes["shard_orbits"]
    arrays = {name: group[name] for name in names}
    orbits = group["gm"].shape[0]  # type: ignore[union-attr]
    rng = np.random.default_rng(seed)
    shards = rng.permutation(attributes["shards"])

    def block(serial: int) -> np.ndarray:
        if serial == len(shards):
            return np.empty(0, dtype=np.int64)
        first = shards[serial] * per_shard
        return np.arange(first, min(first + per_shard, orbits))

    def read(numbers: np.ndarray) -> Arrays:
        shard = int(numbers[0]) // per_shard
        for name, array in arrays.items():
            checksums.require(shard_file(name, array.ndim, shard))  # type: ignore[union-attr]
        return {name: read_shard(place, array, shard) for name, array in arrays.items()}

    buffer = ShuffleBuffer(block, read)
    while True:
        buffer.fill(len(buffer) + buffer_shards * per_shard)
        order = rng.permutation(len(buffer))
        is_last = buffer.blocks_read == len(shards) and not len(buffer.coming)
        whole = len(order) if is_last else len(order) - len(order) % batch
        for start in range(0, whole, batch):
            rows = order[start : start + batch]
            yield {name: values[rows] for name, values in buffer.arrays.items()}
        if is_last:
            return
        buffer.keep(order[whole:])


def read_shard(place: Place, array: Any, shard: int) -> np.ndarray:
    """One shard's orbits of one array, without copying where the file's layout allows it.

    An uncompressed shard on a local disk whose index says that its chunks lie one behind the other
    is the array itself, and is mapped into memory; any other is read by zarr.

    Args:
        place: the dataset.
        array: one of its arrays, from `place.group("r")`.
        shard: the shard's number.
    """
    per_shard = (array.shards or array.chunks)[0]
    first = shard * per_shard
    count = min(per_shard, array.shape[0] - first)
    if place.local is not None and array.shards is not None and not array.compressors:
        whole = _mapped(place.local, array, shard)
        if whole is not None:
            return whole[:count]
    return np.asarray(array[first : first + count])


def _mapped(folder: Path, array: Any, shard: int) -> np.ndarray | None:
    chunks = array.shards[0] // array.chunks[0]
    chunk_bytes = int(np.prod(array.chunks)) * array.dtype.itemsize
    name = "/".join([array.basename, "c", str(shard), *("0" * (array.ndim - 1))])
    file = folder / name
    index_bytes = chunks * INDEX_ENTRY
    if file.stat().st_size != chunks * chunk_bytes + index_bytes + INDEX_CHECKSUM:
        return None
    if array.dtype.byteorder == ">" or tuple(array.shards[1:]) != tuple(array.chunks[1:]):
        return None
    index = np.fromfile(file, dtype="<u8", offset=chunks * chunk_bytes, count=2 * chunks)
    expected = np.arange(chunks, dtype=np.uint64) * np.uint64(chunk_bytes)
    if not np.array_equal(index[::2], expected) or np.any(index[1::2] != chunk_bytes):
        return None
    return np.memmap(file, dtype=array.dtype, mode="r", shape=tuple(array.shards))
