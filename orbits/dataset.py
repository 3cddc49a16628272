"""Datasets of orbits: the written format, and opening it.

A dataset is a Zarr v3 group. Dimensions: `orbit`, `time`, `body` (systems with several visible
bodies), `axis`. Variables:

- `position`, `velocity` (orbit, time[, body], axis), au and au/yr, float32 or float64;
- `time` (time,), yr, float64: exactly k*dt;
- `gm` (orbit,), au^3/yr^2, float64: the parameter of the relative motion;
- `semi_major_axis`, `eccentricity` (orbit,): of the apsides, NaN where an orbit has none;
- what else the system has (`variables` below).

Where the law is not known (`law` is `unknown`), `gm`, `mass` and the elements are NaN throughout.

Attributes: `format`, `format_version`, `system`, `law` (as `orbits.forces.known_law` reads it),
`dt` (yr), `dtype`, `units`, `configuration`, `configuration_sha256`, `versions`, `git_commit`,
`shards` (their number), `shard_orbits`, `complete`, and once complete `integration`: the measured
error and drifts, and `document_sha256`, which vouches for `zarr.json`.
`.markers/shard-00000.json` vouches for one shard: its files with their sizes and SHA-256, its
seed, the configuration's hash, the measured error. A shard without a marker does not exist, and a
file that is not what its marker says is refused when it is read. Arrays are chunked by 16 orbits,
or all where there are fewer, in shards; the fill value is NaN.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
import zarr
import zarr.errors

from orbits.records.attributes import (
    FINGERPRINT,
    FORMAT,
    FORMAT_VERSION,
    attribute_problems,
    require_format,
)
from orbits.records.checksums import CheckedStore, Checksums
from orbits.records.files import sha256_of_json
from orbits.records.places import Place
from orbits.records.shard_markers import (
    ShardFile,
    ShardMarker,
    checksums_of,
    marker_name,
    read_marker,
    shard_file,
)
from orbits.records.typed import as_json
from orbits.units import UNITS

CHUNK_ORBITS = 16
SHARD_ORBITS = 1024

MAY_DIFFER = ("complete", "versions", "git_commit", "integration")
"""Attributes of a layout that a dataset begun earlier may have otherwise."""

TIME_ATTRIBUTES: dict[str, Any] = {"units": "yr", "long_name": "time since the first state"}


@dataclass(frozen=True)
class Variable:
    """One array of the format."""

    dims: tuple[str, ...]
    """Names of its dimensions."""
    unit: str
    """Its unit."""
    what: str
    """One line that says what it is."""
    dtype: str | None = "float64"
    """Its type; None takes the dataset's own."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes in a dataset."""
        return {"units": self.unit, "long_name": self.what}


TIME = Variable(("time",), "yr", "time")
"""The coordinate that every system has."""


def variables(system: str) -> dict[str, Variable]:
    """The arrays by orbit that a system's datasets hold."""
    several = system in ("barycentric", "nbody")
    states = ("orbit", "time", "body", "axis") if several else ("orbit", "time", "axis")
    held = {
        "position": Variable(states, "au", "position", None),
        "velocity": Variable(states, "au/yr", "velocity", None),
        "gm": Variable(("orbit",), "au^3/yr^2", "gravitational parameter of the relative motion"),
    }
    if several:
        held["mass"] = Variable(("orbit", "body"), "M_sun", "mass")
    if system in ("relative", "barycentric"):
        held["semi_major_axis"] = Variable(("orbit",), "au", "half the sum of both apsides")
        held["eccentricity"] = Variable(("orbit",), "1", "apsides' difference over their sum")
    if system == "nbody":
        own = ("orbit", "planet")
        held["semi_major_axis"] = Variable(own, "au", "of the first orbit around the star")
        held["eccentricity"] = Variable(own, "1", "of the first orbit around the star")
    if system == "planets":
        held["body"] = Variable(("orbit",), "1", "index into the attribute `bodies`", "int16")
        held["epoch"] = Variable(("orbit",), "d", "Julian date (TDB) of the first state")
    return held


