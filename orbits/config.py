"""Options of the commands; light, so that `--help` is fast."""

from dataclasses import dataclass
from typing import Annotated, Literal

from orbits.command.near_misses import require_known
from orbits.command.options import Above, AtLeast, Between, OptionError, Options

SAMPLES_LIMIT = 10_000_000
"""More samples per orbit than this is a slip of the finger."""

ORBITS_LIMIT = 1_000_000_000
"""More orbits than this are one too."""

WORKERS_LIMIT = 4096
"""More processes than this are one too."""

BODIES = (
    "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto",
)  # fmt: skip
"""Bodies of the ephemeris, outwards; `earth` is the Earth-Moon barycentre."""


@dataclass(frozen=True)
class GenerateConfig(Options):
    """Which orbits to make, and how."""

    law: str = "newton"
    """Law of force: newton, power_law(n=3), logarithmic, hooke, yukawa(length=1),
    plummer(softening=0.1), newton_gr(b=0.001), deep_mond, or the magnitude of an attraction as a
    formula of r, such as "k*r**-2.5" or "GM*exp(-r/b)/r**2; b=0.5"."""
    system: Literal["relative", "barycentric", "nbody", "solar"] = "relative"
    """relative (one body around a centre), barycentric (two visible bodies), nbody (a star and
    planets that attract one another), solar (the Sun and its eight planets, from random dates of
    DE421)."""
    orbits: Annotated[int, Between(1, ORBITS_LIMIT)] = 1000
    """Number of systems."""
    samples: Annotated[int, Between(2, SAMPLES_LIMIT)] = 128
    """Number of states along each, the first at time 0."""
    dt: Annotated[float, Above(0)] = 0.008
    """Time between states, yr."""
    seed: Annotated[int, AtLeast(0)] = 0
    """Root of all randomness; the same seed gives the same bits."""
    dimensions: Literal[0, 2, 3] = 0
    """2 for planar orbits, 3 for planes turned at random; without it 2, or 3 for several
    planets."""
    population: Literal["controlled", "exoplanets"] = "controlled"
    """controlled (ranges as given here) or exoplanets (published distributions)."""
    semi_major_axis: tuple[float, ...] = ()
    """au, low and high; controlled orbits are drawn log-uniformly. Without it the law's own range,
    0.3 to 32 for exoplanets and several planets."""
    eccentricity: tuple[float, ...] = ()
    """Low and high; controlled orbits are drawn uniformly as far as the perihelion allows. Without
    it 0 to 0.6, 0.1 for several planets, 0.95 for exoplanets."""
    min_perihelion: Annotated[float, AtLeast(0)] = 0.28
    """au; no orbit comes closer than this."""
    mass: tuple[Annotated[float, Above(0)], ...] = (1.0,)
    """Of the centre, M_sun: one value for all orbits, or low and high, drawn log-uniformly."""
    companion_mass: tuple[Annotated[float, Above(0)], ...] = ()
    """Of a second body or of planets, M_sun, low and high, drawn log-uniformly. Without it 0.1 to 1
    (barycentric) or 1e-7 to 1e-4 (nbody)."""
    planets: Annotated[int, Between(1, 8)] = 3
    """Number of planets of nbody systems."""
    hill_spacing: Annotated[float, AtLeast(0)] = 10.0
    """Least distance of neighbouring planets' semi-major axes, mutual Hill radii."""
    engine: str = "auto"
    """scipy (DOP853, 1e-12; the reference), scipy-lsoda, scipy-radau, heyoka (the fast one),
    kepler (exact, newton between two bodies only), or auto: heyoka where installed."""
    dtype: Literal["float32", "float64"] = "float32"
    """Type of positions and velocities in the file."""
    shard_orbits: Annotated[int, Between(0, ORBITS_LIMIT)] = 0
    """Orbits per shard; without it 1024, fewer for small datasets of a slow engine."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Processes; 0 takes one per core."""
    scheduler: str = ""
    """Address of a dask scheduler (tcp://host:port) that makes the shards instead."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("semi_major_axis", "eccentricity", "mass", "companion_mass"):
            values = getattr(self, name)
            if len(values) > 2 or (name == "mass" and not values):
                given = " ".join(f"{value:g}" for value in values) or "empty"
                raise OptionError(name, f"is {given}; give one value, or low and high.")
            if list(values) != sorted(values):
                raise OptionError(name, f"is {values[0]:g} to {values[1]:g}; low comes first.")


@dataclass(frozen=True)
class EphemerisConfig(Options):
    """Which planets, when, and in which frame."""

    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    """mercury venus earth mars jupiter saturn uranus neptune pluto; earth is the Earth-Moon
    barycentre, the point that orbits the Sun."""
    start: str = "1950"
    """Date of the first state: a year (1950, 1999.5) or a day (1999-07-01); DE421 spans 1900 to
    2200 here."""
    stop: str = "2050"
    """Date after which no state is taken."""
    dt: Annotated[float, Above(0)] = 0.008
    """Time between states, yr of 365.25 days."""
    samples: Annotated[int, Between(2, SAMPLES_LIMIT)] = 128
    """States per segment; a planet's series is cut into segments, one row each."""
    frame: Literal["orbit", "ecliptic", "icrf"] = "orbit"
    """orbit (each planet's own orbital plane, two axes), ecliptic or icrf (three axes)."""
    centre: Literal["sun", "barycentre"] = "sun"
    """sun, or barycentre (of the Solar System)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.bodies)) < len(self.bodies) or not self.bodies:
            raise OptionError("bodies", "must name at least one body, and none twice.")
        for body in self.bodies:
            require_known("body", body, BODIES)
        if self.frame == "orbit" and self.centre != "sun":
            raise OptionError("frame", "orbit is around the sun; take ecliptic or icrf.")


@dataclass(frozen=True)
class ValidateConfig(Options):
    """How thoroughly to check."""

    checksums: bool = True
    """Whether to read every file again and compare its SHA-256."""


@dataclass(frozen=True)
class InfoConfig(Options):
    """Nothing to choose."""


@dataclass(frozen=True)
class PlotConfig(Options):
    """What to draw."""

    orbits: Annotated[int, AtLeast(1)] = 12
    """How many orbits, spread evenly over the dataset."""
