"""Datasets of orbits on disk: written shard by shard, and opened.

`orbits.dataset.schema` says what one is. Every chunk carries a CRC-32C that zarr writes and checks.
`.manifest.json` is whole or absent, carries its own checksum, and says which shards are finished,
with the checksum of each, and what `zarr.json` must be: a shard that it does not name, or of other
bytes, does not exist.
"""

import json
import os
import zlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr
import zarr
from zarr.codecs import Crc32cCodec

from orbits.dataset.schema import (
    TIME,
    Layout,
    array_problems,
    attribute_problem,
    problem_in_memory,
    require_format,
    shard_file,
    variables,
)
from orbits.files import (
    as_json,
    held,
    json_of,
    of_json,
    read_sealed,
    require_input,
    require_output,
    sha256_of_json,
    write_json,
    write_sealed,
)
from orbits.memory import out_of_resources
from orbits.options import checked

Data = xr.Dataset | str | os.PathLike[str]
"""A dataset, or its path."""
MANIFEST = ".manifest.json"


@dataclass
class Manifest:
    """Finished parts of a dataset."""

    configuration_sha256: str
    """Of the configuration that fixes every bit."""
    metadata: dict[str, int]
    """CRC-32 of every `zarr.json`, and of the times."""
    shards: dict[int, dict[str, Any]] = field(default_factory=dict)
    """Of every finished shard the checksum, and measured errors and drifts where there are any."""
    attributes: dict[str, Any] = field(default_factory=dict)
    """Attributes of the dataset that are known once it is complete."""
    complete: bool = False

    @classmethod
    def read(cls, path: Path) -> "Manifest | None":
        """The one in a folder; None if missing, or if it or a `zarr.json` was changed."""
        try:
            manifest = of_json(cls, read_sealed(path / MANIFEST), MANIFEST)
        except (ValueError, OSError) as error:
            if out_of_resources(error):
                raise
            return None
        files = {path / name: crc for name, crc in manifest.metadata.items()}
        sound = all(f.is_file() and zlib.crc32(f.read_bytes()) == crc for f, crc in files.items())
        return manifest if sound else None

    def write(self, path: Path) -> None:
        """Write it, whole or not at all."""
        write_sealed(path / MANIFEST, as_json(self))


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder of a dataset.

    Raises:
        ValueError: for anything but a path, or for a network address.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f"{path!r} is no path; give a folder.")
    if not str(path):
        raise ValueError("the path of the data set is empty; give a folder.")
    if "://" in str(path):
        raise ValueError(f"{path} is an address; give a folder on a disk, mounted if need be.")
    return Path(path)


def _group(path: Path, mode: Literal["r", "r+"]) -> zarr.Group:
    return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)


def _document(path: Path) -> Any:
    """Contents of a folder's `zarr.json`; None if it is missing or incomplete."""
    try:
        return json_of(require_input(path / "zarr.json").read_bytes())
    except (OSError, ValueError) as error:
        if out_of_resources(error):
            raise
        return None


def create(path: Path, layout: Layout) -> Manifest:
    """Lay out an empty dataset, with no shard finished."""
    (path / MANIFEST).unlink(missing_ok=True)
    document = {"zarr_format": 3, "node_type": "group", "attributes": layout.attributes}
    write_json(path / "zarr.json", document)
    group = _group(path, "r+")
    arrays = {**variables(layout.system), "time": TIME}
    for name, variable in arrays.items():
        shape = layout.shape_of(variable)
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
    group["time"][:] = layout.times  # type: ignore[index]
    document["consolidated_metadata"] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": {name: _document(path / name) for name in arrays},
    }
    write_json(path / "zarr.json", document)
    files = ["zarr.json", "time/c/0", *(f"{name}/zarr.json" for name in arrays)]
    manifest = Manifest(
        layout.described["configuration_sha256"],
        {name: zlib.crc32((path / name).read_bytes()) for name in files},
    )
    manifest.write(path)
    return manifest


def begin(path: Path, layout: Layout) -> Manifest:
    """The manifest of a dataset in a folder, laid out if need be; nothing else stays.

    Damaged or half-written shards are removed.

    Raises:
        ValueError: if the folder holds anything else.
    """
    manifest = Manifest.read(path) if begun(path, layout.described["configuration"]) else None
    for left in path.rglob("*.partial"):
        left.unlink(missing_ok=True)
    if manifest is None:
        return create(path, layout)
    damaged = unfinished_shards(path, layout.attributes, manifest, read=True)
    for shard in damaged:
        manifest.shards.pop(shard, None)
        for name, variable in variables(layout.system).items():
            (path / shard_file(name, variable, shard)).unlink(missing_ok=True)
    manifest.complete = manifest.complete and not damaged
    return manifest


