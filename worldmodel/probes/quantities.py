"""Physical quantities of states, that a probe is asked to find."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import cKDTree

from orbits.forces import ForceLaw
from orbits.invariants import laplace_runge_lenz, specific_energy
from worldmodel.probes.acceleration import true_acceleration
from worldmodel.probes.states import Arcs


def true_force(
    arcs: Arcs, law: ForceLaw, target: Literal["magnitude", "vector"]
) -> Float[np.ndarray, "orbit time output"]:
    """Magnitude or components of the force on the first body, per unit mass where the masses are
    not visible."""
    force = true_acceleration(arcs, law)[:, :, 0]
    if arcs.mass is not None:
        force = force * arcs.mass[:, None, :1]
    if target == "vector":
        return force
    return np.linalg.norm(force, axis=-1, keepdims=True)


def quantities_of(
    arcs: Arcs, law: ForceLaw, orbit: np.ndarray, time: np.ndarray
) -> dict[str, Float[np.ndarray, " state"]]:
    """Quantities of some states by name: the force, the distance, 1/r², and under Newton's law the
    parameters of the ellipse; NaN where a state has none."""
    position, velocity, gm = arcs.at(orbit, time)
    r = np.linalg.norm(position, axis=-1)
    force = true_force(arcs, law, "vector")[orbit, time]
    values = {"force": np.linalg.norm(force, axis=-1)}
    values |= {f"force_{axis}": part for axis, part in zip("xyz", force.T, strict=False)}
    values |= {"r": r, "inverse_square": 1 / r**2}
    if law.name == "newton":
        state = position[:, None], velocity[:, None], gm  # as orbits of one time
        energy = specific_energy(law, *state)[:, 0]
        lrl = laplace_runge_lenz(*state)[:, 0]
        bound = energy < 0
        eccentricity = np.linalg.norm(lrl, axis=-1)
        major = np.where(bound, -gm / (2 * energy), np.nan)
        values |= {"semi_major_axis": major, "eccentricity": eccentricity}
        values["semi_minor_axis"] = major * np.sqrt(np.maximum(1 - eccentricity**2, 0))
        values |= {f"lrl_{axis}": part for axis, part in zip("xyz", lrl.T, strict=False)}
    return values


def nearest_states(arcs: Arcs, labelled: Arcs, points: int) -> Bool[np.ndarray, "orbit time"]:
    """Which are so many states nearest to fully labelled ones.

    Distances are in positions and velocities, each over its root mean square, and in log GM.
    """
    units = [np.sqrt(np.mean(states**2)) for states in (labelled.position, labelled.velocity)]

    def states(of: Arcs) -> np.ndarray:
        times = np.array(of.read)
        gm = np.broadcast_to(np.log(of.gm)[:, None, None], (len(of.gm), len(times), 1))
        parts = (of.position[:, times] / units[0], of.velocity[:, times] / units[1], gm)
        return np.concatenate(parts, axis=-1).reshape(len(of.gm) * len(times), -1)

    distance, _ = cKDTree(states(labelled)).query(states(arcs))
    nearest = np.argsort(distance, kind="stable")[:points]
    kept = np.zeros(arcs.position.shape[:2], dtype=bool)
    kept[nearest // len(arcs.read), nearest % len(arcs.read) + arcs.read.start] = True
    return kept
