"""The truth of a network: how much of a grid of states has Newton's acceleration.

One set of states for every context: their arcs of `LONGEST` positions, smooth and kicked, stay
between the distances of training.
"""

from functools import cache
from typing import Any

import numpy as np

import orbits
from orbits.forces import ForceLaw
from worldmodel.flow import follow

DT = 0.008
"""yr."""
NEWTON = orbits.parse_law("newton")
DISTANCES = np.geomspace(0.4, 2.4, 10)
"""au: the past of most states then lies between the distances of training."""
SPEEDS = np.linspace(0.1, 1.9, 7)
"""Circular speeds."""
ANGLES = np.linspace(0, 2 * np.pi, 16, endpoint=False)
"""From the outward direction to the velocity."""
LONGEST = 32
"""Positions of the longest context."""
TURN = 0.5
"""Of a kick, rad: the largest of the probes' kicks."""
KICKED = "kicked_within_10"
"""Share of the grid within 10 % behind kicked arcs: an ellipse through the past has none of it."""


def followed_back(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """(state, time, axis) positions and velocities over so many steps that end in the states."""
    states = [(position, velocity)]
    for _ in range(steps):
        states.append(follow(law, *states[-1], gm, -DT))
    x, v = (np.stack(parts[::-1], axis=1) for parts in zip(*states, strict=True))
    return x, v


def kicked_past(
    law: ForceLaw,
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    length: int,
    turn: float | np.ndarray,
) -> np.ndarray:
    """(state, time, axis) so many positions that end in the given states; half-way through, the
    velocity was turned by so many radians."""
    kick = length // 2
    past, speeds = followed_back(law, position, velocity, gm, kick)
    c, s = np.cos(turn), np.sin(turn)
    vx, vy = speeds[:, 0].T
    turned = np.stack((c * vx - s * vy, s * vx + c * vy), axis=1)
    before, _ = followed_back(law, past[:, 0], turned, gm, length - 1 - kick)
    return np.concatenate((before[:, :-1], past), axis=1)


@cache
def states() -> tuple[np.ndarray, np.ndarray]:
    """(state, axis) positions, au, and velocities, au/yr, of the grid."""
    r, speed, angle = (each.ravel() for each in np.meshgrid(DISTANCES, SPEEDS, ANGLES))
    bearing = np.random.default_rng(5).uniform(0, 2 * np.pi, len(r))
    outward = np.stack((np.cos(bearing), np.sin(bearing)), axis=1)
    across = np.stack((-np.sin(bearing), np.cos(bearing)), axis=1)
    position = r[:, None] * outward
    velocity = (speed * np.sqrt(orbits.GM_SUN / r))[:, None] * (
        np.cos(angle)[:, None] * outward + np.sin(angle)[:, None] * across
    )
    gm = np.full(len(r), orbits.GM_SUN)
    inside = np.ones(len(r), dtype=bool)
    for turn in (0.0, TURN):
        distance = np.linalg.norm(
            kicked_past(NEWTON, position, velocity, gm, LONGEST, turn), axis=-1
        )
        inside &= ((distance > 0.3) & (distance < 2.8)).all(axis=1)
    return position[inside], velocity[inside]


@cache
def arcs(steps: int, turn: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arcs of so many positions that end in the states of the grid, the position after each, and
    the acceleration there. Half-way through each the velocity was turned by so many radians.

    Returns:
        (state, time, axis), (state, axis) au, (state, axis) au/yr².
    """
    position, velocity = states()
    gm = np.full(len(position), orbits.GM_SUN)
    past = kicked_past(NEWTON, position, velocity, gm, max(steps, 2), turn)
    ahead, _ = follow(NEWTON, position, velocity, gm, DT)
    return past, ahead, NEWTON.acceleration(position, gm)


def errors(model: Any, turn: float = 0.0) -> np.ndarray:
    """Relative errors of the acceleration that the model implies on the grid: what its next
    position misses, over dt², over the law's acceleration. (state,)"""
    past, ahead, acceleration = arcs(model.context_length, turn)
    off = np.linalg.norm(model.predict(past)[:, -1] - ahead, axis=1) / DT**2
    return off / np.linalg.norm(acceleration, axis=1)


def truth(model: Any) -> dict[str, float]:
    """How much of the grid the network has right, behind smooth arcs and behind arcs that were
    kicked (`KICKED`)."""
    off, kicked = errors(model), errors(model, TURN)
    return {
        "within_10": float(np.mean(off <= 0.1)),
        KICKED: float(np.mean(kicked <= 0.1)),
        "median_error": float(np.nanmedian(off)),
        "states": len(off),
    }
