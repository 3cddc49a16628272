"""Quality of an integration: distance to a second simulator, drift of invariants."""

import numpy as np

from orbits.forces import ForceLaw
from orbits.invariants import (
    angular_momentum,
    drift,
    energy_scale,
    laplace_runge_lenz,
    specific_energy,
    total_angular_momentum,
    total_energy,
    total_momentum,
)


def relative_error(position: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """(orbit,) largest distance between two solutions, over the separation at that time."""
    distance = np.linalg.norm(position - reference, axis=-1)
    ratio = distance / np.linalg.norm(reference, axis=-1)
    return np.max(ratio, axis=tuple(range(1, ratio.ndim)))


def relative_drifts(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray
) -> dict[str, np.ndarray]:
    """(orbit,) drift of each invariant of the law.

    Energy is relative to the largest kinetic energy, angular momentum to its magnitude; the
    eccentricity vector (Newton only) is dimensionless. States are (orbit, time, axis), au and
    au/yr, of the relative motion.
    """
    energy = specific_energy(law, position, velocity, gm)
    momentum = angular_momentum(position, velocity)
    size = np.linalg.norm(momentum[:, 0], axis=-1)
    drifts = {
        "energy_drift": drift(energy, energy_scale(velocity)),
        "angular_momentum_drift": drift(momentum, size),
    }
    if law.name == "newton":
        drifts["lrl_drift"] = drift(laplace_runge_lenz(position, velocity, gm), 1.0)
    return drifts


def body_drifts(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, mass: np.ndarray
) -> dict[str, np.ndarray]:
    """(system,) drift of the invariants of mutually attracting bodies.

    Energy is relative to the largest kinetic energy, angular momentum to its own size, momentum to
    the sum of the bodies' momenta. States are (system, time, body, axis), au and au/yr, in an
    inertial frame; masses (system, body), M_sun.
    """
    weights = mass[:, None, :]
    kinetic = 0.5 * np.sum(weights * np.sum(velocity**2, axis=-1), axis=-1)
    momentum = total_angular_momentum(position, velocity, mass)
    speed = np.sum(weights * np.linalg.norm(velocity, axis=-1), axis=-1)
    return {
        "energy_drift": drift(total_energy(law, position, velocity, mass), kinetic.max(axis=1)),
        "angular_momentum_drift": drift(momentum, np.linalg.norm(momentum[:, 0], axis=-1)),
        "momentum_drift": drift(total_momentum(velocity, mass), speed.max(axis=1)),
    }
