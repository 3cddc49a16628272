"""Datasets of orbits: written shard by shard, and opened; `orbits.schema` says what one is."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
import zarr

from orbits.files import sha256_of_json
from orbits.schema import (
    TIME,
    Layout,
    array_problems,
    attribute_problem,
    require_format,
    shard_file,
    variables,
)
from orbits.storage import MANIFEST, Manifest, Place

MOST_SHOWN = 5
"""Shards that a message names."""


def create(place: Place, layout: Layout) -> Manifest:
    """Lay out an empty dataset, of which no shard is finished."""
    from zarr.codecs import Crc32cCodec

    place.remove(MANIFEST)
    document = {"zarr_format": 3, "node_type": "group", "attributes": layout.attributes}
    place.write_json("zarr.json", document)
    group = place.group()
    sizes = layout.sizes
    for name, variable in {**variables(layout.system), "time": TIME}.items():
        shape = tuple(sizes[dim] for dim in variable.dims)
        first = min(layout.shard_orbits, shape[0]) if name != "time" else shape[0]
        group.create_array(
            name,
            shape=shape,
            dtype=variable.dtype or layout.dtype,
            chunks=(first, *shape[1:]),
            compressors=Crc32cCodec(),  # the mantissas of trajectories are noise to a compressor
            fill_value=-1 if variable.dtype == "int16" else float("nan"),
            dimension_names=variable.dims,
            attributes=variable.attributes,
            overwrite=True,
        )
    times = group["time"]
    assert isinstance(times, zarr.Array)
    times[:] = layout.times
    arrays = sorted([*variables(layout.system), "time"])
    document["consolidated_metadata"] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": {name: place.read_json(f"{name}/zarr.json") for name in arrays},
    }
    place.write_json("zarr.json", document)
    files = ["zarr.json", "time/c/0", *(f"{name}/zarr.json" for name in arrays)]
    manifest = Manifest(
        layout.described["configuration_sha256"],
        {name: place.checksum(name) or 0 for name in files},
    )
    manifest.write(place)
    return manifest


def begin(place: Place, layout: Layout) -> Manifest:
    """The manifest of what a place holds of a dataset, laid out if it is not; nothing else stays.

    Shards that are damaged or were left half-written are removed.

    Raises:
        ValueError: if the place holds anything else.
    """
    manifest = Manifest.read(place) if begun(place, layout.described["configuration"]) else None
    place.remove_partial_files()
    if manifest is None:
        return create(place, layout)
    damaged = unfinished_shards(place, layout.attributes, manifest, read=True)
    for shard in damaged:
        manifest.shards.pop(shard, None)
        for name, variable in variables(layout.system).items():
            place.remove(shard_file(name, variable, shard))
    manifest.complete = manifest.complete and not damaged
    return manifest


def write_whole(place: Place, layout: Layout, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a dataset whose arrays are all in memory, or leave one that is there as it is.

    Args:
        place: where; empty, or with this very dataset or its beginning.
        layout: sizes and attributes.
        arrays: every variable of the format.

    Raises:
        ValueError: if the place holds anything else, another process writes there, or a state is
            not finite: then nothing is written.
    """
    begun(place, layout.described["configuration"])
    require_finite(0, arrays)
    with place.alone():
        manifest = begin(place, layout)
        for shard in sorted(set(range(layout.shards)) - set(manifest.shards)):
            rows = layout.orbits_of(shard)
            write_shard(place, shard, {name: values[rows] for name, values in arrays.items()})
            manifest.shards[shard] = {}
        if not manifest.complete:
            finish(place, manifest, {})


def begun(place: Place, identity: Mapping[str, Any]) -> bool:
    """Whether a place holds this very dataset, or the beginning of it.

    Args:
        place: where it would be.
        identity: the configuration that decides every bit.

    Raises:
        ValueError: if the place holds anything else (says what differs).
    """
    if place.is_empty():
        return False
    advice = "choose another path, or remove it"
    if place.read_json("zarr.json") is None:
        raise ValueError(f"{place} exists and is not a dataset; {advice}.")
    attributes = read_attributes(place)
    if attributes.get("configuration_sha256") == sha256_of_json(identity):
        return True
    theirs = attributes.get("configuration", {})
    theirs = theirs if isinstance(theirs, dict) else {}
    ours = json.loads(json.dumps(identity))
    differing = [
        f"{key} {theirs.get(key)!s:.60} there, {value} here"
        for key, value in ours.items()
        if theirs.get(key) != value
    ]
    raise ValueError(
        f"{place} holds another dataset ({'; '.join(differing) or 'of another kind'}); {advice}."
    )


