"""Options of the commands; light, so `--help` is fast."""

from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Literal

from orbits.options import Above, AtLeast, Between, OptionError, Options, require_known

UNKNOWN = "unknown"
"""Stands in for a law: measured trajectories, whatever force moves them."""

LARGEST_NOISE = 1e20
"""au: the visible universe has 6e15."""
SAMPLES_LIMIT, ORBITS_LIMIT, WORKERS_LIMIT = 10_000_000, 1_000_000_000, 4096
"""More samples per orbit, orbits or processes are a slip of the finger."""

BODIES = (
    "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune", "pluto",
)  # fmt: skip
"""Bodies of the ephemeris, outwards; `earth` is the Earth-Moon barycentre."""


@dataclass(frozen=True)
class OrbitsConfig(Options):
    """Orbits under a law of force."""

    law: str = "newton"
    """Law of force: newton, power_law(n=3), logarithmic, hooke, yukawa(length=1),
    plummer(softening=0.1), newton_gr(b=0.001), deep_mond, or the magnitude of an attraction as a
    formula of r, such as "k*r**-2.5" or "GM*exp(-r/b)/r**2; b=0.5"."""
    system: Literal["relative", "barycentric", "nbody"] = "relative"
    """relative (one body around a centre), barycentric (two visible bodies), nbody (a star and
    planets that attract one another)."""
    orbits: Annotated[int, Between(1, ORBITS_LIMIT)] = 1000
    """Number of systems."""
    samples: Annotated[int, Between(2, SAMPLES_LIMIT)] = 128
    """Number of states along each, the first at time 0."""
    dt: Annotated[float, Above(0)] = 0.008
    """Time between states, yr."""
    dimensions: Literal[0, 2, 3] = 0
    """2 for planar orbits, 3 for randomly oriented planes; default 2, or 3 for several planets."""
    population: Literal["controlled", "exoplanets"] = "controlled"
    """controlled (ranges as given here) or exoplanets (published distributions)."""
    semi_major_axis: tuple[float, ...] = ()
    """au, low and high; controlled orbits are drawn log-uniformly. Default: the law's own range;
    0.3 to 32 for exoplanets and several planets."""
    eccentricity: tuple[float, ...] = ()
    """Low and high; controlled orbits are drawn uniformly as far as the perihelion allows. Default:
    0 to 0.6 (0.1 for several planets, 0.95 for exoplanets)."""
    min_perihelion: Annotated[float, AtLeast(0)] = 0.28
    """au; no orbit comes closer than this."""
    mass: tuple[Annotated[float, Above(0)], ...] = (1.0,)
    """Central mass, M_sun: one value for all orbits, or low and high, drawn log-uniformly."""
    companion_mass: tuple[Annotated[float, Above(0)], ...] = ()
    """Mass of a second body or planets, M_sun, low and high, drawn log-uniformly. Default: 0.1 to 1
    (barycentric) or 1e-7 to 1e-4 (nbody)."""
    simulator: str = "auto"
    """scipy (DOP853, 1e-12; the reference), scipy-lsoda, heyoka (the fast one), kepler (exact,
    newton between two bodies only), or auto: kepler where it can, else heyoka where installed."""

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
class GenerateConfig(OrbitsConfig):
    """Which orbits to make, and how."""

    seed: Annotated[int, AtLeast(0)] = 0
    """Random seed; the same seed and options give the same bits, more orbits are other ones."""
    planets: Annotated[int, Between(1, 8)] = 3
    """Number of planets of nbody systems."""
    hill_spacing: Annotated[float, AtLeast(0)] = 10.0
    """Least spacing of neighbouring semi-major axes, mutual Hill radii."""
    dtype: Literal["float32", "float64"] = "float32"
    """Type of positions and velocities in the file."""
    shard_orbits: Annotated[int, Between(0, ORBITS_LIMIT)] = 0
    """Orbits per shard; default 1024, fewer for small datasets from a slow simulator."""
    workers: Annotated[int, Between(0, WORKERS_LIMIT)] = 0
    """Processes; 0 means one per core."""
    scheduler: str = ""
    """Address of a dask scheduler (tcp://host:port) that makes the shards instead."""


