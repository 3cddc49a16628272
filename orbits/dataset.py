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
`shards` (their number), `shard_orbits`; once it is opened also `complete` and, of what was
generated, `integration`: the measured error and drifts. Arrays are cut along `orbit` into shards,
a chunk each, with zarr's CRC-32C; the fill value is NaN. `orbits.storage` says which are finished.
"""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import xarray as xr
import zarr

from orbits.files import of_json, sha256_of_json
from orbits.forces import known_law
from orbits.options import Above, Between
from orbits.storage import MANIFEST, Manifest, Place
from orbits.units import UNITS

FORMAT = "principia-orbits"
FORMAT_VERSION = 2
SYSTEMS = ("relative", "barycentric", "nbody", "planets")
MOST_SHARDS = 1_000_000
"""Shards of a dataset: a billion orbits."""
MOST_SHOWN = 5
"""Shards that a message names."""
ROUNDED_TO = 16
"""Orbits of a shard are a multiple of these."""
SHARD_ORBITS = 1024


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


TIME = Variable(("time",), "yr", "time since the first state")
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
    """Orbits per shard: 1024, or `wanted` rounded up to a multiple of 16.

    Where orbits are slow to make, small datasets are cut into at least eight shards, so that
    several processes share them and an interruption loses little; where they are fast, writing a
    shard costs as much as making a thousand orbits, and more shards would only cost time. No
    number of workers enters, so that none changes a bit.

    Args:
        orbits: of the dataset.
        wanted: what the user asked for; 0 leaves the choice here.
        slow: whether an orbit takes milliseconds rather than microseconds.
    """
    most = max(ROUNDED_TO, orbits // 8) if slow else SHARD_ORBITS
    size = wanted or min(SHARD_ORBITS, most)
    return math.ceil(min(size, orbits) / ROUNDED_TO) * ROUNDED_TO


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
        """The attributes of the format."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "system": self.system,
            "dt": self.dt,
            "dtype": self.dtype,
            "units": UNITS,
            "shard_orbits": self.shard_orbits,
            "shards": self.shards,
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


@dataclass(frozen=True)
class Attributes:
    """The attributes that every dataset has, with their types."""

    system: Literal["relative", "barycentric", "nbody", "planets"]
    law: str
    dt: Annotated[float, Above(0)]
    dtype: Literal["float32", "float64"]
    units: dict[str, str]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    shards: Annotated[int, Between(1, MOST_SHARDS)]
    shard_orbits: Annotated[int, Above(0)]
    git_commit: str | None = None
    sampling: str | None = None
    frame: str | None = None
    centre: str | None = None
    gm_is: str | None = None
    bodies: list[str] = field(default_factory=list)
    integration: dict[str, str | int | float] = field(default_factory=dict)


def require_format(attributes: Any, name: str) -> None:
    """Refuse attributes that are of no dataset of orbits.

    Args:
        attributes: of the dataset.
        name: of the dataset, for the message.

    Raises:
        ValueError: says what they are instead.
    """
    attributes = attributes if isinstance(attributes, Mapping) else {}
    for what, wanted in (("format", FORMAT), ("format_version", FORMAT_VERSION)):
        if attributes.get(what) != wanted:
            raise ValueError(
                f"{name} has the {what} {attributes.get(what)!r:.40}, not {wanted!r}; "
                "`orbits generate` makes such a dataset."
            )


def attribute_problem(attributes: Mapping[str, Any]) -> str | None:
    """What is wrong with the attributes of a dataset of the right format, if anything is."""
    try:
        typed = of_json(Attributes, dict(attributes), "an attribute")
        known_law(typed.law)
    except ValueError as error:
        return str(error).removesuffix(".")
    if typed.units != UNITS:
        return f"the units are {typed.units!r:.80}, not {UNITS}"
    if not math.isfinite(typed.dt):
        return f"dt is {typed.dt}; it must be finite"
    if typed.configuration_sha256 != sha256_of_json(typed.configuration):
        return "the configuration is not the one that was fingerprinted"
    if typed.system == "planets" and not typed.bodies:
        return "the attribute bodies is missing"
    return None


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
    if manifest is None:
        return create(place, layout)
    place.remove_partial_files()
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
        ValueError: if the place holds anything else, or another process writes there.
    """
    begun(place, layout.described["configuration"])
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


def shard_file(name: str, variable: Variable, shard: int) -> str:
    """Where a shard of an array lies."""
    return "/".join([name, "c", str(shard), *("0" * (len(variable.dims) - 1))])


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
    return attributes