def shard_orbits(orbits: int, wanted: int = 0, slow: bool = False) -> int:
    """Orbits per shard: 1024, or `wanted` rounded up to whole chunks.

    Where orbits are slow to make, small datasets are cut into at least eight shards, so that
    several processes share them and an interruption loses little; where they are fast, writing a
    shard costs as much as making a thousand orbits, and more shards would only cost time. No
    number of workers enters, so that none changes a bit.

    Args:
        orbits: of the dataset.
        wanted: what the user asked for; 0 leaves the choice here.
        slow: whether an orbit takes milliseconds rather than microseconds.
    """
    most = max(CHUNK_ORBITS, orbits // 8) if slow else SHARD_ORBITS
    size = wanted or min(SHARD_ORBITS, most)
    return math.ceil(min(size, orbits) / CHUNK_ORBITS) * CHUNK_ORBITS


@dataclass(frozen=True)
class Layout:
    """What a dataset is before it holds an orbit: its sizes and its attributes."""

    system: str
    """One of `SYSTEMS`."""
    sizes: Mapping[str, int]
    """Length of every dimension."""
    dt: float
    """Time between states, yr."""
    described: Mapping[str, Any]
    """`law`, provenance and any other attributes."""
    dtype: str = "float32"
    """Of position and velocity."""
    shard_orbits: int = SHARD_ORBITS
    """Orbits per shard, a multiple of 16."""

    @property
    def shards(self) -> int:
        """Number of shards."""
        return math.ceil(self.sizes["orbit"] / self.shard_orbits)

    @property
    def times(self) -> np.ndarray:
        """(time,) yr, exactly k*dt."""
        return np.arange(self.sizes["time"]) * self.dt

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes of the format, `complete` false."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "system": self.system,
            "dt": self.dt,
            "dtype": self.dtype,
            "units": UNITS,
            "shard_orbits": self.shard_orbits,
            "shards": self.shards,
            "complete": False,
            **self.described,
        }

    def orbits_of(self, shard: int) -> slice:
        """Rows of one shard."""
        first = shard * self.shard_orbits
        return slice(first, min(first + self.shard_orbits, self.sizes["orbit"]))

    @property
    def size_in_bytes(self) -> int:
        """Size of all arrays."""
        return sum(
            np.dtype(variable.dtype or self.dtype).itemsize
            * math.prod(self.sizes[dim] for dim in variable.dims)
            for variable in variables(self.system).values()
        )


def create(place: Place, layout: Layout) -> None:
    """Lay out an empty dataset: arrays of NaN, attributes with `complete` false.

    The group and its attributes come first, the times last: `is_laid_out` says whether an earlier
    attempt came to its end. One that did not is laid out again.
    """
    sizes, orbits_per_shard = layout.sizes, layout.shard_orbits
    chunk, stored = CHUNK_ORBITS, orbits_per_shard
    if sizes["orbit"] < CHUNK_ORBITS:  # a few long ones are not filled up with empty ones
        chunk = stored = sizes["orbit"]
    group = place.new_group(layout.attributes)
    for name, variable in variables(layout.system).items():
        shape = tuple(sizes[dim] for dim in variable.dims)
        is_state = "time" in variable.dims
        floating = variable.dtype != "int16"
        group.create_array(
            name,
            shape=shape,
            dtype=variable.dtype or layout.dtype,
            chunks=(chunk if is_state else orbits_per_shard, *shape[1:]),
            shards=(stored, *shape[1:]) if is_state else None,
            compressors=None,  # mantissas of trajectories are noise to a compressor
            fill_value=float("nan") if floating else -1,
            dimension_names=variable.dims,
            attributes=variable.attributes,
            overwrite=True,
        )
    times = group.create_array(
        "time",
        shape=(sizes["time"],),
        dtype="float64",
        fill_value=float("nan"),
        dimension_names=("time",),
        attributes=TIME_ATTRIBUTES,
        overwrite=True,
    )
    times[:] = layout.times


def write_whole(place: Place, layout: Layout, arrays: Mapping[str, np.ndarray]) -> None:
    """Write a dataset whose arrays are all in memory, or leave one that is there as it is.

    Args:
        place: where; empty, or with this very dataset or its beginning.
        layout: sizes and attributes.
        arrays: every variable of the format.

    Raises:
        ValueError: if the place holds anything else, or another process writes there.
    """
    identity = layout.described["configuration"]
    begun(place, identity)
    with place.alone():
        if begun(place, identity) and is_complete(place, checksums=True):
            return
        create(place, layout)
        marker = {"configuration_sha256": layout.described["configuration_sha256"]}
        for shard in range(layout.shards):
            place.remove(marker_name(shard))
            held = {name: values[layout.orbits_of(shard)] for name, values in arrays.items()}
            write_shard(place, shard, held, marker)
        finish(place, {})


def is_laid_out(place: Place, layout: Layout) -> bool:
    """Whether `create` has done all of its work here, and nothing has changed it since."""
    document = place.read_json("zarr.json")
    there = document.get("attributes") if isinstance(document, dict) else None
    if not isinstance(there, dict) or not fingerprint_fits(document):
        return False
    wanted = json.loads(json.dumps(layout.attributes))
    if any(there.get(name) != wanted[name] for name in wanted if name not in MAY_DIFFER):
        return False
    for name, variable in {**variables(layout.system), "time": TIME}.items():
        array = place.read_json(f"{name}/zarr.json")
        shape = [layout.sizes[dim] for dim in variable.dims]
        if not isinstance(array, dict) or array.get("shape") != shape:
            return False
    return place.size("time/c/0") is not None


