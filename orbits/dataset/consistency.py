"""Whether stored states are plausible: velocities against positions, drift of invariants."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from orbits.forces import ForceLaw
from orbits.frames import relative_states
from orbits.generation.quality import body_drifts, relative_drifts
from orbits.units import G


def physical_problems(
    law: ForceLaw | None, attributes: Mapping[str, Any], values: Mapping[str, np.ndarray]
) -> Iterator[tuple[str, np.ndarray]]:
    """Kinds of problems, and the (orbit,) mask of affected orbits."""
    finite = np.ones(len(values["gm"]), dtype=bool)
    masses = ("gm", "mass") if law is not None else ()
    for name in ("position", "velocity", *masses):
        if name in values:
            flat = values[name].reshape(len(finite), -1)
            whole = np.all(np.isfinite(flat), axis=1)
            yield f"{name} is not finite", ~whole
            finite &= whole
    positive = finite & (values["gm"] > 0)
    if law is not None:
        yield "gm is not above 0", finite & ~positive
    if law is None or "velocity" in attributes:  # others' states are as good as they are
        yield "velocity is not the derivative of position", finite & _disagree(attributes, values)
        return
    good = np.flatnonzero(positive)
    if not len(good):
        return
    position = values["position"][good].astype(np.float64)
    velocity = values["velocity"][good].astype(np.float64)
    gm = values["gm"][good]
    mass: Any = values["mass"][good] if "mass" in values else None
    relative = relative_states(attributes["system"], position, velocity)
    apart = np.all(np.any(relative[0] != 0, axis=-1).reshape(len(good), -1), axis=1)
    error = np.zeros(len(good))
    if np.all(apart):
        error = _velocity_mismatch(law, attributes, position, velocity, gm, mass)
    yield "bodies coincide", _within(good, finite, ~apart)
    yield "velocity is not the derivative of position", _within(good, finite, error > 1)
    if attributes.get("centre") == "barycentre" or not np.all(apart):
        return
    # Relative drift of energy and angular momentum. Rounding to float32 moves a position by 6e-8 of
    # the orbit's size, up to ten times the perihelion, where the potential varies as 1/r: about
    # 1e-5. In float64 the simulators' error remains: below 1e-8 for DOP853 over a few periods.
    limit = {"float32": 1e-4, "float64": 1e-7}[attributes["dtype"]]
    if attributes["system"] == "planets":
        limit = 0.05  # of real planets, whose orbits the other planets change
    if attributes["system"] == "nbody":
        drifts = body_drifts(law, position, velocity, mass)
    else:
        drifts = relative_drifts(law, *relative, gm)
    for name, drift in drifts.items():
        if name in ("energy_drift", "angular_momentum_drift"):
            what = name.removesuffix("_drift").replace("_", " ")
            yield f"{what} drifts by more than {limit:g}", _within(good, finite, drift > limit)


def _disagree(attributes: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> np.ndarray:
    """(orbit,) mask of orbits whose velocities do not match their positions.

    For imported states the error of a central difference is unknown. Half of the velocities' own
    size lets coarse sampling and noise pass, but no wrong unit.
    """
    position, velocity = (values[name].astype(np.float64) for name in ("position", "velocity"))
    if position.shape[1] < 3:
        return np.zeros(len(position), dtype=bool)
    central = (position[:, 2:] - position[:, :-2]) / (2 * attributes["dt"])
    axes = tuple(range(1, position.ndim))
    apart = np.sqrt(np.mean((central - velocity[:, 1:-1]) ** 2, axis=axes))
    size = np.sqrt(np.mean(velocity**2, axis=axes))
    return apart > 0.5 * np.maximum(size, np.sqrt(np.mean(central**2, axis=axes)))


def _within(good: np.ndarray, finite: np.ndarray, bad: np.ndarray) -> np.ndarray:
    mask = np.zeros(len(finite), dtype=bool)
    mask[good] = bad
    return mask


def _velocity_mismatch(
    law: ForceLaw,
    attributes: Mapping[str, Any],
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    mass: Any,
) -> np.ndarray:
    """(orbit,) mismatch of velocities and positions, over the limit.

    Each displacement is compared with the corrected trapezoidal rule,
    (v0 + v1) dt/2 - (a1 - a0) dt^2/12, whose error is a dt^2 (w dt)^3/720 where the acceleration a
    changes at the rate w; accelerations come from the law.
    """
    dt, system = attributes["dt"], attributes["system"]
    if system == "nbody":
        acceleration = law.mutual_acceleration(position, G * mass[:, None])
        truncation = _mutual_truncation(law, dt, position, velocity, mass)
        slow = np.ones(truncation.shape, dtype=bool)
    else:
        position, velocity = relative_states(system, position, velocity)
        acceleration = law.acceleration(position, gm[:, None])
        truncation, phase = _truncation(law, dt, position, velocity, gm[:, None])
        slow = phase <= 0.5  # rad: beyond, velocities cannot be compared with positions
    rule = 0.5 * dt * (velocity[:, 1:] + velocity[:, :-1])
    correction = dt**2 / 12 * np.diff(acceleration, axis=1)  # the trapezoidal rule's error
    error = np.diff(position, axis=1) - rule + correction
    reach = np.max(np.linalg.norm(position, axis=-1), axis=1, keepdims=True)
    # 4: two positions, two axes
    rounding = 4 * np.finfo(attributes["dtype"]).eps * (reach + dt * np.max(np.abs(velocity)))
    allowed = truncation + rounding + 1e-12 * reach
    if "centre" in attributes:  # real bodies, which others pull that the dataset does not hold
        # au/yr^3: the Sun's own acceleration changes by 4e-3 (Jupiter 7e-4, Venus 2e-3)
        allowed += 0.05 * np.linalg.norm(correction, axis=-1) + dt**3 / 12 * 1e-2
    ratio = np.where(slow, np.linalg.norm(error, axis=-1) / allowed, 0.0)
    return np.max(ratio.reshape(len(ratio), -1), axis=1)


def _larger(values: np.ndarray) -> np.ndarray:
    """(orbit, step, ...) larger of the values at the two ends of each step."""
    return np.maximum(values[:, 1:], values[:, :-1])


def _truncation(
    law: ForceLaw, dt: float, position: np.ndarray, velocity: np.ndarray, strength: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Error allowed to the trapezoidal rule, au, and phase between two states, rad.

    The force changes with the phase, or with the distance of a body that flies by or away.
    """
    r = np.linalg.norm(position, axis=-1)
    phase = _larger(dt * np.sqrt(-law.radial_acceleration(r, strength) / r))
    change = np.maximum(phase, _larger(dt * np.linalg.norm(velocity, axis=-1) / r))
    # 100: eccentric motion has higher harmonics
    return 100 * phase**2 * change**3 / 720 * _larger(r), phase


def _mutual_truncation(
    law: ForceLaw, dt: float, position: np.ndarray, velocity: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """(system, step, body) the same for bodies that attract one another, summed over pairs."""
    truncation = np.zeros((len(position), position.shape[1] - 1, position.shape[2]))
    for i, j in itertools.permutations(range(mass.shape[1]), 2):
        apart, parting = (x[:, :, i] - x[:, :, j] for x in (position, velocity))
        both = mass[:, None, i] + mass[:, None, j]
        size, _ = _truncation(law, dt, apart, parting, G * both)
        truncation[:, :, i] += mass[:, None, j] / both * size
    return truncation
