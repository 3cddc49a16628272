"""The fingerprint of a Runge-Kutta method in positions: whose step leads from each to the next?

Each method, and the motion itself, gets the power law and the velocities with which its steps lead
from position to position. By how much the velocity after a step differs from that which the next
step needs, tells whose steps they were: at the right one's nothing but rounding is left.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.optimize import least_squares

Tableau = tuple[list[list[float]], list[float]]
METHODS: dict[str, Tableau] = {
    "the midpoint method": ([[], [1 / 2]], [0, 1]),
    "Heun's method": ([[], [1]], [1 / 2, 1 / 2]),
    "Runge and Kutta's method of order 4": (
        [[], [1 / 2], [0, 1 / 2], [0, 0, 1]],
        [1 / 6, 1 / 3, 1 / 3, 1 / 6],
    ),
}
"""By name: the shares of earlier stages in each stage, and the weights of all (Butcher's)."""
SUBSTEPS = 16
"""Steps of the last in one that stand for the motion itself: their error is 16⁴ times smaller."""
MOST = 1e-6
"""Of the force at the positions may be left at most: less is left of no law but a power of r."""
ROUNDS = 12
"""In each the error of the velocities falls by the square of the angle of a step."""


@dataclass(frozen=True)
class Steps:
    """Positions stepped by a Runge-Kutta method.

    Attributes:
        method: its name.
        strength, power: of the force along r, strength · r^power (negative: attraction).
        velocity: (time - 1, axis) at all positions but the last.
        force: (time, axis) that it stepped, NaN at the last two.
    """

    method: str
    strength: float
    power: float
    velocity: np.ndarray
    force: np.ndarray


def runge_kutta(
    position: Float[np.ndarray, "time axis"],
    dt: float,
    strength: float,
    power: float,
    clearer: float,
) -> Steps | None:
    """The method whose steps these are; None if none is so many times nearer than the motion.

    `strength` and `power` say where to begin.
    """

    r = np.linalg.norm(position, axis=1)
    # on a circle no power of r is told from another
    if np.ptp(r) < 1e-6 * r.max():
        return None

    def fitted(tableau: Tableau, substeps: int) -> tuple[float, np.ndarray]:
        # to the last digit: the right method leaves nothing else
        fit = least_squares(
            lambda law: _needed(position, dt, law, tableau, substeps)[1].ravel(), [strength, power],
            x_scale=[abs(strength) or 1.0, 1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15, max_nfev=30,
        )  # fmt: skip
        return float(fit.cost) ** 0.5, fit.x

    fits = {name: fitted(tableau, 1) for name, tableau in METHODS.items()}
    name = min(fits, key=lambda each: fits[each][0])
    left, law = fits[name]
    *_, finest = METHODS.values()
    size = float(np.linalg.norm(_power_law(position, law))) / 2**0.5  # the cost is half a square
    if not left < MOST * size or not left * clearer < fitted(finest, SUBSTEPS)[0]:
        return None
    velocity, jump = _needed(position, dt, law, METHODS[name], 1)
    force = np.full(position.shape, np.nan)
    force[:-2] = _power_law(position[:-2], law) + jump
    return Steps(name, float(law[0]), float(law[1]), velocity, force)


def _needed(
    position: np.ndarray, dt: float, law: np.ndarray, tableau: Tableau, substeps: int
) -> tuple[np.ndarray, np.ndarray]:
    """The velocities that lead from each position to the next, and by how much the one after a step
    is not that of the next step, over dt."""
    start, end = position[:-1], position[1:]
    velocity = (end - start) / dt
    for _ in range(ROUNDS):
        reached, after = _step(start, velocity, dt, law, tableau, substeps)
        velocity = velocity + (end - reached) / dt
    return velocity, (velocity[1:] - after[:-1]) / dt


def _step(
    x: np.ndarray, v: np.ndarray, dt: float, law: np.ndarray, tableau: Tableau, substeps: int
) -> tuple[np.ndarray, np.ndarray]:
    h, (stages, weights) = dt / substeps, tableau
    for _ in range(substeps):
        velocities: list[np.ndarray] = []
        forces: list[np.ndarray] = []
        for shares in stages:
            forces.append(_power_law(_moved(x, h, shares, velocities), law))
            velocities.append(_moved(v, h, shares, forces))
        x, v = _moved(x, h, weights, velocities), _moved(v, h, weights, forces)
    return x, v


def _moved(
    values: np.ndarray, h: float, shares: list[float], rates: list[np.ndarray]
) -> np.ndarray:
    moved = values
    for share, rate in zip(shares, rates, strict=False):
        moved = moved + h * share * rate
    return moved


def _power_law(position: np.ndarray, law: np.ndarray) -> np.ndarray:
    r = np.linalg.norm(position, axis=-1, keepdims=True)
    return np.asarray(law[0] * position * r ** (law[1] - 1))
