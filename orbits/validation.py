"""Checking a dataset against the written format and against physics."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import zarr

from orbits import dataset
from orbits.config import ValidateConfig
from orbits.forces import ForceLaw, parse_law
from orbits.records.places import Place
from orbits.systems import body_drifts, relative_drifts
from orbits.units import UNITS, G

DRIFT_LIMITS = {"float32": 1e-4, "float64": 1e-7}
"""Relative drift of energy and angular momentum in a file. Rounding to float32 moves a position by
6e-8 of the orbit's size, up to ten times the perihelion, where the potential varies as 1/r: about
1e-5. In float64 the engines' own error is left: below 1e-8 for DOP853 over a few periods."""

PERTURBED_LIMIT = 0.05
"""The same for real planets, whose orbits the other planets change."""

UNMODELLED_JERK = 1e-2
"""au/yr^3: how fast the Sun's answer to the planets changes, 4e-3 (Jupiter 7e-4, Venus 2e-3)."""

FAST = 0.5
"""Phase between two states, rad, above which velocities cannot be compared with positions."""


def validate(path: str | os.PathLike[str], checksums: bool = True) -> list[str]:
    """Everything that is wrong with a dataset; empty if nothing is.

    Checked are schema and units, missing shards and their checksums, sample times, finite values,
    velocities against positions, and the drift of energy and angular momentum.

    Args:
        path: a local folder or an fsspec address.
        checksums: whether to read every file again and compare its SHA-256.

    Raises:
        ValueError: if there is no dataset of orbits at all.
    """
    place = Place(path)
    attributes = dataset.read_attributes(place)
    problems = _attribute_problems(attributes)
    if problems:
        return problems
    group = place.group("r")
    arrays, problems = _schema_problems(group, attributes)
    missing = dataset.missing_shards(place, attributes, checksums)
    if missing:
        which = ", ".join(map(str, missing[:20])) + ("..." if len(missing) > 20 else "")
        problems.append(f"{len(missing)} shard(s) missing, cut short or changed: {which}")
    elif not attributes.get("complete"):
        problems.append("the dataset is not marked complete; run the command that made it again")
    if "time" in arrays:
        problems += _time_problems(arrays["time"], attributes["dt"])
    held = dataset.variables(attributes["system"])
    if all(name in arrays for name in held):
        unreadable = set(dataset.missing_shards(place, attributes))
        problems += _content_problems(arrays, attributes, unreadable)
    return problems


def run(path: str, config: ValidateConfig) -> int:
    """The command `orbits validate`: exit code 1 and a list if anything is wrong."""
    problems = validate(path, config.checksums)
    for problem in problems:
        print(f"{path}: {problem}")
    if not problems:
        print(f"{path}: valid.")
    return 1 if problems else 0


def _attribute_problems(attributes: Mapping[str, Any]) -> list[str]:
    needed = ("law", "dt", "dtype", "units", "configuration", "configuration_sha256", "versions",
              "shards", "shard_orbits", "complete")  # fmt: skip
    problems = [f"the attribute {name} is missing" for name in needed if name not in attributes]
    if problems:
        return problems
    if attributes["units"] != UNITS:
        problems.append(f"the units are {attributes['units']}, not {UNITS}")
    if not isinstance(attributes["dt"], float) or not attributes["dt"] > 0:
        problems.append(f"dt is {attributes['dt']!r}; it must be a number of years above 0")
    try:
        parse_law(attributes["law"])
    except ValueError as error:
        problems.append(str(error))
    return problems


def _schema_problems(
    group: zarr.Group, attributes: Mapping[str, Any]
) -> tuple[dict[str, zarr.Array], list[str]]:
    """The arrays that are as the format says, and what is wrong with the others."""
    held = dataset.variables(attributes["system"])
    expected = {
        **held,
        "time": dataset.Variable(("time",), "yr", "time"),
    }
    arrays, problems = {}, []
    sizes: dict[str, int] = {}
    for name, variable in expected.items():
        array = group.get(name)
        if not isinstance(array, zarr.Array):
            problems.append(f"{name} is missing")
            continue
        found = {
            "dimensions": (array.metadata.dimension_names, variable.dims),  # type: ignore[union-attr]
            "type": (str(array.dtype), variable.dtype or attributes["dtype"]),
            "unit": (array.attrs.get("units"), variable.unit),
        }
        wrong = [f"{what} {a!r}, not {b!r}" for what, (a, b) in found.items() if a != b]
        for dim, size in zip(variable.dims, array.shape, strict=False):
            if sizes.setdefault(dim, size) != size:
                wrong.append(f"{size} along {dim}, not {sizes[dim]}")
        problems += [f"{name} has the {what}" for what in wrong]
        if not wrong:
            arrays[name] = array
    return arrays, problems


