"""Planetary systems: masses, and planets that keep apart."""

from dataclasses import dataclass

import numpy as np

from orbits.forces import ForceLaw
from orbits.populations.bound import RelativeOrbits, apsides_allowed, orbits_between_apsides
from orbits.populations.ranges import Ranges
from orbits.units import G

APSIS_SPACING = 2 * 3**0.5
"""Mutual Hill radii between one planet's aphelion and the next one's perihelion.

Two circular orbits farther apart than this never meet: Gladman, Icarus 106, 247 (1993), eq. 1.
"""


@dataclass(frozen=True)
class Planetary:
    """States of stars with planets, centre of mass at rest at the origin.

    `position`, `velocity`: (system, body, 3), the star first, planets outwards; `mass`: (system,
    body); `semi_major_axis`, `eccentricity`: (system, planet), of the orbits around the star.
    """

    position: np.ndarray
    velocity: np.ndarray
    mass: np.ndarray
    semi_major_axis: np.ndarray
    eccentricity: np.ndarray


def sample_masses(
    count: int, population: str, limits: tuple[float, float], kind: str, rng: np.random.Generator
) -> np.ndarray:
    """(count,) masses of the kind `star` or `planet`, M_sun.

    The `controlled` population is log-uniform between the limits. In `exoplanets` stars have a
    lognormal distribution about 1 M_sun, and planets a gamma distribution. Both are clipped.
    """
    if population == "controlled":
        low, high = limits
        return low * (high / low) ** rng.random(count)
    if kind == "star":
        return np.clip(rng.lognormal(0.0, 0.5, count), 0.1, 5.0)
    # mostly Earths (3e-6) to Neptunes (5e-5), and none above Jupiter (1e-3)
    return np.clip(rng.gamma(0.5, 3e-5, count), 1e-9, 1e-3)


def sample_planets(
    law: ForceLaw,
    ranges: Ranges,
    star_mass: np.ndarray,
    planet_mass: np.ndarray,
    spacing: float,
    rng: np.random.Generator,
) -> Planetary:
    """Stars with planets, kept only where neighbours stay out of each other's reach.

    Planets are put in one by one; one that comes within `APSIS_SPACING` mutual Hill radii of
    another's apsides, or whose semi-major axis is within `spacing` mutual Hill radii of another's
    (10: Chambers, Wetherill & Boss, Icarus 119, 261 (1996)), is drawn again. Masses, M_sun, are
    (system,) and (system, planet).

    Raises:
        ValueError: if there is hardly room for so many planets.
    """
    systems, planets = planet_mass.shape
    a, e = _room_for_all(law, ranges, star_mass, planet_mass, spacing, rng)
    order = np.argsort(a, axis=1)
    a, e = (np.take_along_axis(values, order, axis=1) for values in (a, e))
    planet_mass = np.take_along_axis(planet_mass, order, axis=1)
    gm = G * (star_mass[:, None] + planet_mass)
    flat = orbits_between_apsides(law, a.ravel(), e.ravel(), gm.ravel(), rng, one_sense=True)
    tilted = _tilt(flat, rng)
    shape = (systems, planets, 3)
    position, velocity = _turn(tilted[0].reshape(shape), tilted[1].reshape(shape), rng)
    mass = np.concatenate([star_mass[:, None], planet_mass], axis=1)
    return Planetary(*at_rest(position, velocity, mass), mass, a, e)


