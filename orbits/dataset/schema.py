"""The written format of a dataset of orbits.

A dataset is a Zarr v3 group. Dimensions: `orbit`, `time`, `body` (systems with several visible
bodies), `axis`. Variables:

- `position`, `velocity` (orbit, time[, body], axis), au and au/yr, float32 or float64;
- `time` (time,), yr, float64: exactly k*dt;
- `gm` (orbit,), au^3/yr^2, float64: the parameter of the relative motion;
- `semi_major_axis`, `eccentricity` (orbit,): of the apsides, NaN where it has none;
- any others of the system (`variables` below).

Where the law is unknown (`law` is `unknown`), `gm`, `mass` and the elements are NaN throughout.

Attributes: `format`, `format_version`, `system`, `law` (as `orbits.forces.known_law` reads it),
`dt` (yr), `dtype`, `units`, `configuration`, `configuration_sha256`, `versions`, `git_commit`,
`shards` (their number), `shard_orbits`; once opened also `complete` and, if generated,
`integration`: the measured error and drifts. Arrays are cut along `orbit` into shards, one chunk
each, with zarr's CRC-32C; the fill value is NaN. `orbits.dataset` says which are finished.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import xarray as xr

from orbits.files import of_json, sha256_of_json
from orbits.forces import known_law
from orbits.options import Above, Between
from orbits.units import UNITS

FORMAT = "orbitlaw-orbits"

FORMAT_VERSION = 2

ESTIMATED = "estimated from the positions"
"""The attribute `velocity` of a dataset whose velocities nobody gave."""


@dataclass(frozen=True)
class Variable:
    """One array of the format."""

    dims: tuple[str, ...]
    """Names of its dimensions."""
    unit: str
    """Its unit."""
    what: str
    """One-line description."""
    dtype: str | None = "float64"
    """Its type; None takes the dataset's own."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Its attributes in a dataset."""
        return {"units": self.unit, "long_name": self.what}


TIME = Variable(("time",), "yr", "time since the first state")
"""The coordinate of every system."""


def variables(system: str) -> dict[str, Variable]:
    """The arrays by orbit in a system's datasets."""
    several = system in ("barycentric", "nbody")
    states = ("orbit", "time", "body", "axis") if several else ("orbit", "time", "axis")
    arrays = {
        "position": Variable(states, "au", "position", None),
        "velocity": Variable(states, "au/yr", "velocity", None),
        "gm": Variable(("orbit",), "au^3/yr^2", "gravitational parameter of the relative motion"),
    }
    if several:
        arrays["mass"] = Variable(("orbit", "body"), "M_sun", "mass")
    if system in ("relative", "barycentric"):
        arrays["semi_major_axis"] = Variable(("orbit",), "au", "half the sum of both apsides")
        arrays["eccentricity"] = Variable(("orbit",), "1", "apsides' difference over their sum")
    if system == "nbody":
        own = ("orbit", "planet")
        arrays["semi_major_axis"] = Variable(own, "au", "of the first orbit around the star")
        arrays["eccentricity"] = Variable(own, "1", "of the first orbit around the star")
    if system == "planets":
        arrays["body"] = Variable(("orbit",), "1", "index into the attribute `bodies`", "int16")
        arrays["epoch"] = Variable(("orbit",), "d", "Julian date (TDB) of the first state")
    return arrays


