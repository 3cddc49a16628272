"""One interface to every engine: states in, trajectories out."""

import numpy as np

from orbits.engines import Progress, States, engine_named
from orbits.forces import ForceLaw


def integrate(
    law: ForceLaw,
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    times: np.ndarray,
    engine: str = "scipy",
    progress: Progress | None = None,
) -> States:
    """Follow relative two-body orbits under a law; each orbit has its own steps.

    Args:
        law: the central attraction.
        position: (orbit, axis) relative position at time 0, au; two or three axes.
        velocity: (orbit, axis) relative velocity at time 0, au/yr.
        gm: (orbit,) gravitational parameter, au^3/yr^2.
        times: (time,) yr, ascending from 0: the first state is the given one.
        engine: a name of `orbits.engines.ENGINES`.
        progress: called with the number of orbits finished since its last call.

    Returns:
        (orbit, time, axis) position and velocity, float64.

    Raises:
        ValueError: if shapes disagree, a value is not finite, a separation is 0 or a gm is not
            above 0, the engine is not known or cannot do this law, or an orbit ends early.
    """
    position, velocity = np.asarray(position, dtype=float), np.asarray(velocity, dtype=float)
    gm, times = np.asarray(gm, dtype=float), np.asarray(times, dtype=float)
    if position.ndim != 2 or position.shape[1] not in (2, 3) or position.shape != velocity.shape:
        raise ValueError(
            f"position {position.shape} and velocity {velocity.shape} must both be (orbit, 2) or "
            "(orbit, 3)."
        )
    if gm.shape != position.shape[:1]:
        raise ValueError(f"gm has shape {gm.shape}; it must be ({len(position)},), one per orbit.")
    require_times(times)
    for name, values in (("position", position), ("velocity", velocity), ("gm", gm)):
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{name} holds values that are not finite.")
    if np.any(gm <= 0):
        raise ValueError(f"gm is {gm.min():g}; it must be above 0 (au^3/yr^2).")
    if np.any(np.all(position == 0, axis=1)):
        raise ValueError("a separation is 0: the bodies collide; start them apart.")
    return engine_named(engine).relative(law, position, velocity, gm, times, progress)


def require_times(times: np.ndarray) -> None:
    """Refuse times that no trajectory can be sampled at.

    Raises:
        ValueError: unless they are one-dimensional, finite, ascending and start at 0.
    """
    if times.ndim != 1 or not len(times) or times[0] != 0 or not np.all(np.isfinite(times)):
        raise ValueError("times must be one-dimensional, finite, and start at 0.")
    if np.any(np.diff(times) <= 0):
        raise ValueError("times must ascend.")
