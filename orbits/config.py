"""Options of the commands; light, so that `--help` is fast."""

import math
from dataclasses import dataclass
from typing import Literal

SAMPLES_LIMIT = 10_000_000
"""More samples per orbit than this is a slip of the finger."""


@dataclass(frozen=True)
class GenerateConfig:
    """Which orbits to make, and how.

    Args:
        law: law of force: newton, power_law(n=3), logarithmic, hooke, yukawa(length=1),
            plummer(softening=0.1), newton_gr(b=0.001), deep_mond, or the magnitude of an attraction
            as a formula of r, such as "k*r**-2.5" or "GM*exp(-r/b)/r**2; b=0.5".
        system: relative (one body around a centre), barycentric (two visible bodies), nbody (a star
            and planets that attract one another), solar (the Sun and its eight planets, from random
            dates of DE421).
        orbits: number of systems.
        samples: number of states along each, the first at time 0.
        dt: time between states, yr.
        seed: root of all randomness; the same seed gives the same bits.
        dimensions: 2 for planar orbits, 3 for planes turned at random; without it 2, or 3 for
            several planets.
        population: controlled (ranges as given here) or exoplanets (published distributions).
        semi_major_axis: au, low and high; controlled orbits are drawn log-uniformly. Without it the
            law's own range, 0.3 to 32 for exoplanets and several planets.
        eccentricity: low and high; controlled orbits are drawn uniformly as far as the perihelion
            allows. Without it 0 to 0.6, 0.1 for several planets, 0.95 for exoplanets.
        min_perihelion: au; no orbit comes closer than this.
        mass: of the centre, M_sun: one value for all orbits, or low and high, drawn log-uniformly.
        companion_mass: of a second body or of planets, M_sun, low and high, drawn log-uniformly.
            Without it 0.1 to 1 (barycentric) or 1e-7 to 1e-4 (nbody).
        planets: number of planets of nbody systems, 1 to 8.
        hill_spacing: least distance of neighbouring planets' semi-major axes, mutual Hill radii.
        engine: scipy (DOP853, 1e-12; the reference), scipy-lsoda, scipy-radau, heyoka (the fast
            one), kepler (exact, newton between two bodies only), or auto: heyoka where installed.
        dtype: type of positions and velocities in the file.
        shard_orbits: orbits per shard; without it 1024, fewer for small datasets of a slow engine.
        workers: processes; 0 takes one per core.
        scheduler: address of a dask scheduler (tcp://host:port) that makes the shards instead.
    """

    law: str = "newton"
    system: Literal["relative", "barycentric", "nbody", "solar"] = "relative"
    orbits: int = 1000
    samples: int = 128
    dt: float = 0.008
    seed: int = 0
    dimensions: Literal[0, 2, 3] = 0
    population: Literal["controlled", "exoplanets"] = "controlled"
    semi_major_axis: tuple[float, ...] = ()
    eccentricity: tuple[float, ...] = ()
    min_perihelion: float = 0.28
    mass: tuple[float, ...] = (1.0,)
    companion_mass: tuple[float, ...] = ()
    planets: int = 3
    hill_spacing: float = 10.0
    engine: str = "auto"
    dtype: Literal["float32", "float64"] = "float32"
    shard_orbits: int = 0
    workers: int = 0
    scheduler: str = ""

    def __post_init__(self) -> None:
        _at_least("orbits", self.orbits, 1)
        _at_least("samples", self.samples, 2)
        _at_least("seed", self.seed, 0)
        _at_least("shard-orbits", self.shard_orbits, 0)
        _at_least("workers", self.workers, 0)
        if self.samples > SAMPLES_LIMIT:
            raise ValueError(f"samples is {self.samples}; at most {SAMPLES_LIMIT} are allowed.")
        if not 1 <= self.planets <= 8:
            raise ValueError(f"planets is {self.planets}; 1 to 8 are allowed.")
        if not 0 < self.dt < math.inf:
            raise ValueError(f"dt is {self.dt:g} yr; it must be above 0.")
        if not 0 <= self.hill_spacing < math.inf:
            raise ValueError(f"hill-spacing is {self.hill_spacing:g}; it must be at least 0.")
        _require_pair("semi-major-axis", self.semi_major_axis, or_none=True)
        _require_pair("eccentricity", self.eccentricity, or_none=True)
        for name, values in (("mass", self.mass), ("companion-mass", self.companion_mass)):
            _require_pair(name, values, or_none=name != "mass")
            if values and min(values) <= 0:
                raise ValueError(f"{name} is {min(values):g} M_sun; it must be above 0.")
            if list(values) != sorted(values):
                raise ValueError(f"{name} from {values[0]:g} to {values[1]:g}; low comes first.")


@dataclass(frozen=True)
class EphemerisConfig:
    """Which planets, when, and in which frame.

    Args:
        bodies: mercury venus earth mars jupiter saturn uranus neptune pluto; earth is the
            Earth-Moon barycentre, the point that orbits the Sun.
        start: date of the first state: a year (1950, 1999.5) or a day (1999-07-01); DE421
            spans 1900 to 2200 here.
        stop: date after which no state is taken.
        dt: time between states, yr of 365.25 days.
        samples: states per segment; a planet's series is cut into segments, one row each.
        frame: orbit (each planet's own orbital plane, two axes), ecliptic or icrf (three axes).
        centre: sun, or barycentre (of the Solar System).
    """

    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    start: str = "1950"
    stop: str = "2050"
    dt: float = 0.008
    samples: int = 128
    frame: Literal["orbit", "ecliptic", "icrf"] = "orbit"
    centre: Literal["sun", "barycentre"] = "sun"

    def __post_init__(self) -> None:
        _at_least("samples", self.samples, 2)
        if not 0 < self.dt < math.inf:
            raise ValueError(f"dt is {self.dt:g} yr; it must be above 0.")
        if len(set(self.bodies)) < len(self.bodies) or not self.bodies:
            raise ValueError("bodies must name at least one body, and none twice.")
        if self.frame == "orbit" and self.centre != "sun":
            raise ValueError("--frame orbit is around the sun; take --frame ecliptic or icrf.")


@dataclass(frozen=True)
class ValidateConfig:
    """How thoroughly to check.

    Args:
        checksums: whether to read every file again and compare its SHA-256.
    """

    checksums: bool = True


@dataclass(frozen=True)
class InfoConfig:
    """Nothing to choose."""


@dataclass(frozen=True)
class PlotConfig:
    """What to draw.

    Args:
        orbits: how many orbits, spread evenly over the dataset.
    """

    orbits: int = 12

    def __post_init__(self) -> None:
        _at_least("orbits", self.orbits, 1)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}.")


def _require_pair(name: str, values: tuple[float, ...], or_none: bool = False) -> None:
    allowed = (0, 1, 2) if or_none else (1, 2)
    if len(values) not in allowed or not all(math.isfinite(value) for value in values):
        raise ValueError(
            f"{name} is {' '.join(map(str, values)) or 'empty'}; give one finite value, or low and "
            "high."
        )
