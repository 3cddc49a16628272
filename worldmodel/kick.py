"""The kick test: change the velocity or the mass in mid-orbit and see whether the model follows.

A model that obeys the force needs only the present state; one that fits an ellipse to the past is
wrong until the kick has left its context.
"""

import contextlib
import dataclasses

import numpy as np
from jaxtyping import Float

from orbits.forces import ForceLaw
from orbits.generation.recipe import choose_simulator
from orbits.simulators.base import IntegrationError
from orbits.simulators.integrate import integrate


@dataclasses.dataclass(frozen=True)
class KickedArcs:
    """Orbits kicked at one time.

    position, velocity: (orbit, time, axis), au and au/yr; `velocity` at the kick is the new one.
    After the kick they are NaN for a body that falls into the centre before the last time.
    """

    position: Float[np.ndarray, "orbit time axis"]
    velocity: Float[np.ndarray, "orbit time axis"]


def turned_at_random(
    position: Float[np.ndarray, "orbit axis"],
    velocity: Float[np.ndarray, "orbit axis"],
    angle: float,
    scale: tuple[float, float],
    random: np.random.Generator,
) -> Float[np.ndarray, "orbit axis"]:
    """The velocity turned in the orbit's plane by angles within ±`angle` (rad), times factors
    within `scale`."""
    turn = random.uniform(-angle, angle, len(position))
    return turned(position, velocity, turn, random.uniform(*scale, len(position)))


def turned(
    position: Float[np.ndarray, "orbit axis"],
    velocity: Float[np.ndarray, "orbit axis"],
    angle: Float[np.ndarray, " orbit"],
    factor: Float[np.ndarray, " orbit"],
) -> Float[np.ndarray, "orbit axis"]:
    """The velocity turned outwards in the orbit's plane by an angle (rad), times a factor."""
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
    along = velocity / speed
    across = position - (position * along).sum(-1, keepdims=True) * along
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    turn = angle[:, None]
    return factor[:, None] * speed * (np.cos(turn) * along + np.sin(turn) * across)


def kicked_at(
    position: Float[np.ndarray, "orbit time axis"],
    velocity: Float[np.ndarray, "orbit time axis"],
    new_gm: Float[np.ndarray, " orbit"],
    law: ForceLaw,
    dt: float,
    at: int,
    steps: int,
    new_velocity: Float[np.ndarray, "orbit axis"] | None = None,
) -> KickedArcs:
    """Orbits unchanged up to a time, and from there under the law with the new values.

    Args:
        position: au, of undisturbed orbits.
        velocity: au/yr.
        new_gm: au^3/yr^2 from the kick on.
        law: moves the bodies.
        dt: time between two states, yr.
        at: index of the time of the kick; the position there is the old one.
        steps: states to follow after the kick.
        new_velocity: au/yr; by default the old one.
    """
    position, velocity = position.astype(np.float64), velocity.astype(np.float64)
    start = velocity[:, at] if new_velocity is None else new_velocity
    times = np.arange(steps + 1) * dt
    arc, arc_velocity = followed(law, position[:, at], start, new_gm, times)
    return KickedArcs(
        position=np.concatenate((position[:, :at], arc), axis=1),
        velocity=np.concatenate((velocity[:, :at], arc_velocity), axis=1),
    )


def followed(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(orbit, time, axis) positions and velocities; NaN for a body that falls into the centre."""
    # without heyoka, whose compilation takes longer than these few short arcs; Kepler's equation
    # refuses unbound arcs, which scipy takes one by one
    simulators = [choose_simulator(law, but="heyoka"), "scipy"][len(gm) == 1 :]
    with contextlib.suppress(IntegrationError):
        return integrate(law, position, velocity, gm, times, simulators[0])
    if len(gm) == 1:
        nothing = np.full((1, len(times), position.shape[1]), np.nan)
        return nothing, nothing.copy()
    half = len(gm) // 2
    parts = [
        followed(law, position[part], velocity[part], gm[part], times)
        for part in (slice(None, half), slice(half, None))
    ]
    return np.concatenate([p for p, _ in parts]), np.concatenate([v for _, v in parts])