def is_complete(place: Place, checksums: bool = False) -> bool:
    """Whether a dataset is complete, every shard vouched for; `checksums` as in `read_markers`."""
    attributes = read_attributes(place)
    return is_finished(place) and not missing_shards(place, attributes, checksums)


def is_finished(place: Place) -> bool:
    """Whether `finish` has done all of its work here, and nothing has changed it since."""
    document = place.read_json("zarr.json")
    attributes = document.get("attributes") if isinstance(document, dict) else None
    return (
        isinstance(attributes, dict)
        and attributes.get("complete") is True
        and "consolidated_metadata" in document
        and fingerprint_fits(document)
    )


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


def write_shard(
    place: Place, shard: int, arrays: Mapping[str, np.ndarray], marker: Mapping[str, Any]
) -> ShardMarker:
    """Write one shard's arrays, then vouch for them by its marker.

    Args:
        place: a dataset that `create` has laid out.
        shard: its number; nobody else writes it.
        arrays: every variable, its orbits only.
        marker: what the marker holds besides the files: `configuration_sha256`, `quality`.

    Returns:
        The marker.
    """
    require_finite(shard, arrays)
    with zarr.config.set({"array.write_empty_chunks": True}):  # arcs have no elements: all NaN
        group = place.group()
        members = {name: group[name] for name in arrays}
    # A worker that outlived a killed generator must not remove what its successor has finished.
    vouched = place.exists(marker_name(shard))
    files = {}
    per_shard = int(group.attrs["shard_orbits"])  # type: ignore[arg-type]
    first = shard * per_shard
    for name, values in arrays.items():
        array = members[name]
        assert isinstance(array, zarr.Array)
        file = shard_file(name, array.ndim, shard)
        if not vouched:  # zarr would read a torn shard before it writes over it
            place.remove(file)
        array[first : first + len(values)] = values
        files[file] = ShardFile(place.size(file) or 0, place.sha256(file))
    whole = ShardMarker(shard, len(arrays["position"]), files=files, **marker)
    place.write_json(marker_name(shard), as_json(whole))
    return whole


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


def finish(place: Place, attributes: Mapping[str, Any]) -> None:
    """Declare a dataset complete, with what was measured on the way.

    All metadata come into one file, written in one go, always in the same order: an interrupted
    dataset ends with the same bytes.
    """
    document = place.read_json("zarr.json")
    document["attributes"] |= {**attributes, "complete": True}
    names = [*variables(document["attributes"]["system"]), "time"]
    document["consolidated_metadata"] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": {name: place.read_json(f"{name}/zarr.json") for name in sorted(names)},
    }
    document["attributes"].pop(FINGERPRINT, None)
    document["attributes"][FINGERPRINT] = _fingerprint(document)
    place.write_json("zarr.json", document)


def fingerprint_fits(document: Mapping[str, Any]) -> bool:
    """Whether `zarr.json` is what `finish` wrote; datasets of before have no fingerprint."""
    found = document["attributes"].get(FINGERPRINT)
    return found is None or found == _fingerprint(document)


def _fingerprint(document: Mapping[str, Any]) -> str:
    attributes = {k: v for k, v in document["attributes"].items() if k != FINGERPRINT}
    return sha256_of_json({**document, "attributes": attributes})


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
            coords={"time": (("time",), layout.times, TIME_ATTRIBUTES)},
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