def alone(path: Path) -> AbstractContextManager[None]:
    """Keep other writers out of a folder while a block runs; ValueError if there is one."""
    message = f"{path} is being written by another process; wait for it, or choose another path."
    return held(path, message)


def deliver(
    out: str | os.PathLike[str] | None, layout: Layout, arrays: Mapping[str, np.ndarray]
) -> xr.Dataset:
    """A dataset from arrays in memory: written to a folder and opened, or as it is.

    Variables of the format that are not given are NaN.

    Raises:
        ValueError: if the folder holds another dataset or anything else, another process writes
            there, or a state is not finite: then nothing is written.
    """
    arrays = {
        name: arrays[name] if name in arrays else np.full(layout.shape_of(variable), np.nan)
        for name, variable in variables(layout.system).items()
    }
    if out is None:
        return in_memory(layout, [arrays], {})
    path = folder_of(out)
    begun(path, layout.described["configuration"])
    require_finite(0, arrays)
    with alone(path):
        manifest = begin(path, layout)
        for shard in sorted(set(range(layout.shards)) - set(manifest.shards)):
            rows = layout.orbits_of(shard)
            some = {name: values[rows] for name, values in arrays.items()}
            manifest.shards[shard] = write_shard(path, shard, some)
        if not manifest.complete:
            finish(path, manifest, {})
    return open_dataset(path)


def begun(path: Path, identity: Mapping[str, Any]) -> bool:
    """Whether a folder holds this very dataset, or its beginning: one of this configuration.

    Raises:
        ValueError: if there is anything else (says what differs).
    """
    require_output(path)
    advice = "choose another path, or remove it"
    hidden_alone = path.is_dir() and all(p.name.startswith(".") for p in path.iterdir())
    if hidden_alone or not path.exists():
        return False
    if _document(path) is None:
        raise ValueError(f"{path} exists and is not a dataset; {advice}.")
    attributes = read_attributes(path)
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
        f"{path} holds another dataset ({'; '.join(differing) or 'of another kind'}); {advice}."
    )


