"""Real planets: JPL's ephemeris DE421 in the format of the datasets.

Source: Folkner, Williams & Boggs, The Planetary and Lunar Ephemeris DE 421, IPN Progress Report
42-178 (2009). The package `de421` holds its Chebyshev coefficients as arrays, which jplephem's
reader of ephemeris packages evaluates.
"""

import math
import os
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

import numpy as np

from orbits import dataset
from orbits.command.near_misses import require_known
from orbits.config import EphemerisConfig
from orbits.engines import States
from orbits.records.places import Place
from orbits.records.provenance import provenance
from orbits.units import JULIAN_YEAR_DAYS

J2000 = 2451545.0
"""Julian date of the epoch J2000.0."""

OBLIQUITY = math.radians(84381.448 / 3600)
"""Angle between equator and ecliptic at J2000 (IAU 1976), rad."""


@dataclass(frozen=True)
class Body:
    """One body of the ephemeris: its series, and the constant that holds its GM."""

    series: str
    gm: str


BODIES = {
    "mercury": Body("mercury", "GM1"),
    "venus": Body("venus", "GM2"),
    "earth": Body("earthmoon", "GMB"),
    "mars": Body("mars", "GM4"),
    "jupiter": Body("jupiter", "GM5"),
    "saturn": Body("saturn", "GM6"),
    "uranus": Body("uranus", "GM7"),
    "neptune": Body("neptune", "GM8"),
    "pluto": Body("pluto", "GM9"),
}
"""Planets by name; `earth` is the Earth-Moon barycentre, which is what orbits the Sun."""

PLANETS = tuple(body for body in BODIES if body != "pluto")
"""The eight planets, outwards."""


@cache
def _ephemeris() -> Any:
    import de421
    from jplephem.ephem import Ephemeris

    return Ephemeris(de421)


def julian_date(when: str) -> float:
    """Julian date of a year (`1950`, `1999.5`: Julian years from J2000) or a day (`1999-07-01`).

    Raises:
        ValueError: if it is neither.
    """
    try:
        return J2000 + (float(when) - 2000.0) * JULIAN_YEAR_DAYS
    except ValueError:
        pass
    try:
        return date.fromisoformat(when).toordinal() + 1721424.5
    except ValueError:
        raise ValueError(
            f"the date {when!r} cannot be read; write a year (1950, 1999.5) or a day (1999-07-01)."
        ) from None


def gm_of(body: str) -> float:
    """Gravitational parameter of a planet (with its moons) or of the `sun`, au^3/yr^2."""
    constant = "GMS" if body == "sun" else BODIES[require_known("body", body, BODIES)].gm
    return float(getattr(_ephemeris(), constant)) * JULIAN_YEAR_DAYS**2


def states(body: str, julian_dates: np.ndarray, centre: str = "sun") -> States:
    """Positions and velocities of a body, axes of the ICRF.

    Args:
        body: a name of `BODIES`, or `sun`.
        julian_dates: (time,) TDB.
        centre: `sun` or `barycentre` (of the Solar System).

    Returns:
        (time, 3) position, au, and velocity, au/yr.

    Raises:
        ValueError: if the body is not known or a date is outside the ephemeris (says its span).
    """
    series = "sun" if body == "sun" else BODIES[require_known("body", body, BODIES)].series
    ephemeris = _ephemeris()
    first, last = ephemeris.jalpha, ephemeris.jomega
    outside = (julian_dates < first) | (julian_dates > last)
    if np.any(outside):
        raise ValueError(
            f"Julian date {julian_dates[outside][0]:.1f} is outside DE421, which spans "
            f"{_year(first):.1f} to {_year(last):.1f} (Julian dates {first:.1f} to {last:.1f})."
        )
    position, velocity = ephemeris.position_and_velocity(series, julian_dates)
    if centre == "sun":
        sun = ephemeris.position_and_velocity("sun", julian_dates)
        position, velocity = position - sun[0], velocity - sun[1]
    return position.T / ephemeris.AU, velocity.T / ephemeris.AU * JULIAN_YEAR_DAYS


def rotation_to_ecliptic() -> np.ndarray:
    """(3, 3) matrix from the ICRF to the mean ecliptic and equinox of J2000."""
    c, s = math.cos(OBLIQUITY), math.sin(OBLIQUITY)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])


