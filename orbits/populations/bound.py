"""Bound orbits under any law: two apsides, a random time in the period, a random direction."""

from dataclasses import dataclass, replace

import numpy as np

from orbits.forces import ForceLaw
from orbits.populations.ranges import Ranges

QUADRATURE = 128
"""Midpoints along half a radial period; the integrand is smooth, so this is far below 1e-6."""

CIRCULAR = 1e-6
"""Eccentricity below which apsides are too close to divide by their distance."""


@dataclass(frozen=True)
class RelativeOrbits:
    """States of relative two-body orbits at time 0.

    `semi_major_axis` and `eccentricity` describe the apsides, r1 = a(1 - e) and r2 = a(1 + e),
    whatever the law; they are NaN for arcs that have no apsides.
    """

    position: np.ndarray
    velocity: np.ndarray
    semi_major_axis: np.ndarray
    eccentricity: np.ndarray


def bound_share(law: ForceLaw, ranges: Ranges, gm: float) -> float:
    """Share of sampled apsis pairs between which the law has an orbit; fixed sample."""
    rng = np.random.default_rng(0)
    a, e = ranges.draw(2048, rng)
    return float(np.mean(apsides_allowed(law, a, e, np.full(len(a), gm))))


def sample_bound(
    law: ForceLaw, ranges: Ranges, gm: np.ndarray, rng: np.random.Generator
) -> RelativeOrbits:
    """Bound planar orbits between two apsides, at a random time in their radial period.

    Pairs of apsides without a stable orbit between them are drawn again.

    Raises:
        ValueError: if hardly any pair of apsides has an orbit.
    """
    count = len(gm)
    a, e = np.empty(count), np.empty(count)
    missing = np.arange(count)
    for _ in range(200):
        a[missing], e[missing] = ranges.draw(len(missing), rng)
        missing = missing[~apsides_allowed(law, a[missing], e[missing], gm[missing])]
        if not len(missing):
            break
    else:
        raise ValueError(
            f"law {law.spec} has hardly any bound orbit with a from "
            f"{ranges.semi_major_axis[0]:g} to {ranges.semi_major_axis[1]:g} au; "
            "choose another --semi-major-axis."
        )
    return orbits_between_apsides(law, a, e, gm, rng)


def orbits_between_apsides(
    law: ForceLaw,
    a: np.ndarray,
    e: np.ndarray,
    gm: np.ndarray,
    rng: np.random.Generator,
    one_sense: bool = False,
) -> RelativeOrbits:
    """Planar orbits with given apsides, at a random time in their radial period.

    Half the sum of the apsides is `a`, au, their difference over their sum `e`; the law must have
    these orbits (`apsides_allowed`). The direction of perihelion is random. With `one_sense` all
    revolve from x to y, otherwise a random half does.
    """
    count = len(a)
    r, radial, momentum = _random_phase(law, a, e, gm, rng)
    angle = rng.uniform(0, 2 * np.pi, count)
    sense = np.where(one_sense | (rng.random(count) < 0.5), 1.0, -1.0)
    outward = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    ahead = np.stack([-outward[:, 1], outward[:, 0]], axis=-1) * sense[:, None]
    position = r[:, None] * outward
    velocity = radial[:, None] * outward + (momentum / r)[:, None] * ahead
    return RelativeOrbits(position, velocity, a, e)


def turn_in_space(orbits: RelativeOrbits, rng: np.random.Generator) -> RelativeOrbits:
    """The planar orbits in three dimensions, with isotropic planes.

    The rotation takes z to a uniform direction; the angle in the plane is already uniform.
    """
    count = len(orbits.position)
    cosine = rng.uniform(-1, 1, count)
    node = rng.uniform(0, 2 * np.pi, count)
    sine = np.sqrt(1 - cosine**2)
    first = np.stack([np.cos(node), np.sin(node), np.zeros(count)], axis=-1)
    second = np.stack([-np.sin(node) * cosine, np.cos(node) * cosine, sine], axis=-1)

    def lifted(planar: np.ndarray) -> np.ndarray:
        return planar[:, :1] * first + planar[:, 1:] * second

    position, velocity = lifted(orbits.position), lifted(orbits.velocity)
    return replace(orbits, position=position, velocity=velocity)


