"""Frames of reference: the attracting body, or the barycentre."""

import numpy as np


def relative_states(
    system: str, position: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities relative to the attracting body.

    For two visible bodies this is the first relative to the second, x1 - x2: attraction points
    against it. Planets are relative to their star. One body around a centre is unchanged.

    Args:
        system: as the attribute of the dataset says.
        position: (orbit, time[, body], axis), au.
        velocity: of the same shape, au/yr.

    Returns:
        (orbit, time, axis) position and velocity; (orbit, time, planet, axis) for several planets.
    """
    if system == "barycentric":
        return position[:, :, 0] - position[:, :, 1], velocity[:, :, 0] - velocity[:, :, 1]
    if system == "nbody":
        return position[:, :, 1:] - position[:, :, :1], velocity[:, :, 1:] - velocity[:, :, :1]
    return position, velocity


def relative_shares(mass: np.ndarray) -> np.ndarray:
    """(orbit, body) share of each of two bodies in x1 - x2: (m2, -m1)/(m1 + m2).

    The barycentre is then at rest at the origin.

    Args:
        mass: (orbit, body), M_sun.
    """
    return np.stack([mass[:, 1], -mass[:, 0]], axis=1) / mass.sum(axis=1, keepdims=True)