def at_rest(
    position: np.ndarray, velocity: np.ndarray, mass: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(system, body, axis) states, centre of mass at rest, from planets' states around their star.

    The star comes first, in the (system, body) masses too.
    """
    weights = (mass / mass.sum(axis=1, keepdims=True))[..., None]

    def inertial(planets: np.ndarray) -> np.ndarray:
        bodies = np.concatenate([np.zeros_like(planets[:, :1]), planets], axis=1)
        return bodies - np.sum(weights * bodies, axis=1, keepdims=True)

    return inertial(position), inertial(velocity)


def _room_for_all(
    law: ForceLaw,
    ranges: Ranges,
    star_mass: np.ndarray,
    planet_mass: np.ndarray,
    spacing: float,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """(system, planet) semi-major axes and eccentricities."""
    systems, planets = planet_mass.shape
    a, e = np.zeros((systems, planets)), np.zeros((systems, planets))
    placed = np.zeros(systems, dtype=int)
    failures = np.zeros(systems, dtype=int)
    restarts = 0
    while len(open_ones := np.flatnonzero(placed < planets)):
        new_a, new_e = ranges.draw(len(open_ones), rng)
        mass = planet_mass[open_ones, placed[open_ones]]
        gm = G * (star_mass[open_ones] + mass)
        fits = apsides_allowed(law, new_a, new_e, gm)
        for other in range(int(placed.max())):
            beside = other < placed[open_ones]
            apart = _apart(
                (new_a, new_e, mass),
                (a[open_ones, other], e[open_ones, other], planet_mass[open_ones, other]),
                star_mass[open_ones],
                spacing,
            )
            fits &= apart | ~beside
        successes = open_ones[fits]
        a[successes, placed[successes]], e[successes, placed[successes]] = new_a[fits], new_e[fits]
        placed[successes] += 1
        failures[open_ones[~fits]] += 1
        failures[successes] = 0
        given_up = failures > 300  # the planets there may leave no room: begin anew
        restarts += int(given_up.sum())
        if restarts > 30 * systems:
            raise ValueError(
                f"there is hardly any room for {planets} planets between "
                f"{ranges.semi_major_axis[0]:g} and {ranges.semi_major_axis[1]:g} au; take fewer "
                "--planets, a wider --semi-major-axis, smaller --eccentricity or --companion-mass."
            )
        placed[given_up] = failures[given_up] = 0
    return a, e


def _apart(
    new: tuple[np.ndarray, np.ndarray, np.ndarray],
    old: tuple[np.ndarray, np.ndarray, np.ndarray],
    star_mass: np.ndarray,
    spacing: float,
) -> np.ndarray:
    """(system,) whether two planets (a, e, mass) stay out of each other's reach."""
    hill = (
        np.cbrt((new[2] + old[2]) / (3 * star_mass)) * 0.5 * (new[0] + old[0])
    )  # mutual Hill radius: Chambers et al. (1996), eq. 1
    outer_is_new = new[0] > old[0]
    inner_a, outer_a = np.minimum(new[0], old[0]), np.maximum(new[0], old[0])
    inner_e = np.where(outer_is_new, old[1], new[1])
    outer_e = np.where(outer_is_new, new[1], old[1])
    gap = outer_a * (1 - outer_e) - inner_a * (1 + inner_e)
    return (outer_a - inner_a > spacing * hill) & (gap > APSIS_SPACING * hill)


def _tilt(orbits: RelativeOrbits, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(orbit, 3) states inclined a little to the common plane, around random nodes."""
    count = len(orbits.position)
    # degrees, Rayleigh's scale: Fabrycky et al., ApJ 790, 146 (2014), find 1.0 to 2.2
    inclination = rng.rayleigh(np.deg2rad(1.5), count)
    node = rng.uniform(0, 2 * np.pi, count)
    axis = np.stack([np.cos(node), np.sin(node), np.zeros(count)], axis=-1)
    c, s = np.cos(inclination)[:, None], np.sin(inclination)[:, None]

    def rotated(planar: np.ndarray) -> np.ndarray:  # by Rodrigues' formula
        vector = np.concatenate([planar, np.zeros((count, 1))], axis=-1)
        along = np.sum(axis * vector, axis=-1, keepdims=True) * axis
        return c * vector + s * np.cross(axis, vector) + (1 - c) * along

    return rotated(orbits.position), rotated(orbits.velocity)


def _turn(
    position: np.ndarray, velocity: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Each system turned at random as a whole, isotropically."""
    random = rng.normal(size=(len(position), 4))  # quaternions
    w, x, y, z = (random / np.linalg.norm(random, axis=1, keepdims=True)).T
    rows = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    matrix = np.ascontiguousarray(np.moveaxis(rows, 2, 0))
    return np.einsum("sij,spj->spi", matrix, position), np.einsum("sij,spj->spi", matrix, velocity)
