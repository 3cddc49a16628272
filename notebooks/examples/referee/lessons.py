"""What the networks are taught: positions, and where a teacher takes each of them next.

Orbits teach their own next position. A teacher says it for arcs of any speed and direction that
were kicked on the way, and whose next position it does not determine.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from grid import DT, NEWTON, kicked_past

import orbits
from orbits.forces import ForceLaw
from orbits.populations.bound import orbits_between_apsides
from orbits.populations.ranges import Ranges
from worldmodel.controls.ellipse import FEWEST, continue_ellipse
from worldmodel.controls.lookups import Lookup, thin_plate

ORBITS, SAMPLES = 1000, 200
"""Of a lesson of orbits; the defaults of `orbits generate`."""
ARCS, ARC = 3000, 32
"""Of a lesson by a teacher: arcs, and positions of each, the longest context."""
NEAR, FAR = 0.28, 2.9
"""au, of the ordinary orbits."""
KICK = 1.0
"""rad, to either side, by which the arcs of a teacher are turned half-way."""
NEIGHBOURS = 40
"""Of the spline; the strongest lookup of this project has 150 and takes ten times as long."""


@dataclass(frozen=True)
class Lesson:
    """Positions (arc, time, axis) and those that the teacher has follow each, au; NaN if none."""

    seen: np.ndarray
    following: np.ndarray


def of_orbits(positions: np.ndarray) -> Lesson:
    return Lesson(positions[:, :-1], positions[:, 1:])


def ordinary(seed: int, law: str = "newton", **ranges: tuple[float, float]) -> Lesson:
    """Orbits as `orbits generate` makes them."""
    made = orbits.generate(
        law=law, orbits=ORBITS, seed=seed, workers=1, samples=SAMPLES, dt=DT, progress=False,
        **ranges,
    )  # fmt: skip
    return of_orbits(made["position"].values.astype(np.float64))


def followed_on(law: ForceLaw, x: np.ndarray, v: np.ndarray, steps: int, kicks: bool) -> np.ndarray:
    """(orbit, time, axis) positions from states at time 0; half of them are kicked on the way."""
    from worldmodel.flow import follow

    random, gm = np.random.default_rng(3), np.full(len(x), orbits.GM_SUN)
    at = random.integers(1, steps, len(x)) if kicks else np.full(len(x), -1)
    at[::2] = -1
    found = [x]
    for step in range(1, steps):
        x, v = follow(law, x, v, gm, DT)
        now = at == step
        v[now] = turned(v[now], random.uniform(-0.5, 0.5, now.sum()))
        found.append(x)
    return np.stack(found, axis=1)


def turned(v: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Velocities turned by angles, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * v[:, 0] - s * v[:, 1], s * v[:, 0] + c * v[:, 1]), axis=1)


def sampled(seed: int, one_sense: bool, kicks: bool = False) -> Lesson:
    """Orbits of the ordinary sizes and shapes, which all revolve alike, or some of them kicked."""
    random = np.random.default_rng(seed)
    a, e = Ranges().draw(ORBITS, random)
    gm = np.full(ORBITS, orbits.GM_SUN)
    states = orbits_between_apsides(NEWTON, a, e, gm, random, one_sense)
    positions = followed_on(NEWTON, states.position, states.velocity, SAMPLES, kicks)
    r = np.linalg.norm(positions, axis=2)
    return of_orbits(positions[((r > NEAR / 2) & (r < 2 * FAR)).all(axis=1)])


def arcs(seed: int) -> np.ndarray:
    """(arc, time, axis) positions of arcs that were kicked half-way, which end anywhere between the
    distances of the ordinary orbits, at 0 to 2 circular speeds in any direction."""
    random = np.random.default_rng((seed, 1))
    r = np.exp(random.uniform(np.log(NEAR), np.log(FAR), 2 * ARCS))
    speed = random.uniform(0, 2, 2 * ARCS) * np.sqrt(orbits.GM_SUN / r)
    bearing, angle, turn = random.uniform(-np.pi, np.pi, (3, 2 * ARCS))
    x = r[:, None] * np.stack((np.cos(bearing), np.sin(bearing)), axis=1)
    v = speed[:, None] * np.stack((np.cos(bearing + angle), np.sin(bearing + angle)), axis=1)
    gm = np.full(2 * ARCS, orbits.GM_SUN)
    past = kicked_past(NEWTON, x, v, gm, ARC, turn * KICK / np.pi)
    at = np.linalg.norm(past, axis=2)
    return past[((at > NEAR) & (at < FAR)).all(axis=1)][:ARCS]


def bent(seen: np.ndarray, bend: np.ndarray) -> Lesson:
    """The teacher's second difference (arc, time, axis) added to the last step."""
    following = np.full(seen.shape, np.nan)
    following[:, 1:] = 2 * seen[:, 1:] - seen[:, :-1] + bend[:, 1:]
    return Lesson(seen, following)


def newtons_bend(seen: np.ndarray) -> np.ndarray:
    """au, by Störmer's rule."""
    flat = seen.reshape(-1, 2)
    return (NEWTON.acceleration(flat, np.full(len(flat), orbits.GM_SUN)) * DT**2).reshape(
        seen.shape
    )


def by_law(seed: int) -> Lesson:
    """Newton's law as a teacher."""
    seen = arcs(seed)
    return bent(seen, newtons_bend(seen))


def permuted(seed: int) -> Lesson:
    """Newton's second differences, dealt anew among states of one distance: the size of the force
    is right, its direction that of another state."""
    seen = arcs(seed)
    bend = newtons_bend(seen).reshape(-1, 2)
    order = np.argsort(np.linalg.norm(seen.reshape(-1, 2), axis=1))
    random, alike = np.random.default_rng((seed, 2)), 200
    dealt = bend.copy()
    for start in range(0, len(order), alike):
        rows = order[start : start + alike]
        dealt[rows] = bend[random.permutation(rows)]
    return bent(seen, dealt.reshape(seen.shape))


def by_spline(seed: int) -> Lesson:
    """A thin-plate spline through the nearest triples of the ordinary orbits as a teacher."""
    lookup = Lookup(ordinary(seed).seen, 2, NEIGHBOURS, thin_plate, most=20_000)
    seen = arcs(seed)
    return Lesson(seen, lookup.predict(seen))


def by_ellipse(seed: int) -> Lesson:
    """An ellipse through all positions since the arc began, at least three, as a teacher."""
    seen = arcs(seed)
    following = np.full(seen.shape, np.nan)
    for last in range(FEWEST, seen.shape[1] + 1):
        following[:, last - 1] = continue_ellipse(seen[:, :last])
    return Lesson(seen, following)


LESSONS: dict[str, Callable[[int], Lesson]] = {
    "orbits": ordinary,
    "kicked orbits": lambda seed: sampled(seed, one_sense=False, kicks=True),
    "law": by_law,
    "circles": lambda seed: ordinary(seed, eccentricity=(0.0, 0.05)),
    "one sense": lambda seed: sampled(seed, one_sense=True),
    "one shell": lambda seed: ordinary(
        seed, semi_major_axis=(0.9, 1.1), eccentricity=(0.0, 0.2)
    ),
    "another law": lambda seed: ordinary(seed, "power_law(n=2.5)"),
    "spline": by_spline,
    "ellipse": by_ellipse,
    "permuted": permuted,
}  # fmt: skip
"""The first three teach Newton's force, it is hoped; the others something else."""
POSITIVE = ("orbits", "kicked orbits", "law")
