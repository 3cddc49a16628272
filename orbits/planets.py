"""Real planets: JPL's ephemeris DE421 in the format of the datasets.

Source: Folkner, Williams & Boggs, The Planetary and Lunar Ephemeris DE 421, IPN Progress Report
42-178 (2009). The package `de421` holds its Chebyshev coefficients as arrays, which jplephem's
reader of ephemeris packages evaluates.
"""

import math
import os
from collections import defaultdict
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

from orbits import dataset
from orbits.config import BODIES, EphemerisConfig
from orbits.dataset.schema import Layout
from orbits.options import keywords_of, options_from, require_known
from orbits.provenance import provenance
from orbits.simulators import States
from orbits.units import JULIAN_YEAR_DAYS, G

J2000 = 2451545.0
"""Julian date of the epoch J2000.0."""

SERIES = {body: (body, f"GM{number}") for number, body in enumerate(BODIES, 1)} | {
    "earth": ("earthmoon", "GMB"),
    "sun": ("sun", "GMS"),
}
"""The series of each body in DE421, and the constant that holds its GM."""


@cache
def _de421() -> Any:
    import de421
    from jplephem.ephem import Ephemeris

    return Ephemeris(de421)


def julian_date(year: float) -> float:
    """Julian date of a time in Julian years."""
    # J2000.0 is the year 2000
    return J2000 + (year - 2000.0) * JULIAN_YEAR_DAYS


def gm_of(body: str) -> float:
    """Gravitational parameter of a planet (with its moons) or of the `sun`, au^3/yr^2."""
    _, constant = SERIES[require_known("body", body, SERIES)]
    return float(getattr(_de421(), constant)) * JULIAN_YEAR_DAYS**2


def states(body: str, julian_dates: np.ndarray, centre: str = "sun") -> States:
    """(time, 3) positions, au, and velocities, au/yr, of a body in the axes of the ICRF.

    At (time,) Julian dates, TDB, from the centre `sun` or `barycentre` (of the Solar System).

    Raises:
        ValueError: if the body is not known or a date is outside the ephemeris (says its span).
    """
    series, _ = SERIES[require_known("body", body, SERIES)]
    _require_covered(julian_dates)
    de421 = _de421()
    position, velocity = de421.position_and_velocity(series, julian_dates)
    if centre == "sun":
        sun = de421.position_and_velocity("sun", julian_dates)
        position, velocity = position - sun[0], velocity - sun[1]
    return position.T / de421.AU, velocity.T / de421.AU * JULIAN_YEAR_DAYS


def rotation_to_ecliptic() -> np.ndarray:
    """(3, 3) matrix from the ICRF to the mean ecliptic and equinox of J2000."""
    obliquity = math.radians(84381.448 / 3600)  # of the equator at J2000, IAU 1976
    c, s = math.cos(obliquity), math.sin(obliquity)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])


def rotation_to_orbit(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """(3, 3) matrix to a body's mean orbital plane: z along the mean angular momentum.

    The new x axis is the old one's projection onto the plane, so longitudes stay comparable. States
    are (time, 3), relative to the Sun.
    """
    normal = np.mean(np.cross(position, velocity), axis=0)
    normal /= np.linalg.norm(normal)
    x = np.array([1.0, 0.0, 0.0]) - normal[0] * normal
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal])


@keywords_of(EphemerisConfig)
def ephemeris(
    out: str | os.PathLike[str] | None = None,
    config: EphemerisConfig | None = None,
    **options: Any,
) -> xr.Dataset:
    """A dataset of real planets, each planet's series cut into segments.

    `gm` is that of Sun plus planet, the parameter of their relative motion.

    Args:
        out: folder to write to; by default everything stays in memory.
        config: which planets, when, in which frame.
        **options: fields of `EphemerisConfig` that differ from `config`.

    Returns:
        The dataset; the attribute `max_out_of_plane` is how far each body leaves the plane of the
        frame `orbit`, au.

    Raises:
        ValueError: for an unknown option or body, dates outside the ephemeris, a span shorter than
            one segment, or a path that holds something else.
    """
    config = options_from(EphemerisConfig, config, options)
    described: dict[str, Any] = {
        "law": "newton",
        "bodies": list(config.bodies),
        "frame": config.frame,
        "centre": "barycentre" if config.together else "sun",
    }
    if config.together:
        system, arrays = "nbody", _side_by_side(config, dates_of(config))
        described["one_system"] = True
        described["trajectories"] = [
            {"orbit": "", "start": k * config.samples * config.dt}
            for k in range(len(arrays["position"]))
        ]
    else:
        system, (arrays, out_of_plane) = "planets", _segments(config, dates_of(config))
        described |= {"gm_is": "sun plus planet", "max_out_of_plane": out_of_plane}
    layout = Layout.of(system, arrays, config.dt, described | provenance(config))
    return dataset.deliver(out, layout, arrays)