def _time_problems(array: zarr.Array, dt: float) -> list[str]:
    times = np.asarray(array[:])
    wrong = np.flatnonzero(times != np.arange(len(times)) * dt)
    if not len(wrong):
        return []
    k = int(wrong[0])
    return [
        f"{len(wrong)} time(s) are not k*dt, the first at k = {k}: {times[k]!r}, not {k * dt!r}"
    ]


def _content_problems(
    arrays: Mapping[str, zarr.Array], attributes: Mapping[str, Any], missing: set[int]
) -> list[str]:
    """What is wrong with the numbers, shard by shard; each kind of problem is told once."""
    law = parse_law(attributes["law"])
    found: dict[str, list[int]] = {}
    for first, values in _shards(arrays, int(attributes["shard_orbits"]), missing):
        for what, bad in _shard_problems(law, attributes, values):
            rows = found.setdefault(what, [])
            rows += [first + int(row) for row in np.flatnonzero(bad)]
    return [
        f"{what} in {len(rows)} orbit(s), the first: {', '.join(map(str, rows[:5]))}"
        for what, rows in found.items()
        if rows
    ]


def _shards(
    arrays: Mapping[str, zarr.Array], per_shard: int, missing: set[int]
) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
    orbits = arrays["position"].shape[0]
    for shard, first in enumerate(range(0, orbits, per_shard)):
        if shard in missing:
            continue
        some = slice(first, min(first + per_shard, orbits))
        held = (name for name in arrays if name != "time")
        yield first, {name: np.asarray(arrays[name][some]) for name in held}


def _shard_problems(
    law: ForceLaw, attributes: Mapping[str, Any], values: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, np.ndarray]]:
    """Kinds of problems, and the (orbit,) mask of those that have it."""
    finite = np.ones(len(values["gm"]), dtype=bool)
    for name in ("position", "velocity", "gm", "mass"):
        if name in values:
            flat = values[name].reshape(len(finite), -1)
            whole = np.all(np.isfinite(flat), axis=1)
            yield f"{name} is not finite", ~whole
            finite &= whole
    positive = finite & (values["gm"] > 0)
    yield "gm is not above 0", finite & ~positive
    good = np.flatnonzero(positive)
    if not len(good):
        return
    position = values["position"][good].astype(np.float64)
    velocity = values["velocity"][good].astype(np.float64)
    gm = values["gm"][good]
    mass = values["mass"][good] if "mass" in values else None
    apart, error = _separation_and_mismatch(law, attributes, position, velocity, gm, mass)
    yield "bodies coincide", _within(good, finite, ~apart)
    yield "velocity is not the derivative of position", _within(good, finite, error > 1)
    if attributes.get("centre") == "barycentre" or not np.all(apart):
        return
    limit = DRIFT_LIMITS[attributes["dtype"]]
    if attributes["system"] == "planets":
        limit = PERTURBED_LIMIT
    if attributes["system"] == "nbody":
        assert mass is not None
        drifts = body_drifts(law, position, velocity, mass)
    else:
        drifts = relative_drifts(law, *_relative(attributes, position, velocity), gm)
    for name, drift in drifts.items():
        if name in ("energy_drift", "angular_momentum_drift"):
            what = name.removesuffix("_drift").replace("_", " ")
            yield f"{what} drifts by more than {limit:g}", _within(good, finite, drift > limit)


def _within(good: np.ndarray, finite: np.ndarray, bad: np.ndarray) -> np.ndarray:
    mask = np.zeros(len(finite), dtype=bool)
    mask[good] = bad
    return mask