def _momentum_square(
    law: ForceLaw, a: np.ndarray, e: np.ndarray, gm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(orbit,) squared angular momentum and energy of the orbit between two apsides."""
    near, far = a * (1 - e), a * (1 + e)
    phi_near, phi_far = law.potential(near, gm), law.potential(far, gm)
    round_orbit = e < CIRCULAR
    gap = np.where(round_orbit, 1.0, 1 / near**2 - 1 / far**2)
    square = np.where(
        round_orbit,
        -law.radial_acceleration(a, gm) * a**3,  # of a circle: v² = a·r
        2 * (phi_far - phi_near) / gap,
    )
    return square, phi_near + 0.5 * square / near**2


def apsides_allowed(law: ForceLaw, a: np.ndarray, e: np.ndarray, gm: np.ndarray) -> np.ndarray:
    """(orbit,) whether a body really swings between the two apsides.

    It does if the radial kinetic energy is positive everywhere between them; that also makes the
    turning points stable. A nearly circular orbit is tried with a small eccentricity instead.
    """
    e = np.maximum(e, 1e-3)
    square, energy = _momentum_square(law, a, e, gm)
    middles = (np.arange(QUADRATURE) + 0.5) * np.pi / QUADRATURE
    r = a[:, None] * (1 - e[:, None] * np.cos(middles))
    radial = 2 * (energy[:, None] - law.potential(r, gm[:, None])) - square[:, None] / r**2
    return (square > 0) & np.all(radial > 0, axis=1)


def _random_phase(
    law: ForceLaw, a: np.ndarray, e: np.ndarray, gm: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(orbit,) separation, radial speed and angular momentum at a time uniform in the period.

    With r = a(1 - e cos u) the time element dt = dr/v_r has no singularity at the apsides, so
    midpoints in u give the time since the near apsis, which is then inverted.
    """
    square, energy = _momentum_square(law, a, e, gm)
    edges = np.arange(QUADRATURE + 1) * np.pi / QUADRATURE
    middles = 0.5 * (edges[1:] + edges[:-1])
    e_safe = np.maximum(e, CIRCULAR)
    r = a[:, None] * (1 - e_safe[:, None] * np.cos(middles))
    radial = 2 * (energy[:, None] - law.potential(r, gm[:, None])) - square[:, None] / r**2
    with np.errstate(invalid="ignore", divide="ignore"):
        duration = a[:, None] * e_safe[:, None] * np.sin(middles) / np.sqrt(radial)
    # nearly round orbits: uniform in u is wrong by e, where dt/du is rounding
    duration = np.where((e < 1e-3)[:, None], 1.0, duration)
    elapsed = np.concatenate([np.zeros((len(a), 1)), np.cumsum(duration, axis=1)], axis=1)
    fraction = rng.uniform(-1, 1, len(a))  # of half a period; negative: inbound
    target = np.abs(fraction) * elapsed[:, -1]
    cell = np.clip(np.sum(elapsed <= target[:, None], axis=1) - 1, 0, QUADRATURE - 1)
    rows = np.arange(len(a))
    inside = (target - elapsed[rows, cell]) / duration[rows, cell]
    u = (cell + inside) * np.pi / QUADRATURE
    separation = a * (1 - e * np.cos(u))
    squared = 2 * (energy - law.potential(separation, gm)) - square / separation**2
    speed = np.where(e < CIRCULAR, 0.0, np.sqrt(np.maximum(squared, 0.0)))
    return separation, np.sign(fraction) * speed, np.sqrt(square)
