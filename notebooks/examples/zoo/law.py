"""The law itself, as a function of two positions: Störmer's rule with Newton's force."""

import numpy as np

from orbits import GM_SUN


class Law:
    """x(t+1) = 2 x(t) − x(t−1) + dt² a(x(t))."""

    context_length = 2

    def __init__(self, dt: float) -> None:
        self.dt = dt

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN at the first."""
        following = np.full(positions.shape, np.nan)
        here, before = positions[:, 1:], positions[:, :-1]
        r = np.linalg.norm(here, axis=-1, keepdims=True)
        following[:, 1:] = 2 * here - before - self.dt**2 * GM_SUN * here / r**3
        return following


def make(dt: float) -> Law:
    """Newton around the Sun."""
    return Law(dt)
