"""Making the orbits of one shard: sample, integrate, and measure how well."""

from typing import Any

import numpy as np

from orbits.frames import relative_shares
from orbits.generation.quality import body_drifts, relative_drifts, relative_error
from orbits.generation.recipe import Recipe
from orbits.populations.arcs import sample_arcs
from orbits.populations.bound import RelativeOrbits, sample_bound, turn_in_space
from orbits.populations.planetary import sample_masses, sample_planets, solar_systems
from orbits.simulators.integrate import integrate, integrate_bodies
from orbits.units import G

CHECKED_SHARE = 0.01
"""Share of each shard's orbits that a second simulator integrates again."""

Arrays = dict[str, np.ndarray]
Quality = dict[str, Any]


def make_shard(
    recipe: Recipe, count: int, shard: int, check: bool = True
) -> tuple[Arrays, Quality]:
    """The orbits of one shard, and the measured quality of their integration.

    Args:
        recipe: the resolved configuration.
        count: number of orbits.
        shard: number of the shard; with the seed it fixes every random number.
        check: whether a second simulator integrates some orbits again.

    Returns:
        The variables of the format by name, and the measurements: `relative_error` of the
        positions of the `checked` orbits, drifts of the invariants over all orbits.
    """
    seed = np.random.SeedSequence(recipe.config.seed, spawn_key=(shard,))
    rng = np.random.default_rng(seed)
    if recipe.system == "nbody":
        return _several(recipe, count, rng, check)
    return _two(recipe, count, rng, check)


def _two(
    recipe: Recipe, count: int, rng: np.random.Generator, check: bool
) -> tuple[Arrays, Quality]:
    config, law = recipe.config, recipe.law
    mass = _two_masses(recipe, count, rng)
    gm = G * mass.sum(axis=1)
    orbits = _relative_orbits(recipe, gm, rng)
    start, times = (orbits.position, orbits.velocity), recipe.times
    position, velocity = integrate(law, *start, gm, times, config.simulator)
    checked = _some(count, rng)[: None if check else 0]
    again, _ = integrate(
        law, start[0][checked], start[1][checked], gm[checked], times, recipe.check_simulator
    )
    quality = _quality(
        checked,
        relative_error(position[checked], again),
        relative_drifts(law, position, velocity, gm),
    )
    arrays = {
        "position": position,
        "velocity": velocity,
        "gm": gm,
        "semi_major_axis": orbits.semi_major_axis,
        "eccentricity": orbits.eccentricity,
    }
    if recipe.system == "barycentric":
        arrays["mass"] = mass
        # drawn is the second body as seen from the first, and x1 - x2 is its negative
        share = relative_shares(mass)
        for name in ("position", "velocity"):
            arrays[name] = -arrays[name][:, :, None, :] * share[:, None, :, None]
    return arrays, quality


def _relative_orbits(recipe: Recipe, gm: np.ndarray, rng: np.random.Generator) -> RelativeOrbits:
    if recipe.bound:
        orbits = sample_bound(recipe.law, recipe.ranges, gm, rng)
    else:
        orbits = sample_arcs(recipe.law, recipe.ranges, gm, recipe.times[-1], rng)
    return turn_in_space(orbits, rng) if recipe.config.dimensions == 3 else orbits


def _two_masses(recipe: Recipe, count: int, rng: np.random.Generator) -> np.ndarray:
    """(orbit, 2) M_sun; relative controlled orbits have one mass, the central one."""
    config = recipe.config
    star = sample_masses(count, config.population, _ends(config.mass), "star", rng)
    if config.system == "relative" and config.population == "controlled":
        return np.stack([star, np.zeros(count)], axis=1)
    companion = sample_masses(count, config.population, _ends(config.companion_mass), "planet", rng)
    return np.stack([star, companion], axis=1)


def _several(
    recipe: Recipe, count: int, rng: np.random.Generator, check: bool
) -> tuple[Arrays, Quality]:
    config, law, times = recipe.config, recipe.law, recipe.times
    if config.system == "solar":
        systems, _ = solar_systems(count, rng)
    else:
        star = sample_masses(count, config.population, _ends(config.mass), "star", rng)
        planets = sample_masses(
            count * config.planets, config.population, _ends(config.companion_mass), "planet", rng
        ).reshape(count, config.planets)
        systems = sample_planets(law, recipe.ranges, star, planets, config.hill_spacing, rng)
    start = systems.position, systems.velocity
    position, velocity = integrate_bodies(law, *start, systems.mass, times, config.simulator)
    checked = _some(count, rng)[: None if check else 0]
    again, _ = integrate_bodies(
        law,
        start[0][checked],
        start[1][checked],
        systems.mass[checked],
        times,
        recipe.check_simulator,
    )
    error = relative_error(_around_star(position[checked]), _around_star(again))
    quality = _quality(checked, error, body_drifts(law, position, velocity, systems.mass))
    arrays = {
        "position": position,
        "velocity": velocity,
        "gm": G * systems.mass.sum(axis=1),
        "mass": systems.mass,
        "semi_major_axis": systems.semi_major_axis,
        "eccentricity": systems.eccentricity,
    }
    return arrays, quality


def _around_star(position: np.ndarray) -> np.ndarray:
    return position[:, :, 1:] - position[:, :, :1]


def _some(count: int, rng: np.random.Generator) -> np.ndarray:
    """About one in a hundred orbits, at least one."""
    return np.sort(rng.choice(count, max(1, round(CHECKED_SHARE * count)), replace=False))


def _quality(checked: np.ndarray, error: np.ndarray, drifts: dict[str, np.ndarray]) -> Quality:
    worst = {name: float(np.max(values)) for name, values in drifts.items()}
    worst["relative_error"] = float(np.max(error, initial=0.0))
    return {"checked": len(checked), **worst}


def _ends(values: tuple[float, ...]) -> tuple[float, float]:
    return values[0], values[-1]
