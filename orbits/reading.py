"""Reading a dataset in random order, as fast as the disk: shard by shard through a buffer."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orbits import dataset
from orbits.records.places import Place

INDEX_ENTRY = 16
"""Bytes of one chunk's entry in a shard's index: offset and size, little-endian uint64."""

INDEX_CHECKSUM = 4
"""Bytes of the CRC-32C behind the index."""


def shuffled_batches(
    path: str | os.PathLike[str],
    names: Sequence[str] = ("position",),
    batch: int = 64,
    seed: int = 0,
    buffer_shards: int = 4,
) -> Iterator[dict[str, np.ndarray]]:
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
    place = Place(path)
    attributes = dataset.open_dataset(path).attrs
    group = place.group("r")
    arrays = {name: group[name] for name in names}
    rng = np.random.default_rng(seed)
    shards = rng.permutation(attributes["shards"])
    left: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for first in range(0, len(shards), buffer_shards):
        some = shards[first : first + buffer_shards]
        buffer = {
            name: np.concatenate(left[name] + [read_shard(place, array, k) for k in some])
            for name, array in arrays.items()
        }
        order = rng.permutation(len(buffer[names[0]]))
        is_last = first + buffer_shards >= len(shards)
        whole = len(order) if is_last else len(order) - len(order) % batch
        for start in range(0, whole, batch):
            rows = order[start : start + batch]
            yield {name: values[rows] for name, values in buffer.items()}
        left = {name: [values[order[whole:]]] for name, values in buffer.items()}


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
