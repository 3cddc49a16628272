"""Arcs within a range of separations, for laws without stable bound orbits."""

import numpy as np

from orbits.forces import ForceLaw
from orbits.populations.bound import RelativeOrbits
from orbits.populations.ranges import Ranges
from orbits.simulators.integrate import rk4_step


def sample_arcs(
    law: ForceLaw, ranges: Ranges, gm: np.ndarray, duration: float, rng: np.random.Generator
) -> RelativeOrbits:
    """Planar orbits whose separation stays inside the range for the whole duration.

    Candidates start anywhere in the range (log-uniformly), moving within 40 % of the circular
    speed and 0.5 rad of the transverse direction; each is followed through its radial equation
    r'' = a(r) + L^2/r^3 by fixed RK4 steps, and kept if it never comes near the range's ends:
    `min_perihelion` (or the smallest perihelion) and the largest aphelion. Such orbits have no
    semi-major axis and eccentricity: NaN.

    Raises:
        ValueError: if hardly any candidate stays.
    """
    low = ranges.min_perihelion or ranges.semi_major_axis[0] * (1 - ranges.eccentricity[1])
    high = ranges.semi_major_axis[1] * (1 + ranges.eccentricity[1])
    position, velocity = np.empty((len(gm), 2)), np.empty((len(gm), 2))
    missing = np.arange(len(gm))
    for _ in range(50):
        candidates = np.repeat(missing, 16)  # candidates for each orbit: the first that stays
        count = len(candidates)
        r = np.exp(rng.uniform(np.log(low), np.log(high), count))
        speed = np.sqrt(-law.radial_acceleration(r, gm[candidates]) * r)
        speed = speed * rng.uniform(0.6, 1.4, count)
        tilt = rng.uniform(-0.5, 0.5, count)
        angle = rng.uniform(0, 2 * np.pi, count)
        sense = np.where(rng.random(count) < 0.5, -1.0, 1.0)
        radial, across = speed * np.sin(tilt), speed * np.cos(tilt)
        stays = _stays(law, r, radial, r * across, gm[candidates], duration, (low, high))
        outward = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        ahead = np.stack([-outward[:, 1], outward[:, 0]], axis=-1) * sense[:, None]
        successes, first = np.unique(candidates[stays], return_index=True)
        first_good = np.flatnonzero(stays)[first]
        position[successes] = r[first_good, None] * outward[first_good]
        velocity[successes] = (
            radial[first_good, None] * outward[first_good]
            + across[first_good, None] * ahead[first_good]
        )
        missing = np.setdiff1d(missing, successes)
        if not len(missing):
            nothing = np.full(len(gm), np.nan)
            return RelativeOrbits(position, velocity, nothing, nothing.copy())
    raise ValueError(
        f"law {law.spec} keeps hardly any orbit between {low:g} and {high:g} au for {duration:g} "
        "yr; take fewer --samples, a smaller --dt or a wider range."
    )


def _stays(
    law: ForceLaw,
    r: np.ndarray,
    radial: np.ndarray,
    momentum: np.ndarray,
    gm: np.ndarray,
    duration: float,
    ends: tuple[float, float],
) -> np.ndarray:
    """(orbit,) whether each separation stays inside the ends, margin included."""
    low, high = ends[0] * 1.02, ends[1] * 0.98  # far above the error of the trial
    grid = np.geomspace(*ends, 64)
    fastest = np.sqrt(np.max(-law.radial_acceleration(grid, np.max(gm)) / grid))
    # 0.05 rad of the fastest circular motion: RK4 errs by ~1e-6
    steps = max(1, int(np.ceil(duration * fastest / 0.05)))
    h = duration / steps
    square = momentum**2
    r, radial = r.copy(), radial.copy()
    inside = (r > low) & (r < high)
    alive = np.flatnonzero(inside)
    for _ in range(steps):
        if not len(alive):
            break

        def pull(
            x: np.ndarray, m: np.ndarray = square[alive], g: np.ndarray = gm[alive]
        ) -> np.ndarray:
            return law.radial_acceleration(x, g) + m / x**3

        r[alive], radial[alive] = rk4_step(pull, r[alive], radial[alive], h)
        inside[alive] = (r[alive] > low) & (r[alive] < high)
        alive = alive[inside[alive]]
    return inside
