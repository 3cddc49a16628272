"""Datasets of orbits: the written format, and opening it.

A dataset is a Zarr v3 group. Dimensions: `orbit`, `time`, `body` (systems with several visible
bodies), `axis`. Variables:

- `position`, `velocity` (orbit, time[, body], axis), au and au/yr, float32 or float64;
- `time` (time,), yr, float64: exactly k*dt;
- `gm` (orbit,), au^3/yr^2, float64: the parameter of the relative motion;
- `semi_major_axis`, `eccentricity` (orbit,): of the apsides, NaN where an orbit has none;
- what else the system has (`variables` below).

Attributes: `format`, `format_version`, `system`, `law` (as `orbits.forces.parse_law` reads it),
`dt` (yr), `dtype`, `units`, `configuration`, `configuration_sha256`, `versions`, `git_commit`,
`shards` (their number), `shard_orbits`, `complete`, and once complete `integration`: the measured
error and drifts. `.markers/shard-00000.json` vouches for one shard: its files with their sizes
and SHA-256, its seed, the configuration's hash, the measured error. A shard without a marker does
not exist. Arrays are chunked by 16 orbits in shards; the fill value is NaN.
"""

import json
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
import zarr
import zarr.errors

from orbits.records.files import sha256_of_json
from orbits.records.places import Place
from orbits.units import UNITS

