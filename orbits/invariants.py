"""Constants of the motion, and their drift."""

import itertools

import numpy as np

from orbits.forces import ForceLaw
from orbits.options import checked
from orbits.units import G


@checked
def specific_energy(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray
) -> np.ndarray:
    """Orbital energy per unit of reduced mass, constant along a relative orbit.

    Args:
        law: the central attraction.
        position: (orbit, time, axis) relative position, au.
        velocity: (orbit, time, axis) relative velocity, au/yr.
        gm: (orbit,) gravitational parameter, au^3/yr^2.

    Returns:
        (orbit, time) energy, au^2/yr^2.
    """
    r = np.sqrt(_dot(position, position))
    kinetic = 0.5 * _dot(velocity, velocity)
    return kinetic + law.potential(r, np.asarray(gm)[:, None])


def angular_momentum(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Specific angular momentum r x v, constant under every central law.

    Args:
        position: (..., axis) relative position, au; two or three axes.
        velocity: (..., axis) relative velocity, au/yr.

    Returns:
        (..., 1) for two axes (the component out of the plane), (..., 3) for three; au^2/yr.
    """
    if position.shape[-1] == 3:
        return np.cross(position, velocity)
    cross = position[..., 0] * velocity[..., 1] - position[..., 1] * velocity[..., 0]
    return cross[..., None]


def laplace_runge_lenz(position: np.ndarray, velocity: np.ndarray, gm: np.ndarray) -> np.ndarray:
    """The eccentricity vector v x (r x v)/GM - r/|r|: constant under Newton's law only.

    Args:
        position: (orbit, time, axis) relative position, au; two or three axes.
        velocity: (orbit, time, axis) relative velocity, au/yr.
        gm: (orbit,) gravitational parameter, au^3/yr^2.

    Returns:
        (orbit, time, axis), dimensionless; its length is the eccentricity.

    Source: Goldstein, Poole & Safko, Classical Mechanics (3rd ed., 2002), eq. 3.82.
    """
    scale = np.asarray(gm)[:, None]
    along = _dot(velocity, velocity) / scale - 1 / np.sqrt(_dot(position, position))
    across = _dot(position, velocity) / scale
    return along[..., None] * position - across[..., None] * velocity


def total_energy(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """(system, time) energy of bodies that attract one another, M_sun au^2/yr^2.

    States are (system, time, body, axis), au and au/yr, masses (system, body), M_sun; the law is
    proportional to the attracting mass.
    """
    energy = 0.5 * np.sum(mass[:, None, :] * _dot(velocity, velocity), axis=-1)
    for i, j in itertools.combinations(range(mass.shape[1]), 2):
        apart = position[:, :, i] - position[:, :, j]
        r = np.sqrt(_dot(apart, apart))
        energy += mass[:, i, None] * law.potential(r, G * mass[:, j, None])
    return energy


def total_momentum(velocity: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """(system, time, axis) momentum, M_sun au/yr, of (system, time, body, axis) velocities."""
    return np.sum(mass[:, None, :, None] * velocity, axis=2)


def total_angular_momentum(
    position: np.ndarray, velocity: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """(system, time, 1 or 3) angular momentum, M_sun au^2/yr, of bodies in an inertial frame."""
    return np.sum(mass[:, None, :, None] * angular_momentum(position, velocity), axis=2)


@checked
def drift(invariant: np.ndarray, scale: np.ndarray | float) -> np.ndarray:
    """Largest departure of each orbit's invariant from its first value, over a scale.

    Args:
        invariant: (orbit, time) or (orbit, time, axis).
        scale: (orbit,) or a number: what the departure is relative to.

    Returns:
        (orbit,) relative drift; zero where nothing departs, whatever the scale.
    """
    departure = np.abs(invariant - invariant[:, :1])
    largest = np.max(departure.reshape(len(invariant), -1), axis=1)
    with np.errstate(divide="ignore"):
        return largest / np.where(largest > 0, scale, 1.0)  # a fall has no angular momentum


@checked
def energy_scale(velocity: np.ndarray) -> np.ndarray:
    """(orbit,) largest kinetic energy per unit mass: a scale that never vanishes.

    The energy itself may be 0 in a potential whose zero is arbitrary, such as a logarithm.

    Args:
        velocity: (orbit, time, axis).

    Raises:
        ValueError: for another shape.
    """
    if np.ndim(velocity) < 3:
        raise ValueError(
            f"velocity has the shape {np.shape(velocity)}; (orbit, time, axis) is needed."
        )
    return 0.5 * np.max(_dot(velocity, velocity), axis=1)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Sum over the last axis; several times faster than `np.sum` where that axis is short."""
    return np.einsum("...i,...i->...", a, b)
