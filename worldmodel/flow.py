"""Where a law takes a state within a step. Imports no sympy: options are read without it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from orbits.forces import ForceLaw


def follow(
    law: "ForceLaw",
    position: Float[np.ndarray, "orbit *time axis"],
    velocity: Float[np.ndarray, "orbit *time axis"],
    gm: Float[np.ndarray, " orbit"],
    dt: float,
) -> tuple[Float[np.ndarray, "orbit *time axis"], Float[np.ndarray, "orbit *time axis"]]:
    """Position and velocity one step after every state, au and au/yr.

    Each state is advanced by itself (classical Runge-Kutta of order 4), so the prediction comes
    from the law, not from the rest of the trajectory.
    """
    each = np.broadcast_to(gm[:, None] if position.ndim == 3 else gm, position.shape[:-1])
    return advanced(lambda at: law.acceleration(at, each), position, velocity, dt)


def advanced(
    acceleration: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    v: np.ndarray,
    dt: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities one step later, by Runge-Kutta of order 4 in substeps."""
    from orbits.simulators.integrate import rk4_step  # which needs sympy, as options do not

    x, v = x.astype(np.float64), v.astype(np.float64)
    # at 0.28 au around the Sun and dt = 0.008 yr the phase advances by 0.02 rad in each of 16, and
    # the position errs by about 1e-11 au
    substeps = 16
    for _ in range(substeps):
        x, v = rk4_step(acceleration, x, v, dt / substeps)
    return x, v
