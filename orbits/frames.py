"""Frames of reference: the attracting body, or the barycentre."""

import numpy as np


def relative_states(
    system: str, position: np.ndarray, velocity: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities relative to the attracting body.

    For two visible bodies this is the first relative to the second, x1 - x2: attraction points
    against it. Planets are relative to their star: (orbit, time, planet, axis). One body around a
    centre is unchanged. The system is as the attribute of the dataset says.
    """
    if system == "barycentric":
        return position[:, :, 0] - position[:, :, 1], velocity[:, :, 0] - velocity[:, :, 1]
    if system == "nbody":
        return position[:, :, 1:] - position[:, :, :1], velocity[:, :, 1:] - velocity[:, :, :1]
    return position, velocity


def relative_shares(mass: np.ndarray) -> np.ndarray:
    """(orbit, body) share of each of two bodies in x1 - x2: (m2, -m1)/(m1 + m2).

    The barycentre is then at rest at the origin.
    """
    return np.stack([mass[:, 1], -mass[:, 0]], axis=1) / mass.sum(axis=1, keepdims=True)
