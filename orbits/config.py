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
            plummer(softening=0.1), newton_gr(b=0.001), deep_mond.
        orbits: number of systems.
        samples: number of states along each, the first at time 0.
        dt: time between states, yr.
        seed: root of all randomness; the same seed gives the same bits.
        dimensions: 2 for planar orbits, 3 for planes turned at random.
        semi_major_axis: au, low and high, drawn log-uniformly; without it the law's own range.
        eccentricity: low and high, drawn uniformly as far as the perihelion allows.
        min_perihelion: au; no orbit comes closer than this.
        mass: total mass, M_sun: one value for all orbits, or low and high, drawn log-uniformly.
        engine: scipy (DOP853, 1e-12; the reference), scipy-lsoda, scipy-radau, kepler (exact,
            newton only), or auto.
        dtype: type of positions and velocities in the file.
        shard_orbits: orbits per shard; without it 1024, fewer for small datasets.
        workers: processes; 0 takes one per core.
    """

    law: str = "newton"
    orbits: int = 1000
    samples: int = 128
    dt: float = 0.008
    seed: int = 0
    dimensions: Literal[2, 3] = 2
    semi_major_axis: tuple[float, ...] = ()
    eccentricity: tuple[float, ...] = (0.0, 0.6)
    min_perihelion: float = 0.28
    mass: tuple[float, ...] = (1.0,)
    engine: str = "auto"
    dtype: Literal["float32", "float64"] = "float32"
    shard_orbits: int = 0
    workers: int = 0

    def __post_init__(self) -> None:
        _at_least("orbits", self.orbits, 1)
        _at_least("samples", self.samples, 2)
        _at_least("seed", self.seed, 0)
        _at_least("shard-orbits", self.shard_orbits, 0)
        _at_least("workers", self.workers, 0)
        if self.samples > SAMPLES_LIMIT:
            raise ValueError(f"samples is {self.samples}; at most {SAMPLES_LIMIT} are allowed.")
        if not 0 < self.dt < math.inf:
            raise ValueError(f"dt is {self.dt:g} yr; it must be above 0.")
        _require_pair("semi-major-axis", self.semi_major_axis, lengths=(0, 1, 2))
        _require_pair("eccentricity", self.eccentricity)
        _require_pair("mass", self.mass)
        if min(self.mass) <= 0:
            raise ValueError(f"mass is {min(self.mass):g} M_sun; it must be above 0.")
        if list(self.mass) != sorted(self.mass):
            raise ValueError(f"mass from {self.mass[0]:g} to {self.mass[1]:g}; low comes first.")


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


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise ValueError(f"{name} is {value}; it must be at least {least}.")


def _require_pair(name: str, values: tuple[float, ...], lengths: tuple[int, ...] = (1, 2)) -> None:
    if len(values) not in lengths or not all(math.isfinite(value) for value in values):
        raise ValueError(
            f"{name} is {' '.join(map(str, values)) or 'empty'}; give one finite value, or low and "
            "high."
        )
