"""One interface to every simulator: states in, trajectories out."""

from collections.abc import Callable

import numpy as np

from orbits.forces import ForceLaw
from orbits.options import checked
from orbits.simulators import States, simulator_named
from orbits.units import G


@checked
def integrate(
    law: ForceLaw,
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    times: np.ndarray,
    simulator: str = "scipy",
) -> States:
    """Follow relative two-body orbits under a law; each orbit has its own steps.

    Args:
        law: the central attraction.
        position: (orbit, axis) relative position at time 0, au; two or three axes.
        velocity: (orbit, axis) relative velocity at time 0, au/yr.
        gm: (orbit,) gravitational parameter, au^3/yr^2.
        times: (time,) yr, ascending from 0: the first state is the given one.
        simulator: a name of `orbits.simulators.SIMULATORS`.

    Returns:
        (orbit, time, axis) position and velocity, float64.

    Raises:
        ValueError: if shapes disagree, a value is not finite, a separation is 0 or a gm is not
            above 0, the simulator is unknown or cannot do this law, or an orbit ends early.
    """
    position, velocity, gm, times = _checked(position, velocity, gm, times, "gm")
    if np.any(gm <= 0):
        raise ValueError(f"gm is {gm.min():g}; it must be above 0 (au^3/yr^2).")
    if np.any(np.all(position == 0, axis=1)):
        raise ValueError("a separation is 0: the bodies collide; start them apart.")
    return simulator_named(simulator).relative(law, position, velocity, gm, times)


def integrate_bodies(
    law: ForceLaw,
    position: np.ndarray,
    velocity: np.ndarray,
    mass: np.ndarray,
    times: np.ndarray,
    simulator: str = "scipy",
    relativity: float = 0.0,
) -> States:
    """Follow systems of bodies that all attract one another, in any inertial frame.

    Args:
        law: the attraction between two bodies, proportional to the attracting mass.
        position: (system, body, axis) at time 0, au.
        velocity: (system, body, axis) at time 0, au/yr.
        mass: (system, body) M_sun; 0 makes a test particle.
        times: (time,) yr, ascending from 0.
        simulator: a name of `orbits.simulators.SIMULATORS`.
        relativity: coefficient of the first post-Newtonian term of each system's heaviest body,
            which must be the same in all; 1 is Einstein's, 0 leaves it out.

    Raises:
        ValueError: if shapes disagree, a value is not finite, a mass is negative, the law is not
            proportional to the mass (the third law would not hold), or a system ends early.
    """
    position, velocity, mass, times = _checked(position, velocity, mass, times, "mass")
    if np.any(mass < 0):
        raise ValueError(f"a mass is {mass.min():g} M_sun; it must not be negative.")
    if not law.linear_in_gm:
        raise ValueError(
            f"law {law.spec} is not proportional to the attracting mass, so bodies that attract "
            "one another would break the third law; use it for relative orbits."
        )
    term = np.full(len(mass), relativity) if relativity else None
    return simulator_named(simulator).bodies(law, position, velocity, G * mass, times, term)


def rk4_step(
    acceleration: Callable[[np.ndarray], np.ndarray], x: np.ndarray, v: np.ndarray, h: float
) -> States:
    """Positions and velocities a time h later, by one step of the classical Runge-Kutta method of
    order 4 for x'' = a(x).
    """
    x1, v1 = v, acceleration(x)
    x2, v2 = v + 0.5 * h * v1, acceleration(x + 0.5 * h * x1)
    x3, v3 = v + 0.5 * h * v2, acceleration(x + 0.5 * h * x2)
    x4, v4 = v + h * v3, acceleration(x + h * x3)
    # with Simpson's weights
    return x + h / 6 * (x1 + 2 * x2 + 2 * x3 + x4), v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)


def _checked(
    position: np.ndarray, velocity: np.ndarray, strength: np.ndarray, times: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same in float64; ValueError if shapes disagree or a value is not finite."""
    position, velocity, strength, times = (
        np.asarray(values, dtype=float) for values in (position, velocity, strength, times)
    )
    rows = ("orbit",) if name == "gm" else ("system", "body")
    fits = position.ndim == len(rows) + 1 and position.shape[-1] in (2, 3)
    if not fits or position.shape != velocity.shape:
        raise ValueError(
            f"position {position.shape} and velocity {velocity.shape} must both be "
            f"({', '.join(rows)}, 2) or ({', '.join(rows)}, 3)."
        )
    if strength.shape != position.shape[:-1]:
        raise ValueError(f"{name} has shape {strength.shape}; it must be {position.shape[:-1]}.")
    if times.ndim != 1 or not len(times) or times[0] != 0 or not np.all(np.isfinite(times)):
        raise ValueError("times must be one-dimensional, finite, and start at 0.")
    if np.any(np.diff(times) <= 0):
        raise ValueError("times must ascend.")
    for what, values in (("position", position), ("velocity", velocity), (name, strength)):
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{what} holds values that are not finite.")
    return position, velocity, strength, times