def write_shard(path: Path, shard: int, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Write one shard's arrays into a dataset already laid out; nobody else writes that shard.

    Returns:
        Its checksum, for the manifest: a shard of another dataset would fit in its place.
    """
    require_finite(shard, arrays)
    with zarr.config.set({"array.write_empty_chunks": True}):  # arcs have no elements: all NaN
        group = _group(path, "r+")
        first = shard * int(group.attrs["shard_orbits"])  # type: ignore[arg-type]
        try:
            for name, values in arrays.items():
                group[name][first : first + len(values)] = values  # type: ignore[index]
        except OSError as error:  # zarr does not say where the disk was full
            error.filename = error.filename or str(path)
            raise
    return {"crc32": _checksum(path, str(group.attrs["system"]), shard)}


def _checksum(path: Path, system: str, shard: int) -> int:
    """CRC-32 of a shard's files, one after the other."""
    crc = 0
    for name, variable in variables(system).items():
        file = require_input(path / shard_file(name, variable, shard))  # a pipe would never end
        crc = zlib.crc32(file.read_bytes(), crc)
    return crc


def unfinished_shards(
    path: Path, attributes: Mapping[str, Any], manifest: Manifest, read: bool = False
) -> list[int]:
    """Numbers of the shards that are unfinished or lack a file.

    With `read`, every file is read and compared with the manifest's checksum. The attributes are
    already checked.
    """
    system, shards = attributes["system"], range(attributes["shards"])
    parts = variables(system)

    def is_whole(shard: int) -> bool:
        if not read:
            files = (path / shard_file(name, part, shard) for name, part in parts.items())
            return all(file.is_file() for file in files)
        try:
            return _checksum(path, system, shard) == manifest.shards[shard].get("crc32")
        except (OSError, ValueError) as error:
            if out_of_resources(error):
                raise
            return False

    return [shard for shard in shards if shard not in manifest.shards or not is_whole(shard)]


def require_finite(shard: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse a shard with states or masses that are not finite; all masses may be unknown.

    Raises:
        ValueError: names the variable.
    """
    for name in ("position", "velocity", "gm", "mass"):
        if name in ("gm", "mass") and name in arrays and np.all(np.isnan(arrays[name])):
            continue
        most = 1e38 if name in ("position", "velocity") else np.inf  # of float32
        if name in arrays and not np.all(np.abs(arrays[name]) < most):
            raise ValueError(
                f"shard {shard}: {name} is not finite, or above {most:g}; nothing of it was kept."
            )


def finish(path: Path, manifest: Manifest, attributes: Mapping[str, Any]) -> None:
    """Declare a dataset complete; one that was interrupted ends with the same bytes."""
    manifest.shards = dict(sorted(manifest.shards.items()))
    manifest.attributes, manifest.complete = dict(attributes), True
    manifest.write(path)


def in_memory(
    layout: Layout, shards: Sequence[Mapping[str, np.ndarray]], attributes: Mapping[str, Any]
) -> xr.Dataset:
    """The dataset that writing these shards and opening it would give, bit for bit."""
    for shard, arrays in enumerate(shards):
        require_finite(shard, arrays)
    arrays_of = {}
    for name, variable in variables(layout.system).items():
        dtype = np.dtype(variable.dtype or layout.dtype)
        values = np.concatenate([arrays[name] for arrays in shards], dtype=dtype)
        arrays_of[name] = variable.dims, values, variable.attributes
    described = {**layout.attributes, **attributes, "complete": True}
    return _with_names(
        xr.Dataset(
            arrays_of,
            coords={"time": (("time",), layout.times, TIME.attributes)},
            attrs=json.loads(json.dumps(described)),
        )
    )


def as_dataset(data: Data) -> xr.Dataset:
    """The dataset itself, or the one at a path.

    Raises:
        ValueError: if it is neither, has no positions, velocities or step, or as `open_dataset`
            does.
    """
    if isinstance(data, xr.Dataset):
        problem = problem_in_memory(data)
        if problem:
            where = data.encoding.get("source", "the dataset in memory")
            raise ValueError(
                f"{where} {problem}; give one as `orbits.open_dataset` or `orbits.from_arrays` "
                "does."
            )
        return data
    if isinstance(data, (str, os.PathLike)):
        return open_dataset(data)
    raise ValueError(
        f"data is {type(data).__name__}; a dataset of orbits is needed, or the path of one."
    )


@checked
def open_dataset(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a complete dataset, lazily.

    Args:
        path: its folder.

    Returns:
        The variables of the format, read as they are indexed; `.attrs` as `orbits.dataset.schema`
        says. Reading a chunk that was changed after it was written raises a ValueError.

    Raises:
        ValueError: if missing, of another schema, unfinished, changed or cut short (says which).
    """
    folder = folder_of(path)
    attributes = read_attributes(folder)
    again = "run the command that made it again"
    manifest = Manifest.read(folder)
    if manifest is None:
        raise ValueError(f"{folder} is unfinished, or its metadata were changed; {again}.")
    problem = attribute_problem({**attributes, **manifest.attributes})
    if problem:
        raise ValueError(f"{folder} is damaged: {problem}; {again}.")
    missing = unfinished_shards(folder, attributes, manifest)
    if missing or not manifest.complete:
        which = ", ".join(map(str, missing[:5])) + "..." * (len(missing) > 5)
        raise ValueError(
            f"{folder} is cut short: {len(missing)} of {attributes['shards']} shards are missing"
            f"{f' ({which})' if which else ''}; {again}."
        )
    dataset = open_arrays(folder)
    if problems := array_problems(dataset):
        raise ValueError(f"{folder} is damaged: {problems[0]}; {again}.")
    dataset.attrs |= {**manifest.attributes, "complete": True}
    return _with_names(dataset)


def open_arrays(path: Path) -> xr.Dataset:
    """The arrays and attributes in a folder, complete or not.

    Raises:
        ValueError: if the metadata of an array are none.
    """
    try:
        return xr.open_zarr(path, consolidated=True, chunks=None)
    except Exception as error:  # damaged metadata make zarr and xarray raise anything
        if out_of_resources(error):
            raise
        what = f"{str(error) or type(error).__name__:.200}"
        raise ValueError(f"{path} is damaged: its metadata cannot be read ({what}).") from None


def _with_names(dataset: xr.Dataset) -> xr.Dataset:
    """The same with the bodies' names, if any, as a coordinate."""
    if "bodies" not in dataset.attrs:
        return dataset
    names = np.asarray(dataset.attrs["bodies"])
    if dataset.attrs["system"] == "planets":
        index = dataset["body"].values
        if index.min() < 0 or index.max() >= len(names):
            raise ValueError(f"body is {index.min()} to {index.max()} for {len(names)} bodies.")
        return dataset.assign_coords(body_name=("orbit", names[dataset["body"].values]))
    return dataset.assign_coords(body_name=("body", names))


def read_attributes(path: Path) -> dict[str, Any]:
    """A dataset's attributes, complete or not.

    Raises:
        ValueError: if there is no dataset, or one of another schema.
    """
    described = _document(path)
    if described is None:
        what = "is not a dataset of orbits" if path.exists() else "does not exist"
        raise ValueError(f"{path} {what}; `orbits generate` makes one.")
    attributes = described.get("attributes") if isinstance(described, dict) else None
    return require_format(attributes, str(path))