def rotation_to_orbit(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(3, 3) matrix to a body's mean orbital plane: z along the mean angular momentum.

    The new x axis is the old one's projection onto the plane, so longitudes stay comparable.

    Args:
        position: (time, 3) relative position.
        velocity: (time, 3) relative velocity.
    """
    normal = np.mean(np.cross(position, velocity), axis=0)
    normal /= np.linalg.norm(normal)
    x = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal])


def make_ephemeris(path: str | os.PathLike[str], config: EphemerisConfig) -> dict[str, Any]:
    """Write a dataset of real planets, each one's series cut into segments.

    `gm` is that of the Sun plus the planet, the parameter of their relative motion.

    Args:
        path: a local folder or an fsspec address.
        config: which planets, when, in which frame.

    Returns:
        `segments`, `bodies`, `span` (yr) and `max_out_of_plane` (au, by body; frame orbit only).

    Raises:
        ValueError: for an unknown body, dates outside the ephemeris, a span shorter than one
            segment, or a path that holds something else.
    """
    for body in config.bodies:
        require_known("body", body, BODIES)
    place = Place(path)
    first, last = julian_date(config.start), julian_date(config.stop)
    step = config.dt * JULIAN_YEAR_DAYS
    segments = int(math.floor((last - first) / step + 1e-9) + 1) // config.samples
    if segments < 1:
        raise ValueError(
            f"{config.start} to {config.stop} holds less than one segment of {config.samples} "
            f"states {config.dt:g} yr apart; take fewer --samples or a longer span."
        )
    dates = first + np.arange(segments * config.samples) * step
    arrays, out_of_plane = _segments(config, dates)
    described = provenance(config)
    dataset.begun(place, described["configuration"])
    with place.alone():
        if not (dataset.begun(place, described["configuration"]) and dataset.is_complete(place)):
            description = {
                "law": "newton",
                "bodies": list(config.bodies),
                "frame": config.frame,
                "centre": config.centre,
                "gm_is": "sun plus planet",
                "max_out_of_plane": out_of_plane,
                **described,
            }
            _write(place, config, arrays, description)
    return {
        "segments": segments,
        "bodies": list(config.bodies),
        "span": segments * config.samples * config.dt,
        "max_out_of_plane": out_of_plane,
    }


def _segments(
    config: EphemerisConfig, dates: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Every variable of the format, and how far each body leaves its mean plane, au."""
    axes = 2 if config.frame == "orbit" else 3
    count = len(dates) // config.samples
    parts: dict[str, list[np.ndarray]] = {name: [] for name in dataset.variables("planets")}
    out_of_plane = {}
    for index, body in enumerate(config.bodies):
        position, velocity = states(body, dates, config.centre)
        if config.frame == "ecliptic":
            turn = rotation_to_ecliptic()
        else:
            turn = rotation_to_orbit(position, velocity) if axes == 2 else np.eye(3)
        position, velocity = position @ turn.T, velocity @ turn.T
        if axes == 2:
            out_of_plane[body] = float(np.max(np.abs(position[:, 2])))
        shape = (count, config.samples, 3)
        parts["position"].append(position.reshape(shape)[..., :axes])
        parts["velocity"].append(velocity.reshape(shape)[..., :axes])
        parts["gm"].append(np.full(count, gm_of("sun") + gm_of(body)))
        parts["body"].append(np.full(count, index, dtype=np.int16))
        parts["epoch"].append(dates[:: config.samples])
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}, out_of_plane


def _write(
    place: Place,
    config: EphemerisConfig,
    arrays: dict[str, np.ndarray],
    description: dict[str, Any],
) -> None:
    rows, samples, axes = arrays["position"].shape
    per_shard = dataset.shard_orbits(rows)
    sizes = {"orbit": rows, "time": samples, "axis": axes}
    dataset.create(place, "planets", sizes, config.dt, description, "float64", per_shard)
    marker = {"configuration_sha256": description["configuration_sha256"]}
    for shard in range(math.ceil(rows / per_shard)):
        place.remove(dataset.marker_name(shard))
        some = slice(shard * per_shard, (shard + 1) * per_shard)
        held = {name: values[some] for name, values in arrays.items()}
        dataset.write_shard(place, shard, held, marker)
    dataset.finish(place, {})


def run(path: str, config: EphemerisConfig) -> None:
    """The command `orbits ephemeris`."""
    made = make_ephemeris(path, config)
    print(
        f"{path}: {', '.join(made['bodies'])}; {made['segments']} segments of {config.samples} "
        f"states each, {made['span']:.1f} yr from {config.start}, frame {config.frame}."
    )


def _year(julian: float) -> float:
    return 2000.0 + (julian - J2000) / JULIAN_YEAR_DAYS