def _relative(
    attributes: Mapping[str, Any], position: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    if attributes["system"] != "barycentric":
        return position, velocity
    return position[:, :, 1] - position[:, :, 0], velocity[:, :, 1] - velocity[:, :, 0]


def _separation_and_mismatch(
    law: ForceLaw,
    attributes: Mapping[str, Any],
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    mass: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(orbit,) whether bodies stay apart, and the mismatch of velocities over what is allowed.

    Each displacement is compared with the corrected trapezoidal rule,
    (v0 + v1) dt/2 - (a1 - a0) dt^2/12, whose error is (w dt)^5/720 of the separation for motion of
    rate w; accelerations come from the law.
    """
    dt, system = attributes["dt"], attributes["system"]
    apart = _stay_apart(attributes, position, velocity)
    if not np.all(apart):
        return apart, np.zeros(len(apart))
    if system == "nbody":
        assert mass is not None
        r = np.linalg.norm(position[:, :, 1:] - position[:, :, :1], axis=-1)
        strength = G * (mass[:, None, :1] + mass[:, None, 1:])
        acceleration = _mutual_acceleration(law, position, mass)
    else:
        position, velocity = _relative(attributes, position, velocity)
        r = np.linalg.norm(position, axis=-1)
        strength = gm[:, None]
        acceleration = law.acceleration(position, strength)
    phase = dt * np.sqrt(-law.radial_acceleration(r, strength) / r)
    phase = np.maximum(phase[:, 1:], phase[:, :-1])
    size = np.maximum(r[:, 1:], r[:, :-1])
    truncation = 100 * phase**5 / 720 * size  # 100: eccentric motion has higher harmonics
    if system == "nbody":
        # The star answers every planet, the planets answer the star: nobody is better resolved
        # than the fastest planet's share of the motion.
        assert mass is not None
        share = mass[:, None, 1:] / mass.sum(axis=1)[:, None, None]
        star = 10 * np.sum(share * np.minimum(truncation, size), axis=-1, keepdims=True)
        truncation = np.concatenate([star, truncation + star], axis=-1)
        slow = np.concatenate([np.ones_like(star), phase <= FAST], axis=-1)
    else:
        slow = phase <= FAST
    rule = 0.5 * dt * (velocity[:, 1:] + velocity[:, :-1])
    correction = dt**2 / 12 * np.diff(acceleration, axis=1)
    around_sun = attributes.get("centre") != "barycentre"
    error = np.linalg.norm(np.diff(position, axis=1) - rule + around_sun * correction, axis=-1)
    reach = np.max(np.linalg.norm(position, axis=-1), axis=1, keepdims=True)
    # 4: two positions, two axes
    rounding = 4 * np.finfo(attributes["dtype"]).eps * (reach + dt * np.max(np.abs(velocity)))
    allowed = truncation + rounding + 1e-12 * reach
    if system == "planets":
        allowed += 0.05 * np.linalg.norm(correction, axis=-1) + dt**3 / 12 * UNMODELLED_JERK
    if not around_sun:
        allowed += phase**3 * size
    ratio = np.where(slow > 0, error / allowed, 0.0)
    return apart, np.max(ratio.reshape(len(ratio), -1), axis=1)


def _stay_apart(
    attributes: Mapping[str, Any], position: np.ndarray, velocity: np.ndarray
) -> np.ndarray:
    """(orbit,) whether no body ever coincides with the centre or the first body."""
    if attributes["system"] == "nbody":
        position = position[:, :, 1:] - position[:, :, :1]
    else:
        position, _ = _relative(attributes, position, velocity)
    return np.all(np.any(position != 0, axis=-1).reshape(len(position), -1), axis=1)


def _mutual_acceleration(law: ForceLaw, position: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """(system, time, body, axis) acceleration of bodies that attract one another."""
    found = np.zeros_like(position)
    for i in range(mass.shape[1]):
        for j in range(mass.shape[1]):
            if i != j:
                pull = law.acceleration(position[:, :, i] - position[:, :, j], G)
                found[:, :, i] += mass[:, None, None, j] * pull
    return found
