"""Positions that any predictor must take, to look at its answer."""

import numpy as np


def circles(times: int, axes: int = 2, bodies: int = 1, dt: float = 0.008) -> np.ndarray:
    """Two circles of 0.8 and 1.2 au around the Sun, (orbit, time, body, axis), au."""
    radius = np.array([0.8, 1.2])
    angle = 2 * np.pi * radius[:, None] ** -1.5 * dt * np.arange(times) + [[0.3], [1.1]]
    flat = radius[:, None, None] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    position = np.concatenate((flat, np.zeros((2, times, axes - 2))), axis=-1)
    if bodies == 1:
        return position[:, :, None]
    return np.stack((position / 2, -position / 2), axis=2)
