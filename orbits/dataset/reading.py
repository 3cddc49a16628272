"""Reading a dataset in random order, as fast as the disk."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from orbits.dataset import folder_of, open_dataset
from orbits.dataset.schema import shard_file, variables
from orbits.options import checked

Arrays = dict[str, np.ndarray]
"""Arrays by name, with the orbit as first axis."""


@checked
def shuffled_batches(
    path: str | os.PathLike[str],
    names: Sequence[str] = ("position",),
    batch: int = 64,
    seed: int = 0,
) -> Iterator[Arrays]:
    """Every orbit once, in random batches.

    The dataset is memory-mapped, so it may be larger than memory; each shard is checked against its
    checksum before its first use.

    Args:
        path: a complete dataset.
        names: variables to read.
        batch: orbits per batch; the last one may be smaller.
        seed: of the order.

    Yields:
        (batch, ...) arrays by name.

    Raises:
        ValueError: if there is no complete dataset, or `batch` is below 1.
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}; it must be at least 1.")
    data, folder = open_dataset(path), folder_of(path)
    per_shard = data.attrs["shard_orbits"]
    mapped: dict[tuple[str, int], np.ndarray] = {}

    def rows_of(name: str, rows: np.ndarray) -> np.ndarray:
        values = np.empty((len(rows), *data[name].shape[1:]), data[name].dtype)
        for shard in np.unique(rows // per_shard):
            if (name, shard) not in mapped:
                mapped[name, shard] = _mapped(folder, data, name, shard)
            inside = rows // per_shard == shard
            values[inside] = mapped[name, shard][rows[inside] - shard * per_shard]
        return values

    order = np.random.default_rng(seed).permutation(data.sizes["orbit"])
    for start in range(0, len(order), batch):
        yield {name: rows_of(name, order[start : start + batch]) for name in names}


def _mapped(folder: Path, data: xr.Dataset, name: str, shard: int) -> np.ndarray:
    """One shard of an array: its file, checked against its checksum."""
    array, per_shard = data[name], data.attrs["shard_orbits"]
    _ = array[shard * per_shard : (shard + 1) * per_shard].values  # zarr compares the checksum
    file = folder / shard_file(name, variables(data.attrs["system"])[name], shard)
    shape = (min(per_shard, data.sizes["orbit"]), *array.shape[1:])
    return np.memmap(file, dtype=array.dtype.newbyteorder("<"), mode="r", shape=shape)