def relative_states(
    system: str, position: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities as seen from the attracting body.

    Of two visible bodies it is the first as seen from the second, x1 - x2: attraction points
    against it. Planets are seen from their star. What is one body around a centre is so already.

    Args:
        system: one of `SYSTEMS`, as the attribute of the dataset says.
        position: (orbit, time[, body], axis), au.
        velocity: of the same shape, au/yr.

    Returns:
        (orbit, time, axis) position and velocity; (orbit, time, planet, axis) of several planets.
    """
    if system == "barycentric":
        return position[:, :, 0] - position[:, :, 1], velocity[:, :, 0] - velocity[:, :, 1]
    if system == "nbody":
        return position[:, :, 1:] - position[:, :, :1], velocity[:, :, 1:] - velocity[:, :, :1]
    return position, velocity


def relative_shares(mass: np.ndarray) -> np.ndarray:
    """(orbit, body) share of each of two bodies in x1 - x2: (m2, -m1)/(m1 + m2).

    The barycentre is then at rest in the origin.

    Args:
        mass: (orbit, body), M_sun.
    """
    return np.stack([mass[:, 1], -mass[:, 0]], axis=1) / mass.sum(axis=1, keepdims=True)


def open_dataset(path: str | os.PathLike[str]) -> xr.Dataset:
    """Open a complete dataset, lazily.

    Its files are compared with their checksums before they are first read, once in a process:
    about 1 s for each GB of the shards that are used.

    Args:
        path: a local folder or an fsspec address.

    Returns:
        The variables of the format, read as they are indexed; `.attrs` as the module says. Reading
        a file that was changed after it was written raises a ValueError.

    Raises:
        ValueError: if it is missing, of another schema, unfinished, changed or cut short (says
            which).
    """
    place = Place(path)
    attributes = read_attributes(place)
    problems = attribute_problems(attributes)
    if problems:
        raise ValueError(f"{place} cannot be read: {problems[0]}; make it again.")
    store = CheckedStore(place.store(read_only=True), require_whole(place, attributes))
    try:
        dataset = xr.open_zarr(store, consolidated=True, chunks=None)
    except Exception as error:  # metadata that are not as zarr and xarray expect raise anything
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{place} cannot be read ({first:.200}); make it again.") from None
    dataset.attrs.pop(FINGERPRINT, None)
    problems = array_problems(dataset)
    if problems:
        raise ValueError(f"{place} cannot be read: {problems[0]}; make it again.")
    return _with_names(dataset)


def require_whole(place: Place, attributes: Mapping[str, Any]) -> Checksums:
    """The checksums of a complete dataset's files.

    Args:
        place: the dataset.
        attributes: its attributes, which have no problems.

    Raises:
        ValueError: if it is unfinished, cut short, or its metadata were changed.
    """
    markers = read_markers(place, attributes)
    missing = [shard for shard, marker in enumerate(markers) if marker is None]
    if missing or not attributes["complete"]:
        which = ", ".join(map(str, missing[:5])) + ("..." if len(missing) > 5 else "")
        raise ValueError(
            f"{place} is cut short: {len(missing)} of {attributes['shards']} shards are missing or "
            f"not whole{f' ({which})' if which else ''}; run the command that made it again."
        )
    if not is_finished(place):
        raise ValueError(f"{place}: zarr.json was changed after it was written; make it again.")
    advice = "`orbits validate` lists what is damaged, and the command that made it makes it again"
    return Checksums(place, checksums_of(m for m in markers if m is not None), advice)


def array_problems(dataset: xr.Dataset) -> list[str]:
    """What is wrong with the arrays of an opened dataset: names, dimensions, sizes, times."""
    a = dataset.attrs
    held = {**variables(a["system"]), "time": TIME}
    lacking = [name for name in held if name not in dataset.variables]
    if lacking:
        return [f"{', '.join(lacking)} is missing"]
    problems = []
    for name, variable in held.items():
        if dataset[name].dims != variable.dims:
            problems.append(f"{name} has the dimensions {dataset[name].dims}, not {variable.dims}")
        dtype = variable.dtype or a["dtype"]
        if str(dataset[name].dtype) != dtype:
            problems.append(f"{name} has the type {dataset[name].dtype}, not {dtype}")
    if problems:
        return problems
    orbits, times = dataset.sizes["orbit"], dataset["time"].values
    if math.ceil(orbits / a["shard_orbits"]) != a["shards"] or not orbits or len(times) < 2:
        return [
            f"{orbits} orbits of {len(times)} states do not fit {a['shards']} shards of "
            f"{a['shard_orbits']}"
        ]
    wrong = np.flatnonzero(times != np.arange(len(times)) * a["dt"])
    return [f"{len(wrong)} time(s) are not k*dt"] if len(wrong) else []


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
    return {name: value for name, value in attributes.items() if name != FINGERPRINT}


def missing_shards(
    place: Place, attributes: Mapping[str, Any], checksums: bool = False
) -> Sequence[int]:
    """Numbers of the shards that no marker vouches for."""
    markers = read_markers(place, attributes, checksums)
    return [shard for shard, marker in enumerate(markers) if marker is None]


def read_markers(
    place: Place, attributes: Mapping[str, Any], checksums: bool = False
) -> list[ShardMarker | None]:
    """The marker of every shard; None where it does not vouch for all of its files.

    Args:
        place: the dataset.
        attributes: its attributes, which have no problems.
        checksums: read the files and compare; otherwise only their sizes are.
    """
    dimensions = {name: len(v.dims) for name, v in variables(attributes["system"]).items()}
    fingerprint = attributes["configuration_sha256"]
    return [
        read_marker(place, shard, fingerprint, dimensions, checksums)
        for shard in range(attributes["shards"])
    ]
