"""Making the orbits of one shard: sample, integrate, and measure how well."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from orbits.arcs import sample_arcs
from orbits.config import GenerateConfig
from orbits.engines import Progress, engine_named, is_installed
from orbits.forces import ForceLaw, parse_law
from orbits.integrate import integrate
from orbits.invariants import (
    angular_momentum,
    drift,
    energy_scale,
    laplace_runge_lenz,
    specific_energy,
)
from orbits.populations import FEW, Ranges, bound_share, sample_bound, turn_in_space
from orbits.units import G

CHECKED_SHARE = 0.01
"""Share of each shard's orbits that a second engine integrates again."""


@dataclass(frozen=True)
class Recipe:
    """A configuration made concrete: what every shard needs to know.

    Args:
        config: the resolved configuration.
        law: the law of force.
        ranges: sizes and shapes.
        bound: whether orbits are bound, or arcs that stay in the range.
        engine: name of the engine.
        check_engine: name of the engine that checks it.
    """

    config: GenerateConfig
    law: ForceLaw
    ranges: Ranges
    bound: bool
    engine: str
    check_engine: str

    @property
    def times(self) -> np.ndarray:
        """(time,) yr, exactly k*dt."""
        return np.arange(self.config.samples) * self.config.dt


def resolve(config: GenerateConfig) -> Recipe:
    """Choose what the configuration leaves open, and refuse what cannot be done.

    Raises:
        ValueError: for an unknown law or engine, impossible ranges, a law that does not attract.
    """
    law = parse_law(config.law)
    size = config.semi_major_axis or law.natural_range()
    ranges = Ranges(_pair(size), _pair(config.eccentricity), config.min_perihelion)
    gm = G * float(np.max(config.mass))
    bound = bound_share(law, ranges, gm) > FEW
    engine = choose_engine(config.engine, law)
    return Recipe(config, law, ranges, bound, engine, choose_check_engine(engine, law))


def choose_engine(wanted: str, law: ForceLaw) -> str:
    """The engine that `auto` stands for: heyoka where it is installed, else scipy.

    Raises:
        ValueError: if the engine is not known or cannot do the law.
    """
    if wanted == "auto":
        return "heyoka" if is_installed("heyoka") else "scipy"
    engine_named(wanted)
    if wanted == "kepler" and law.name != "newton":
        raise ValueError(
            f"engine 'kepler' solves newton only, not {law.spec}; take scipy or heyoka."
        )
    return wanted


def choose_check_engine(engine: str, law: ForceLaw) -> str:
    """Another engine than the given one: exact where possible, else the most accurate."""
    if law.name == "newton" and engine != "kepler":
        return "kepler"
    if engine != "heyoka" and is_installed("heyoka"):
        return "heyoka"
    return "scipy" if engine != "scipy" else "scipy-lsoda"


def make_shard(
    recipe: Recipe, count: int, shard: int, progress: Progress | None = None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The orbits of one shard, and the measured quality of their integration.

    Args:
        recipe: the resolved configuration.
        count: number of orbits.
        shard: number of the shard; with the seed it fixes every random number.
        progress: told how many orbits are finished.

    Returns:
        The variables of the format by name, and the measurements: `relative_error` of the
        positions of the orbits checked, drifts of the invariants over all orbits.
    """
    config, law = recipe.config, recipe.law
    rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(shard,)))
    low, high = np.log(_pair(config.mass))
    gm = G * np.exp(rng.uniform(low, high, count)) if low < high else _fixed(config, count)
    if recipe.bound:
        orbits = sample_bound(law, recipe.ranges, gm, rng)
    else:
        orbits = sample_arcs(law, recipe.ranges, gm, recipe.times[-1], rng)
    if config.dimensions == 3:
        orbits = turn_in_space(orbits, rng)
    start = orbits.position, orbits.velocity
    position, velocity = integrate(law, *start, gm, recipe.times, recipe.engine, progress)
    checked = np.sort(rng.choice(count, max(1, round(CHECKED_SHARE * count)), replace=False))
    again, _ = integrate(
        law, start[0][checked], start[1][checked], gm[checked], recipe.times, recipe.check_engine
    )
    quality = {
        "checked": len(checked),
        "relative_error": float(np.max(relative_error(position[checked], again))),
        **measure_drifts(law, position, velocity, gm),
    }
    arrays = {
        "position": position,
        "velocity": velocity,
        "gm": gm,
        "semi_major_axis": orbits.semi_major_axis,
        "eccentricity": orbits.eccentricity,
    }
    return arrays, quality


def relative_error(position: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """(orbit,) largest distance between two solutions, over the separation at that time."""
    distance = np.linalg.norm(position - reference, axis=-1)
    return np.max(distance / np.linalg.norm(reference, axis=-1), axis=-1)


def measure_drifts(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray
) -> dict[str, float]:
    """Largest relative drift of each invariant that the law has, over all orbits.

    Energy is relative to the largest kinetic energy, angular momentum to its own size; the
    eccentricity vector (Newton only) is dimensionless.
    """
    energy = specific_energy(law, position, velocity, gm)
    momentum = angular_momentum(position, velocity)
    size = np.linalg.norm(momentum[:, 0], axis=-1)
    drifts = {
        "energy_drift": drift(energy, energy_scale(velocity)),
        "angular_momentum_drift": drift(momentum, size),
    }
    if law.name == "newton":
        drifts["lrl_drift"] = drift(laplace_runge_lenz(position, velocity, gm), 1.0)
    return {name: float(np.max(values)) for name, values in drifts.items()}


def _fixed(config: GenerateConfig, count: int) -> np.ndarray:
    return np.full(count, G * config.mass[0])


def _pair(values: tuple[float, ...]) -> tuple[float, float]:
    return float(values[0]), float(values[-1])