def shard_orbits(orbits: int, wanted: int = 0, slow: bool = False) -> int:
    """Orbits per shard: 1024, or `wanted` if not 0, rounded up to a multiple of 16.

    No number of workers enters, so none changes a bit.
    """
    step, most = 16, Layout.shard_orbits
    # Where orbits are slow to make, eight shards at least, so that several processes share them and
    # an interruption loses little; where they are fast, writing one costs as much as a thousand.
    size = wanted or (min(most, max(step, orbits // 8)) if slow else most)
    return math.ceil(min(size, orbits) / step) * step


@dataclass(frozen=True)
class Layout:
    """An empty dataset: its sizes and attributes."""

    system: str
    """`relative`, `barycentric`, `nbody` or `planets`."""
    sizes: dict[str, int]
    """Length of every dimension but `planet`, one less than `body`."""
    dt: float
    """Time between states, yr."""
    described: Mapping[str, Any]
    """`law`, provenance and any other attributes."""
    dtype: str = "float32"
    """Of position and velocity."""
    shard_orbits: int = 1024
    """Orbits per shard, a multiple of 16."""

    @classmethod
    def of(
        cls, system: str, arrays: Mapping[str, np.ndarray], dt: float, described: Mapping[str, Any]
    ) -> "Layout":
        """The layout of arrays that are all in memory, in float64."""
        states = arrays["position"].shape
        sizes = dict(zip(variables(system)["position"].dims, states, strict=True))
        return cls(system, sizes, dt, described, "float64", shard_orbits(states[0]))

    def shape_of(self, variable: Variable) -> tuple[int, ...]:
        """The shape of an array."""
        planets = {"planet": self.sizes.get("body", 1) - 1}
        return tuple((self.sizes | planets)[dim] for dim in variable.dims)

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
            np.dtype(variable.dtype or self.dtype).itemsize * math.prod(self.shape_of(variable))
            for variable in variables(self.system).values()
        )


@dataclass(frozen=True)
class DatasetAttributes:
    """The attributes that every dataset has, with their types."""

    system: Literal["relative", "barycentric", "nbody", "planets"]
    law: str
    dt: Annotated[float, Above(0)]
    dtype: Literal["float32", "float64"]
    units: dict[str, str]
    configuration: dict[str, Any]
    configuration_sha256: str
    versions: dict[str, str]
    shards: Annotated[int, Between(1, 1_000_000)]  # of a billion orbits
    shard_orbits: Annotated[int, Above(0)]
    git_commit: str | None = None
    sampling: str | None = None
    frame: str | None = None
    centre: str | None = None
    gm_is: str | None = None
    bodies: list[str] = field(default_factory=list)
    integration: dict[str, str | int | float] = field(default_factory=dict)


def require_format(attributes: Any, name: str) -> dict[str, Any]:
    """The attributes, if they belong to a dataset of orbits, `name` in the message.

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
    return dict(attributes)


def attribute_problem(attributes: Mapping[str, Any]) -> str | None:
    """What is wrong with the attributes of a dataset of the right format, if anything."""
    try:
        typed = of_json(DatasetAttributes, dict(attributes), "an attribute")
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


def problem_in_memory(dataset: xr.Dataset) -> str | None:
    """What keeps a dataset, perhaps a part of another or altered by hand, from being computed with,
    if anything."""
    attributes = dataset.attrs
    missing = [name for name in ("law", "system", "dt") if name not in attributes]
    if missing:
        return f"lacks the attribute(s) {', '.join(missing)}"
    dt = attributes["dt"]
    if not isinstance(dt, (int, float)) or not 0 < dt < math.inf:
        return f"has the step dt = {dt!r:.40}; a number above 0 is needed"
    known = variables(str(attributes["system"]))
    for name in ("position", "velocity"):
        dims = known[name].dims
        if name not in dataset or dataset[name].dims != dims:
            return f"has no {name} over ({', '.join(dims)})"
    return None if dataset.sizes["orbit"] else "holds no orbit"


def shard_file(name: str, variable: Variable, shard: int) -> str:
    """Path of a shard of an array."""
    return "/".join([name, "c", str(shard), *("0" * (len(variable.dims) - 1))])


def array_problems(dataset: xr.Dataset) -> list[str]:
    """What is wrong with the arrays of a dataset: names, dimensions, types, units, sizes, times."""
    a = dataset.attrs
    problems = []
    for name, variable in {**variables(a["system"]), "time": TIME}.items():
        if name not in dataset.variables:
            problems.append(f"{name} is missing")
            continue
        array = dataset[name]
        pairs = {
            "dimensions": (array.dims, variable.dims),
            "type": (str(array.dtype), variable.dtype or a["dtype"]),
            "unit": (array.attrs.get("units"), variable.unit),
        }
        problems += [
            f"{name} has the {what} {found!r}, not {wanted!r}"
            for what, (found, wanted) in pairs.items()
            if found != wanted
        ]
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