FORMAT = "principia-orbits"
FORMAT_VERSION = 1
CHUNK_ORBITS = 16
SHARD_ORBITS = 1024
SYSTEMS = ("relative", "barycentric", "nbody", "planets")


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
    group = place.new_group(layout.attributes)
    for name, variable in variables(layout.system).items():
        shape = tuple(sizes[dim] for dim in variable.dims)
        is_state = "time" in variable.dims
        floating = variable.dtype != "int16"
        group.create_array(
            name,
            shape=shape,
            dtype=variable.dtype or layout.dtype,
            chunks=((CHUNK_ORBITS if is_state else orbits_per_shard), *shape[1:]),
            shards=(orbits_per_shard, *shape[1:]) if is_state else None,
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


def is_laid_out(place: Place) -> bool:
    """Whether `create` has done all of its work here."""
    return place.size("time/c/0") is not None


def is_complete(place: Place) -> bool:
    """Whether a dataset is complete, every shard vouched for."""
    attributes = read_attributes(place)
    return bool(attributes.get("complete")) and not missing_shards(place, attributes)


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
    ours = json.loads(json.dumps(identity))
    differing = [
        f"{key} {theirs.get(key)} there, {value} here"
        for key, value in ours.items()
        if theirs.get(key) != value
    ]
    raise ValueError(
        f"{place} holds another dataset ({'; '.join(differing) or 'of another kind'}); {advice}."
    )


def write_shard(
    place: Place, shard: int, arrays: Mapping[str, np.ndarray], marker: Mapping[str, Any]
) -> dict[str, Any]:
    """Write one shard's arrays, then vouch for them by its marker.

    Args:
        place: a dataset that `create` has laid out.
        shard: its number; nobody else writes it.
        arrays: every variable, its orbits only.
        marker: what the marker holds besides the files (seed, configuration hash, errors).

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
        file = "/".join([name, "c", str(shard), *("0" * (array.ndim - 1))])
        if not vouched:  # zarr would read a torn shard before it writes over it
            place.remove(file)
        array[first : first + len(values)] = values
        files[file] = {"bytes": place.size(file), "sha256": place.sha256(file)}
    whole = {"shard": shard, "orbits": len(arrays["position"]), "files": files, **marker}
    place.write_json(marker_name(shard), whole)
    return whole


def require_finite(shard: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuse a shard whose states or masses are not finite.

    Raises:
        ValueError: names the variable.
    """
    for name in ("position", "velocity", "gm", "mass"):
        if name in arrays and not np.all(np.isfinite(arrays[name])):
            raise ValueError(f"shard {shard}: {name} is not finite; nothing of it was kept.")


def marker_name(shard: int) -> str:
    """Where a shard's marker lies."""
    return f".markers/shard-{shard:05d}.json"


def read_marker(
    place: Place, shard: int, configuration_sha256: str, checksums: bool = False
) -> dict[str, Any] | None:
    """A shard's marker if it vouches for files that are really there, else None.

    Args:
        place: the dataset.
        shard: its number.
        configuration_sha256: of the configuration that the shard must belong to.
        checksums: read the files and compare; otherwise only their sizes are.
    """
    marker = place.read_json(marker_name(shard))
    if not marker or marker.get("configuration_sha256") != configuration_sha256:
        return None
    for name, file in marker["files"].items():
        if place.size(name) != file["bytes"]:
            return None
        if checksums and place.sha256(name) != file["sha256"]:
            return None
    return marker


def finish(place: Place, attributes: Mapping[str, Any]) -> None:
    """Declare a dataset complete, with what was measured on the way."""
    group = place.group()
    group.attrs.update({**attributes, "complete": True})
    with warnings.catch_warnings():  # zarr finds our markers, and its own feature, remarkable
        warnings.simplefilter("ignore", zarr.errors.ZarrUserWarning)
        zarr.consolidate_metadata(place.store())


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

    Args:
        path: a local folder or an fsspec address.

    Returns:
        The variables of the format, read as they are indexed; `.attrs` as the module says.

    Raises:
        ValueError: if it is missing, of another schema, unfinished or cut short (says which).
    """
    place = Place(path)
    attributes = read_attributes(place)
    missing = missing_shards(place, attributes)
    if missing or not attributes.get("complete"):
        shards = attributes["shards"]
        which = ", ".join(map(str, missing[:5])) + ("..." if len(missing) > 5 else "")
        raise ValueError(
            f"{place} is cut short: {len(missing)} of {shards} shards are missing or not whole"
            f"{f' ({which})' if which else ''}; run the command that made it again."
        )
    try:
        dataset = xr.open_zarr(place.store(read_only=True), consolidated=True, chunks=None)
    except (ValueError, KeyError, FileNotFoundError) as error:
        raise ValueError(f"{place} cannot be read ({error}); make it again.") from None
    held = variables(attributes["system"])
    lacking = [name for name in (*held, "time") if name not in dataset.variables]
    if lacking:
        raise ValueError(f"{place} lacks {', '.join(lacking)}; make it again.")
    for name, variable in held.items():
        if dataset[name].dims != variable.dims:
            raise ValueError(
                f"{place}: {name} has the dimensions {dataset[name].dims}, not {variable.dims}."
            )
    return _with_names(dataset)


def _with_names(dataset: xr.Dataset) -> xr.Dataset:
    """The same with the bodies' names as a coordinate, where they have any."""
    if "bodies" not in dataset.attrs:
        return dataset
    names = np.asarray(dataset.attrs["bodies"])
    if dataset.attrs["system"] == "planets":
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
    attributes = described.get("attributes", {}) if isinstance(described, dict) else {}
    require_format(attributes, str(place))
    return attributes


def require_format(attributes: Mapping[str, Any], name: str) -> None:
    """Refuse attributes that are of no dataset of orbits.

    Args:
        attributes: of the dataset.
        name: of the dataset, for the message.

    Raises:
        ValueError: says what they are instead.
    """
    if attributes.get("format") != FORMAT:
        raise ValueError(
            f"{name} has the format {attributes.get('format')!r}, not {FORMAT!r}; "
            "`orbits generate` makes such a dataset."
        )
    if attributes.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"{name} has the format version {attributes.get('format_version')}; this program "
            f"reads version {FORMAT_VERSION}."
        )
    if attributes.get("system") not in SYSTEMS:
        raise ValueError(f"{name} has an unknown system, {attributes.get('system')!r}.")


def missing_shards(
    place: Place, attributes: Mapping[str, Any], checksums: bool = False
) -> Sequence[int]:
    """Numbers of the shards that no marker vouches for."""
    fingerprint = attributes["configuration_sha256"]
    return [
        shard
        for shard in range(attributes["shards"])
        if read_marker(place, shard, fingerprint, checksums) is None
    ]