@dataclass(frozen=True)
class EphemerisConfig(Options):
    """Which planets, when, and in which frame."""

    bodies: tuple[str, ...] = ("mercury", "venus", "earth", "mars")
    """mercury venus earth mars jupiter saturn uranus neptune pluto; earth is the Earth-Moon
    barycentre, the point that orbits the Sun."""
    start: float = 1950.0
    """Time of the first state, a year such as 1950 or 1999.5; DE421 spans 1900 to 2200 here."""
    stop: float = 2050.0
    """No state is taken after this time."""
    dt: Annotated[float, Above(0)] = 0.008
    """Time between states, yr of 365.25 days."""
    samples: Annotated[int, Between(2, SAMPLES_LIMIT)] = 128
    """States per segment; a planet's series is cut into segments, one row each."""
    frame: Literal["orbit", "ecliptic", "icrf"] = "orbit"
    """orbit (each planet's own orbital plane, two axes), ecliptic or icrf (three axes)."""
    together: bool = False
    """All bodies side by side in every state, the sun first, about the barycentre of the Solar
    System (system nbody, frame icrf or ecliptic). Sun and moon are then allowed too; with the moon,
    earth is the Earth itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.bodies)) < len(self.bodies) or not self.bodies:
            raise OptionError("bodies", "must name at least one body, and none twice.")
        for body in self.bodies:
            require_known("body", body, ("sun", *BODIES, "moon") if self.together else BODIES)
        apart = self.frame == "orbit" or len(self.bodies) < 3 or self.bodies[0] != "sun"
        if self.together and apart:
            raise OptionError(
                "together", "needs --frame icrf or ecliptic and at least three bodies, the sun "
                "first.",
            )  # fmt: skip


@dataclass(frozen=True)
class TrajectoriesConfig(Options):
    """The columns of a table of trajectories, and their units."""

    time: str = "time"
    """Column of the time: numbers in --time-unit."""
    position: tuple[str, ...] = ("x,y",)
    """Columns of a position, comma-separated: x,y or x,y,z. Repeat it for each body where a row
    holds several bodies (wide form)."""
    velocity: tuple[str, ...] = ()
    """Columns of a velocity, in the same form and order, in the unit of length a unit of time. By
    default they are estimated from the positions, and the dataset says so."""
    body: str = ""
    """Column that names the body of each row (long form)."""
    orbit: str = ""
    """Column that names the trajectory of each row, where there are several."""
    time_unit: Literal["yr", "d", "h", "min", "s"] = "yr"
    """Unit of the times; a year is 365.25 days."""
    length_unit: Literal["au", "km", "m", "cm", "pc"] = "au"
    """Unit of the positions."""
    origin: str = ""
    """Name of a body without columns that the positions are relative to (sun, for heliocentric
    positions): it becomes the first body, at rest at the origin."""
    samples: Annotated[int, Between(0, SAMPLES_LIMIT)] = 0
    """States in each row of the dataset, at least 3: longer trajectories are cut into several rows.
    0 picks the length that keeps most states."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.position:
            raise OptionError("position", "is empty; name the columns of at least one body: x,y.")
        widths = {len(names) for names in (*self.position_names, *self.velocity_names)}
        if widths not in ({2}, {3}):  # x,y or x,y,z
            raise OptionError(
                "position",
                f"is {' '.join(self.position)}; give two or three columns for each body, with "
                "commas and without spaces, as many for velocities: x,y,z.",
            )
        columns = [self.time, *chain.from_iterable(self.position_names + self.velocity_names)]
        if twice := [name for name in dict.fromkeys(columns) if columns.count(name) > 1]:
            raise OptionError("position", f"names the column {twice[0]} twice; each is one thing.")
        if self.velocity and len(self.velocity) != len(self.position):
            raise OptionError(
                "velocity", f"is given {len(self.velocity)} time(s), position {len(self.position)}."
            )
        if self.body and len(self.position) > 1:
            raise OptionError("body", "is for one body in each row; give --position once.")
        if self.samples in (1, 2):
            raise OptionError("samples", f"is {self.samples}; an acceleration needs at least 3.")

    @property
    def position_names(self) -> tuple[tuple[str, ...], ...]:
        """(body, axis) columns of the positions."""
        return tuple(_columns(text) for text in self.position)

    @property
    def velocity_names(self) -> tuple[tuple[str, ...], ...]:
        """(body, axis) columns of the velocities."""
        return tuple(_columns(text) for text in self.velocity)


@dataclass(frozen=True)
class ImportConfig(TrajectoriesConfig):
    """The columns of a table of trajectories, their units, and the law if it is known."""

    law: str = UNKNOWN
    """Law of force on one body about the origin, if known (newton, 30*r**-2.5); kicked and far
    states can then be made from these orbits."""
    gm: Annotated[float, AtLeast(0)] = 0.0
    """Its gravitational parameter, au^3/yr^2: 39.4784 around the Sun; with --law."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.law == UNKNOWN) != (self.gm == 0):
            raise OptionError("gm", "and --law are given together.")
        if self.gm > 1e45:  # its sixth power is finite
            raise OptionError("gm", f"is {self.gm:g}; at most 1e45 is allowed.")


def _columns(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


@dataclass(frozen=True)
class ForcesConfig(Options):
    """How accelerations are measured along trajectories."""

    noise: Annotated[float, Between(0, LARGEST_NOISE)] = 0.0
    """Standard error of a position, au; 0 estimates it from high differences, body by body."""


@dataclass(frozen=True)
class NoConfig(Options):
    """No options."""


@dataclass(frozen=True)
class PlotConfig(Options):
    """What to draw."""

    orbits: Annotated[int, AtLeast(1)] = 12
    """How many orbits, spread evenly over the dataset."""
