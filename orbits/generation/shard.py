"""Making the orbits of one shard: sample, integrate, and measure how well."""

from collections.abc import Callable
from typing import Any

import numpy as np

from orbits.frames import relative_shares
from orbits.generation.quality import body_drifts, relative_drifts, relative_error
from orbits.generation.recipe import Recipe, ends
from orbits.populations.arcs import sample_arcs
from orbits.populations.bound import RelativeOrbits, sample_bound, turn_in_space
from orbits.populations.planetary import Planetary, sample_masses, sample_planets
from orbits.simulators import States
from orbits.simulators.integrate import integrate, integrate_bodies
from orbits.units import G

CHECKED_SHARE = 0.01
"""Share of each shard's orbits that a second simulator integrates again."""

Arrays = dict[str, np.ndarray]
Quality = dict[str, Any]


def make_shard(
    recipe: Recipe, count: int, shard: int, check: bool = True
) -> tuple[Arrays, Quality]:
    """The variables of the format for so many orbits, and the quality of their integration.

    The number of the shard fixes, with the seed, every random number. With `check` a second
    simulator integrates some orbits again: `relative_error` is that of the positions of the
    `checked` orbits; drifts of the invariants are over all orbits.
    """
    seed = np.random.SeedSequence(recipe.config.seed, spawn_key=(shard,))
    rng = np.random.default_rng(seed)
    make = _several if recipe.config.system == "nbody" else _two
    return make(recipe, count, rng, check)


def _two(
    recipe: Recipe, count: int, rng: np.random.Generator, check: bool
) -> tuple[Arrays, Quality]:
    config, law = recipe.config, recipe.law
    star = sample_masses(count, config.population, ends(config.mass), "star", rng)
    if config.system == "relative" and config.population == "controlled":
        companion = np.zeros(count)  # the one mass is the central one
    else:
        limits = ends(config.companion_mass)
        companion = sample_masses(count, config.population, limits, "planet", rng)
    mass = np.stack([star, companion], axis=1)
    gm = G * mass.sum(axis=1)
    if recipe.bound:
        orbits = sample_bound(law, recipe.ranges, gm, rng)
    else:
        orbits = sample_arcs(law, recipe.ranges, gm, recipe.times[-1], rng)
    if config.dimensions == 3:
        orbits = turn_in_space(orbits, rng)
    states, again, checked = _followed(recipe, integrate, orbits, gm, rng, check)
    error = relative_error(states[0][checked], again)
    quality = _quality(error, relative_drifts(law, *states, gm))
    arrays = {
        "position": states[0],
        "velocity": states[1],
        "gm": gm,
        "semi_major_axis": orbits.semi_major_axis,
        "eccentricity": orbits.eccentricity,
    }
    if recipe.config.system == "barycentric":
        arrays["mass"] = mass
        # drawn is the second body as seen from the first, and x1 - x2 is its negative
        share = relative_shares(mass)
        for name in ("position", "velocity"):
            arrays[name] = -arrays[name][:, :, None, :] * share[:, None, :, None]
    return arrays, quality


def _followed(
    recipe: Recipe,
    follow: Callable[..., States],
    start: RelativeOrbits | Planetary,
    strength: np.ndarray,
    rng: np.random.Generator,
    check: bool,
) -> tuple[States, np.ndarray, np.ndarray]:
    """States at all times, positions again by another simulator, and which orbits those are.

    They are about one in a hundred, at least one.
    """
    law, times = recipe.law, recipe.times
    states = follow(law, start.position, start.velocity, strength, times, recipe.config.simulator)
    count = len(strength)
    some = rng.choice(count, max(1, round(CHECKED_SHARE * count)), replace=False)
    checked = np.sort(some) if check else some[:0]
    again, _ = follow(
        law, start.position[checked], start.velocity[checked], strength[checked], times,
        recipe.check_simulator,
    )  # fmt: skip
    return states, again, checked


def _several(
    recipe: Recipe, count: int, rng: np.random.Generator, check: bool
) -> tuple[Arrays, Quality]:
    config, law = recipe.config, recipe.law
    star = sample_masses(count, config.population, ends(config.mass), "star", rng)
    planets = sample_masses(
        count * config.planets, config.population, ends(config.companion_mass), "planet", rng
    ).reshape(count, config.planets)
    systems = sample_planets(law, recipe.ranges, star, planets, config.hill_spacing, rng)
    states, again, checked = _followed(recipe, integrate_bodies, systems, systems.mass, rng, check)
    # around the star
    error = relative_error(*(x[:, :, 1:] - x[:, :, :1] for x in (states[0][checked], again)))
    quality = _quality(error, body_drifts(law, *states, systems.mass))
    arrays = {
        "position": states[0],
        "velocity": states[1],
        "gm": G * systems.mass.sum(axis=1),
        "mass": systems.mass,
        "semi_major_axis": systems.semi_major_axis,
        "eccentricity": systems.eccentricity,
    }
    return arrays, quality


def _quality(error: np.ndarray, drifts: dict[str, np.ndarray]) -> Quality:
    worst = {name: float(np.max(values)) for name, values in drifts.items()}
    worst["relative_error"] = float(np.max(error, initial=0.0))
    return {"checked": len(error), **worst}
