"""States to ask for: one density that shares refer to, and families beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from orbits.forces import ForceLaw
from worldmodel.rows import Rows


@dataclass(frozen=True)
class StateRange:
    """States of motion at one place: ranges of speed and direction.

    speed: over the local circular one.
    angle: from the outward direction, rad, to either side.
    """

    speed: tuple[float, float]
    angle: tuple[float, float]


DENSITY = "any"
"""The states that every share refers to: distance log-uniform over those of training, speed uniform
from 0 to 2 circular ones, direction uniform."""
FAMILIES = {
    DENSITY: StateRange((0.0, 2.0), (0.0, np.pi)),
    "at rest": StateRange((0.0, 0.05), (0.0, np.pi)),
    "inward": StateRange((0.25, 1.4), (np.pi, np.pi)),
    "outward": StateRange((0.25, 1.4), (0.0, 0.0)),
    "slow": StateRange((0.25, 0.75), (np.pi / 2, np.pi / 2)),
    "circular": StateRange((0.75, 1.25), (np.pi / 2, np.pi / 2)),
    "fast": StateRange((1.25, 2.0), (np.pi / 2, np.pi / 2)),
    "unbound": StateRange((1.5, 2.0), (0.0, np.pi)),
}
"""Families that only add tests: some have no share of the density at all, such as exactly radial
motion. Bound orbits of moderate eccentricity contain only the circular ones."""


@dataclass(frozen=True)
class World:
    """What moves the states, and how they are shown.

    Attributes:
        law: the force.
        dt: time between two positions, yr.
        radius: distances of training, au; of two visible bodies from each other.
        gm: (orbit,) of the orbits shown, au^3/yr^2.
        mass: (orbit, body) of these, M_sun, if two bodies are visible.
        axes: of a position.
        gm_varies: whether `gm` differs between orbits: then only the past tells it.
    """

    law: ForceLaw
    dt: float
    radius: tuple[float, float]
    gm: Float[np.ndarray, " orbit"]
    mass: Float[np.ndarray, "orbit body"] | None
    axes: int
    gm_varies: bool = False


@dataclass(frozen=True)
class States(Rows):
    """Places and velocities under a law.

    position, velocity: (state, axis), au and au/yr.
    gm: (state,) au^3/yr^2.
    mass: (state, body) M_sun, if two bodies are visible.
    family: (state,) names.
    """

    position: Float[np.ndarray, "state axis"]
    velocity: Float[np.ndarray, "state axis"]
    gm: Float[np.ndarray, " state"]
    mass: Float[np.ndarray, "state body"] | None
    family: np.ndarray

    def called(self, family: str) -> "States":
        """The same states as a family of another name."""
        return replace(self, family=np.full(len(self.gm), family))


def drawn(
    world: World,
    counts: Mapping[str, int],
    random: np.random.Generator,
    radius: tuple[float, float] | None = None,
) -> States:
    """So many states of each family; distances log-uniform in `radius` (au), by default those of
    training, GM and masses from the orbits."""
    low, high = radius or world.radius
    family = np.repeat(list(counts), list(counts.values()))
    rows = random.integers(len(world.gm), size=len(family))
    gm = world.gm[rows].astype(np.float64)
    outward, other = random.standard_normal((2, len(family), world.axes))
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    across = other - np.sum(other * outward, axis=1, keepdims=True) * outward
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    distance = np.exp(random.uniform(np.log(low), np.log(high), len(family)))
    x = distance[:, None] * outward
    pull = np.linalg.norm(world.law.acceleration(x, gm), axis=1)
    motions = [FAMILIES[name] for name in counts]
    ranges = np.array([(motion.speed, motion.angle) for motion in motions])
    ranges = np.repeat(ranges, list(counts.values()), axis=0)
    fraction = random.uniform(size=(2, len(family)))
    speed = ranges[:, 0, 0] + fraction[0] * (ranges[:, 0, 1] - ranges[:, 0, 0])
    if world.axes == 2:
        angle = ranges[:, 1, 0] + fraction[1] * (ranges[:, 1, 1] - ranges[:, 1, 0])
    else:  # uniform over the sphere: in the cosine
        ends = np.cos(ranges[:, 1])
        angle = np.arccos(np.clip(ends[:, 0] + fraction[1] * (ends[:, 1] - ends[:, 0]), -1, 1))
    speed *= np.sqrt(pull * distance)
    v = speed[:, None] * (np.cos(angle)[:, None] * outward + np.sin(angle)[:, None] * across)
    mass = None if world.mass is None else world.mass[rows]
    return States(x, v, gm, mass, family)
