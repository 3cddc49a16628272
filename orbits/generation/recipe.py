"""A configuration made concrete: all that it leaves open is chosen here, once."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from orbits.config import GenerateConfig
from orbits.dataset.schema import shard_orbits
from orbits.forces import ForceLaw, parse_law
from orbits.populations.bound import bound_share
from orbits.populations.ranges import Ranges, require_attraction
from orbits.simulators import SIMULATORS, simulator_named
from orbits.units import G


@dataclass(frozen=True)
class Recipe:
    """What every shard needs to know."""

    config: GenerateConfig
    """The configuration with nothing left open."""
    law: ForceLaw
    """The law of force."""
    ranges: Ranges
    """Sizes and shapes."""
    bound: bool
    """Whether orbits are bound, or arcs that stay in the range."""
    check_simulator: str
    """Name of the simulator that checks the one configured."""

    @property
    def times(self) -> np.ndarray:
        """(time,) yr, exactly k*dt."""
        return np.arange(self.config.samples) * self.config.dt

    @property
    def sizes(self) -> dict[str, int]:
        """Length of every dimension of the dataset."""
        bodies = {"relative": 1, "barycentric": 2, "nbody": 1 + self.config.planets}
        return {
            "orbit": self.config.orbits,
            "time": self.config.samples,
            "body": bodies[self.config.system],
            "axis": self.config.dimensions,
        }

    @property
    def identity(self) -> dict[str, Any]:
        """All that decides the bits: the configuration without the means to make it."""
        means = ("workers", "scheduler")
        return {name: value for name, value in asdict(self.config).items() if name not in means}


PLANETS = (0.3, 32.0)
"""Semi-major axes, au, from within Mercury's to beyond Neptune's (0.39 and 30.1)."""


def resolve(config: GenerateConfig) -> Recipe:
    """Choose what the configuration leaves open, and refuse the impossible.

    Raises:
        ValueError: for an unknown law or simulator, impossible ranges, a law that does not attract,
            or a system that the law, the simulator or the number of axes cannot have.
    """
    law = parse_law(config.law)
    several = config.system == "nbody"
    dimensions = config.dimensions or (3 if several else 2)
    if several and dimensions != 3:
        raise ValueError(f"--system {config.system} has three dimensions; leave --dimensions out.")
    if several and not law.linear_in_gm:
        raise ValueError(
            f"law {law.spec} is not proportional to the attracting mass, so bodies that attract "
            "one another would break the third law; take --system relative."
        )
    # semi-major axes (empty: the law's own), eccentricities and companions' masses by default
    size, shape, companions = {
        "relative": ((), Ranges.eccentricity, (1.0, 1.0)),
        "barycentric": ((), Ranges.eccentricity, (0.1, 1.0)),
        "nbody": (PLANETS, (0.0, 0.1), (1e-7, 1e-4)),
    }[config.system]
    if config.population == "exoplanets":
        size, shape = PLANETS, (0.0, 0.95)
    ranges = Ranges(
        ends(config.semi_major_axis or size or law.natural_range()),
        ends(config.eccentricity or shape),
        config.min_perihelion,
        config.population,
    )
    simulator = config.simulator if config.simulator != "auto" else choose_simulator(law, several)
    simulator_named(simulator).require_possible(law, several)
    resolved = replace(
        config,
        law=law.spec,
        dimensions=dimensions,
        semi_major_axis=ranges.semi_major_axis,
        eccentricity=ranges.eccentricity,
        companion_mass=ends(config.companion_mass or companions),
        simulator=simulator,
        shard_orbits=shard_orbits(
            config.orbits, config.shard_orbits, slow=several or SIMULATORS[simulator].is_slow
        ),
    )
    gm = G * max(config.mass)
    require_attraction(law, ranges, gm)
    _require_patience(law, ranges, gm, config.dt * config.samples)
    # drawing pairs of apsides until each has an orbit would take too long below 2 %
    bound = bound_share(law, ranges, gm) > 0.02
    if several and not bound:
        raise ValueError(f"law {law.spec} has no bound orbits here, so no planets; take relative.")
    return Recipe(resolved, law, ranges, bound, choose_simulator(law, several, but=simulator))


def _require_patience(law: ForceLaw, ranges: Ranges, gm: float, duration: float) -> None:
    """Refuse orbits with so many turns that no simulator would ever finish."""
    low, high = ranges.semi_major_axis
    r = np.geomspace(low, high * (1 + ranges.eccentricity[1]), 256)
    turns = duration * float(np.sqrt(np.max(-law.radial_acceleration(r, gm) / r))) / (2 * np.pi)
    # a minute in heyoka, hours in scipy
    most = 1e6
    if turns > most:
        raise ValueError(
            f"the fastest orbits would turn {turns:.2g} times in {duration:g} yr; at most "
            f"{most:g} are integrated: lower --dt, --samples or the strength of the law, or "
            "raise --semi-major-axis."
        )


def choose_simulator(law: ForceLaw, several: bool = False, but: str = "") -> str:
    """The best simulator but one: exact where that is possible, else the fastest installed."""
    exact = law.name == "newton" and not several
    possible = {
        "kepler": exact, "heyoka": SIMULATORS["heyoka"].is_installed, "scipy": True,
        "scipy-lsoda": True,
    }  # fmt: skip
    return next(name for name, can in possible.items() if can and name != but)


def ends(values: tuple[float, ...]) -> tuple[float, float]:
    """Low and high of an option that may be one value."""
    return float(values[0]), float(values[-1])
