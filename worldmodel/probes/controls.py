"""The positive control: the law itself in the place of the model."""

import numpy as np
from jaxtyping import Float

from orbits.forces import ForceLaw

SUBSTEPS = 16
"""Runge-Kutta steps in one dt. At 0.28 au around the Sun and dt = 0.008 yr the phase advances by
0.02 rad in each, and the position errs by about 1e-11 au."""


def predict_by_law(
    position: Float[np.ndarray, "orbit time axis"],
    velocity: Float[np.ndarray, "orbit time axis"],
    gm: Float[np.ndarray, " orbit"],
    law: ForceLaw,
    dt: float,
) -> Float[np.ndarray, "orbit time axis"]:
    """The exact next position after every state, au: what a perfect model would say.

    Each state is moved on by itself (classical Runge-Kutta of order 4), so that the prediction
    comes from the law and not from the rest of the trajectory.
    """
    x, v = position.astype(np.float64), velocity.astype(np.float64)
    gm = np.broadcast_to(gm[:, None], x.shape[:2])
    h = dt / SUBSTEPS

    def acceleration(at: np.ndarray) -> np.ndarray:
        return law.acceleration(at, gm)

    for _ in range(SUBSTEPS):
        a1 = acceleration(x)
        a2 = acceleration(x + h / 2 * v)
        a3 = acceleration(x + h / 2 * v + h**2 / 4 * a1)
        a4 = acceleration(x + h * v + h**2 / 2 * a2)
        x = x + h * v + h**2 / 6 * (a1 + a2 + a3)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return x
