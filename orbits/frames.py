"""From where states are seen: from the attracting body, or from the barycentre."""

import numpy as np


def relative_states(
    system: str, position: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities as seen from the attracting body.

    Of two visible bodies it is the first as seen from the second, x1 - x2: attraction points
    against it. Planets are seen from their star. What is one body around a centre is so already.

    Args:
        system: one of `SYSTEMS`, as the attribute of the dataset says.
        position: (orbit, time[, body], axis), au.
        velocity: of the same shape, au/yr.

    Returns:
        (orbit, time, axis) position and velocity; (orbit, time, planet, axis) of several planets.
    """
    if system == "barycentric":
        return position[:, :, 0] - position[:, :, 1], velocity[:, :, 0] - velocity[:, :, 1]
    if system == "nbody":
        return position[:, :, 1:] - position[:, :, :1], velocity[:, :, 1:] - velocity[:, :, :1]
    return position, velocity


def relative_shares(mass: np.ndarray) -> np.ndarray:
    """(orbit, body) share of each of two bodies in x1 - x2: (m2, -m1)/(m1 + m2).

    The barycentre is then at rest in the origin.

    Args:
        mass: (orbit, body), M_sun.
    """
    return np.stack([mass[:, 1], -mass[:, 0]], axis=1) / mass.sum(axis=1, keepdims=True)