def write_shard(place: Place, shard: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Write one shard's arrays into a dataset that was laid out; nobody else writes that shard."""
    require_finite(shard, arrays)
    with zarr.config.set({"array.write_empty_chunks": True}):  # arcs have no elements: all NaN
        group = place.group()
        first = shard * int(group.attrs["shard_orbits"])  # type: ignore[arg-type]
        for name, values in arrays.items():
            array = group[name]
            assert isinstance(array, zarr.Array)
            array[first : first + len(values)] = values


def unfinished_shards(
    place: Place, attributes: Mapping[str, Any], manifest: Manifest, read: bool = False
) -> list[int]:
    """Numbers of the shards that are not finished, or of which a file is missing.

    Args:
        place: the dataset.
        attributes: its attributes, which have no problems.
        manifest: what is finished of it.
        read: read every file and compare it with its checksum.
    """
    held = variables(attributes["system"])
    group = place.group("r")

    def is_whole(shard: int) -> bool:
        rows = slice(shard * attributes["shard_orbits"], (shard + 1) * attributes["shard_orbits"])
        for name, variable in held.items():
            if not place.is_file(shard_file(name, variable, shard)):
                return False
            try:
                _ = group[name][rows] if read else None  # type: ignore[index]
            except (ValueError, OSError):
                return False
        return True

    return [
        shard
        for shard in range(attributes["shards"])
        if shard not in manifest.shards or not is_whole(shard)
    ]


def require_finite(shard: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse a shard whose states or masses are not finite; masses may be unknown altogether.

    Raises:
        ValueError: names the variable.
    """
    for name in ("position", "velocity", "gm", "mass"):
        if name in ("gm", "mass") and name in arrays and np.all(np.isnan(arrays[name])):
            continue
        if name in arrays and not np.all(np.isfinite(arrays[name])):
            raise ValueError(f"shard {shard}: {name} is not finite; nothing of it was kept.")


def finish(place: Place, manifest: Manifest, attributes: Mapping[str, Any]) -> None:
    """Declare a dataset complete, with what was measured on the way.

    An interrupted dataset ends with the same bytes.
    """
    manifest.shards = dict(sorted(manifest.shards.items()))
    manifest.attributes, manifest.complete = dict(attributes), True
    manifest.write(place)


def in_memory(
    layout: Layout, shards: Sequence[Mapping[str, np.ndarray]], attributes: Mapping[str, Any]
) -> xr.Dataset:
    """The dataset that writing these shards and opening it would give, bit for bit.

    Args:
        layout: sizes and attributes.
        shards: every variable, shard by shard.
        attributes: what was measured on the way, as for `finish`.
    """
    for shard, arrays in enumerate(shards):
        require_finite(shard, arrays)
    held = {}
    for name, variable in variables(layout.system).items():
        dtype = np.dtype(variable.dtype or layout.dtype)
        values = np.concatenate([arrays[name] for arrays in shards], dtype=dtype)
        held[name] = variable.dims, values, variable.attributes
    described = {**layout.attributes, **attributes, "complete": True}
    return _with_names(
        xr.Dataset(
            held,
            coords={"time": (("time",), layout.times, TIME.attributes)},
            attrs=json.loads(json.dumps(described)),
        )
    )


def as_dataset(data: xr.Dataset | str | os.PathLike[str]) -> xr.Dataset:
    """The dataset itself, or the one at a path.

    Raises:
        ValueError: if it is neither, or as `open_dataset` does.
    """
    if isinstance(data, xr.Dataset):
        return data
    if isinstance(data, (str, os.PathLike)):
        return open_dataset(data)
    raise ValueError(
        f"data is {type(data).__name__}; a dataset of orbits is needed, or the path of one."
    )


def open_dataset(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a complete dataset, lazily.

    Args:
        path: a local folder or an fsspec address.

    Returns:
        The variables of the format, read as they are indexed; `.attrs` as the module says. Reading
        a chunk that was changed after it was written raises a ValueError.

    Raises:
        ValueError: if it is missing, of another schema, unfinished, changed or cut short (says
            which).
    """
    place = Place(path)
    attributes = read_attributes(place)
    problem = attribute_problem(attributes)
    if problem:
        raise ValueError(f"{place} cannot be read: {problem}; make it again.")
    manifest = require_complete(place, attributes)
    try:
        store = place.store(read_only=True)
        dataset = xr.open_zarr(store, consolidated=True, chunks=None)
    except Exception as error:  # metadata that are not as zarr and xarray expect raise anything
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{place} cannot be read ({first:.200}); make it again.") from None
    dataset.attrs |= {**manifest.attributes, "complete": True}
    problems = array_problems(dataset)
    if problems:
        raise ValueError(f"{place} cannot be read: {problems[0]}; make it again.")
    return _with_names(dataset)


def require_complete(place: Place, attributes: Mapping[str, Any]) -> Manifest:
    """The manifest of a complete dataset, all of whose files are there.

    Raises:
        ValueError: if it is unfinished, cut short, or its metadata were changed.
    """
    again = "run the command that made it again"
    manifest = Manifest.read(place)
    if manifest is None:
        raise ValueError(f"{place} is unfinished, or its metadata were changed; {again}.")
    missing = unfinished_shards(place, attributes, manifest)
    if missing or not manifest.complete:
        which = ", ".join(map(str, missing[:MOST_SHOWN])) + "..." * (len(missing) > MOST_SHOWN)
        raise ValueError(
            f"{place} is cut short: {len(missing)} of {attributes['shards']} shards are missing"
            f"{f' ({which})' if which else ''}; {again}."
        )
    return manifest


def _with_names(dataset: xr.Dataset) -> xr.Dataset:
    """The same with the bodies' names as a coordinate, where they have any."""
    if "bodies" not in dataset.attrs:
        return dataset
    names = np.asarray(dataset.attrs["bodies"])
    if dataset.attrs["system"] == "planets":
        index = dataset["body"].values
        if index.min() < 0 or index.max() >= len(names):
            raise ValueError(f"body is {index.min()} to {index.max()} for {len(names)} bodies.")
        return dataset.assign_coords(body_name=("orbit", names[dataset["body"].values]))
    return dataset.assign_coords(body_name=("body", names))


def read_attributes(place: Place) -> dict[str, Any]:
    """A dataset's attributes, whether or not it is complete.

    Raises:
        ValueError: if there is no dataset, or one of another schema.
    """
    described = place.read_json("zarr.json")
    if described is None:
        what = "is not a dataset of orbits" if place.exists() else "does not exist"
        raise ValueError(f"{place} {what}; `orbits generate` makes one.")
    attributes = described.get("attributes") if isinstance(described, dict) else None
    require_format(attributes, str(place))
    assert isinstance(attributes, dict)
    return attributes
