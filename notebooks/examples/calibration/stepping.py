"""A predictor of two positions under any force of place and velocity."""

from collections.abc import Callable

import numpy as np

Force = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""(..., axis) positions, au, and velocities, au/yr, to accelerations, au/yr^2."""


class Stepping:
    """The motion under a force from the last two positions, whatever else the context holds.

    Args:
        force: the acceleration.
        dt: time between two positions, yr.
        context_length: positions that a prediction waits for.
        substeps: of Runge and Kutta's fourth order, in a step; 0 takes Störmer's rule, of which
            the second difference is the force itself.
        parameters: numbers that are written beside the verdict.
    """

    def __init__(
        self,
        force: Force,
        dt: float,
        context_length: int = 2,
        substeps: int = 0,
        parameters: dict[str, float] | None = None,
    ) -> None:
        self.force, self.dt, self.substeps = force, dt, substeps
        self.context_length = context_length
        self.parameters = parameters or {}

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        said, first = np.full(x.shape, np.nan), self.context_length - 1
        with np.errstate(all="ignore"):
            said[:, first:] = self.following(x[:, first - 1 : -1], x[:, first:])
        return said

    def following(self, before: np.ndarray, here: np.ndarray) -> np.ndarray:
        """The position after two."""
        step = (here - before) / self.dt
        v = step
        if not self.substeps:
            for _ in range(4):  # the velocity here, of the mean one before
                v = step + self.force(here, v) * self.dt / 2
            return 2 * here - before + self.dt**2 * self.force(here, v)
        for _ in range(30):  # the velocity that leads from one to the other
            v = v + (moved(self.force, here, v, -self.dt, self.substeps)[0] - before) / self.dt
        return moved(self.force, here, v, self.dt, self.substeps)[0]


def moved(
    force: Force, x: np.ndarray, v: np.ndarray, dt: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity after a time, by Runge and Kutta's fourth order."""
    h = dt / steps
    for _ in range(steps):
        a1 = force(x, v)
        v2 = v + h / 2 * a1
        a2 = force(x + h / 2 * v, v2)
        v3 = v + h / 2 * a2
        a3 = force(x + h / 2 * v2, v3)
        v4 = v + h * a3
        a4 = force(x + h * v3, v4)
        x, v = x + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return x, v