def dates_of(config: EphemerisConfig) -> np.ndarray:
    """(time,) Julian dates of all states, whole segments only.

    Raises:
        ValueError: if they are outside the ephemeris, or fill no segment.
    """
    first, last = julian_date(config.start), julian_date(config.stop)
    step = config.dt * JULIAN_YEAR_DAYS
    steps = (last - first) / step if step else math.inf
    if abs(steps) > 1e8:  # one every minute for two centuries
        raise ValueError(
            f"{config.start:g} to {config.stop:g} holds {steps:.3g} states {config.dt:g} yr apart; "
            f"at most 1e8 are allowed."
        )
    # steps that are whole to rounding
    segments = int(math.floor(steps + 1e-9) + 1) // config.samples
    if segments < 1:
        raise ValueError(
            f"{config.start:g} to {config.stop:g} holds less than one segment of {config.samples} "
            f"states {config.dt:g} yr apart; take fewer --samples or a longer span."
        )
    dates = first + np.arange(segments * config.samples) * step
    _require_covered(dates)
    return dates


def _require_covered(julian_dates: np.ndarray) -> None:
    first, last = _de421().jalpha, _de421().jomega
    outside = (julian_dates < first) | (julian_dates > last)
    if np.any(outside):
        raise ValueError(
            f"Julian date {julian_dates[outside][0]:.1f} is outside DE421, which spans "
            f"{_year(first):.1f} to {_year(last):.1f} (Julian dates {first:.1f} to {last:.1f})."
        )


def _side_by_side(config: EphemerisConfig, dates: np.ndarray) -> dict[str, np.ndarray]:
    """States and masses of all bodies, about the barycentre of the Solar System."""
    count = len(dates) // config.samples
    turn = np.eye(3) if config.frame == "icrf" else rotation_to_ecliptic()
    with_moon = "moon" in config.bodies
    states_of_bodies = [_in_system(body, dates, with_moon) for body in config.bodies]
    position, velocity, gm = zip(*states_of_bodies, strict=True)
    shape, mass = (count, config.samples, len(config.bodies), 3), np.array(gm) / G
    return {
        "position": (np.stack(position, axis=1) @ turn.T).reshape(shape),
        "velocity": (np.stack(velocity, axis=1) @ turn.T).reshape(shape),
        "mass": np.tile(mass, (count, 1)),
        "gm": np.full(count, G * mass.sum()),
    }


def _in_system(
    body: str, dates: np.ndarray, with_moon: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Positions and velocities about the barycentre, au and au/yr, and GM, au^3/yr^2.

    With the Moon, Earth and Moon are told apart: DE421 holds the Moon relative to the Earth, and
    both by their barycentre.
    """
    if body not in ("earth", "moon") or not with_moon:
        return *states(body, dates, "barycentre"), gm_of(body)
    de421, gm = _de421(), gm_of("earth")
    ratio = float(de421.EMRAT)
    both = de421.position_and_velocity("earthmoon", dates)
    moon = de421.position_and_velocity("moon", dates)
    share = -1 / (1 + ratio) if body == "earth" else ratio / (1 + ratio)
    position, by_day = ((b + share * m).T / de421.AU for b, m in zip(both, moon, strict=True))
    own = gm / (1 + ratio) if body == "moon" else gm * (ratio / (1 + ratio))
    return position, by_day * JULIAN_YEAR_DAYS, own


def _segments(
    config: EphemerisConfig, dates: np.ndarray
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Every variable of the format, and how far each body leaves its mean plane, au."""
    axes = 2 if config.frame == "orbit" else 3
    count = len(dates) // config.samples
    parts: defaultdict[str, list[np.ndarray]] = defaultdict(list)
    out_of_plane = {}
    for index, body in enumerate(config.bodies):
        position, velocity = states(body, dates)
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


def _year(julian: float) -> float:
    # as in `julian_date`
    return 2000.0 + (julian - J2000) / JULIAN_YEAR_DAYS
