"""The fingerprints of an integrator: of which state is the second difference the force?

A motion has x(k+1) - 2 x(k) + x(k-1) = dt^2 a(k) only up to terms of order dt^4. Positions that
were stepped at just these times have it to the last digit: leapfrog and the symplectic Euler
methods with the force at k, explicit Euler with that at k - 1, implicit Euler with that at k + 1,
and others with a mixture of them. A Runge-Kutta method has none of these: there one step from a
position and its velocity gives the next two, and no step of the motion itself does.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares

from orbits.derivatives.runge_kutta import runge_kutta

CLEARER = 20.0
"""Times by which a fingerprint is nearer to a central force than the motion's own acceleration."""
ASIDE = 0.3
"""Share of a force across the line to its centre that no step explains: it turns by less."""
LEAST_SPAN = 1e-3
"""Of the distance: of less a power of it is none that a law has."""
METHODS = {
    -1: "explicit Euler",
    0: "leapfrog or a symplectic Euler method",
    1: "implicit Euler",
}


@dataclass(frozen=True)
class Stepping:
    """How positions were stepped.

    Attributes:
        share: of the force at k - 1 (negative) or at k + 1 in the second difference at k.
        method: whose fingerprint it is, in words; empty for a mixture.
        force: (time, axis) at each state, by the second differences or by the method's own steps;
            NaN where there is none.
        energy: by how much kinetic and potential energy have changed from the first to the last
            tenth, over the kinetic energy.
    """

    share: float
    method: str
    force: np.ndarray
    energy: float


def stepping(
    position: Float[np.ndarray, "time axis"],
    acceleration: Float[np.ndarray, "time axis"],
    dt: float,
) -> Stepping | None:
    """The fingerprint of an integrator in positions about the centre; None if there is none.

    `acceleration` is that of the motion through them. Positions that a circle goes through, or
    noise, show none.
    """
    if len(position) < 12:
        return None
    second = np.diff(position, 2, axis=0) / dt**2
    inside = slice(1, -1)
    size = float(np.sqrt(np.mean(np.sum(second**2, axis=1))))
    if not size or _across(np.diff(position, axis=0), position[:-1]) <= 1e-9 * np.ptp(position):
        return None  # at rest, or on a line through the centre, where all directions are one
    own = _across(acceleration[inside], position[inside]) / size
    across = {s: _across(second, position[1 + s : len(position) - 1 + s]) / size for s in METHODS}
    r = np.linalg.norm(position, axis=1)
    if min(own, *across.values()) > ASIDE or np.ptp(r) < LEAST_SPAN * np.max(r):
        return None  # this is not the centre, or no force shows how it depends on the distance
    middle, velocity = position[1:-1], (position[2:] - position[:-2]) / (2 * dt)
    share = min(across, key=lambda s: across[s])
    force = np.full(position.shape, np.nan)
    if across[share] * CLEARER <= min(own, *(across[s] for s in METHODS if s != share)):
        force[1 + share : len(position) - 1 + share] = second
        _, power, strength, _ = _mixed(second, position, float(share))
        return Stepping(
            float(share), METHODS[share], force, _drift(middle, velocity, power, strength)
        )
    mixture, power, strength, left = _mixed(second, position, None)
    _, own_power, own_strength, plain = _mixed(acceleration[inside], position, 0.0)
    # a linear motion, damped or not, has x(k+1) = a x(k) + b x(k-1) exactly
    if left * CLEARER > plain or abs(mixture) < 0.05 or abs(power - 1) < 0.01:
        found = runge_kutta(position, dt, own_strength, own_power, CLEARER)
        if found is None:
            return None
        energy = _drift(position[:-1], found.velocity, found.power, found.strength)
        return Stepping(0.0, found.method, found.force, energy)
    return Stepping(mixture, "", force, _drift(middle, velocity, power, strength))


def _across(force: np.ndarray, position: np.ndarray) -> float:
    """Rms of the part of a force across the line to the centre."""
    unit = position / np.linalg.norm(position, axis=1, keepdims=True)
    part = force - np.sum(force * unit, axis=1, keepdims=True) * unit
    return float(np.sqrt(np.mean(np.sum(part**2, axis=1))))


def _mixed(
    second: np.ndarray, position: np.ndarray, share: float | None
) -> tuple[float, float, float, float]:
    """Share, power of r, strength and relative rms of a mixture of power laws at two states."""
    r = np.linalg.norm(position, axis=1)
    size = np.linalg.norm(second, axis=1)

    def force(power: float) -> np.ndarray:
        return position * (r ** (power - 1))[:, None]

    def parts(values: np.ndarray) -> tuple[np.ndarray, float]:
        w = values[1] if share is None else share
        every = force(values[0])
        beside = every[:-2] if w < 0 else every[2:]
        mixture = (1 - abs(w)) * every[1:-1] + abs(w) * beside
        weight = 1 / np.maximum(size, 1e-3 * size.max())[:, None]
        strength = float(np.sum(mixture * second * weight**2) / np.sum((mixture * weight) ** 2))
        return (second - strength * mixture) * weight, strength

    some = size > 0
    slope = float(np.polyfit(np.log(r[1:-1][some]), np.log(size[some]), 1)[0])
    starts = [[slope, w] for w in (-0.5, 0.5)] if share is None else [[slope]]
    # to the last digit, as a fingerprint goes
    fits = [least_squares(lambda v: parts(v)[0].ravel(), x0, xtol=1e-15, ftol=1e-15, gtol=1e-15)
            for x0 in starts]  # fmt: skip
    best = min(fits, key=lambda fit: fit.cost)
    rest, strength = parts(best.x)
    found = float(best.x[1]) if share is None else share
    return found, float(best.x[0]), strength, float(np.sqrt(np.mean(np.sum(rest**2, axis=1))))


def _drift(position: np.ndarray, velocity: np.ndarray, power: float, strength: float) -> float:
    """Growth of the energy from the first to the last tenth, over the mean kinetic energy."""
    kinetic = np.sum(velocity**2, axis=1) / 2
    r = np.linalg.norm(position, axis=1)
    of_place = np.log(r) if abs(power + 1) < 1e-9 else r ** (power + 1) / (power + 1)
    energy = kinetic - strength * of_place
    tenth = max(1, len(energy) // 10)
    return float((energy[-tenth:].mean() - energy[:tenth].mean()) / kinetic.mean())
