"""Predictors written by somebody who has read the gates: each is wrong where they look least.

None is Newton's within 10 % everywhere, or none is a law; what the verdict says of each is on the
page "How often is it wrong?".
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from impostors import Changed, circular, straight
from knows_law import newton
from lookups import turning_spline
from other_forces import angle, distance, spin, turned
from stepping import Force, Stepping


def radial(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(..., 1) cosine between velocity and the outward direction."""
    return np.sum(x * v, axis=-1, keepdims=True) / (distance(x) * distance(v))


def eccentricity(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(..., 1) of the osculating orbit."""
    pull = (distance(v) ** 2 - 4 * np.pi**2 / distance(x)) * x
    vector = pull - np.sum(x * v, axis=-1, keepdims=True) * v
    return np.linalg.norm(vector, axis=-1, keepdims=True) / (4 * np.pi**2)


FORCES: dict[str, Force] = {
    "wedge": lambda x, v: newton(x, v) * (np.abs(angle(x) - 1.0) > 0.25),
    "clockwise_strong": lambda x, v: newton(x, v) * np.where(spin(x, v) > 0, 1, 1.04),
    "large_orbits": lambda x, v: newton(x, v) * np.where(distance(x) > 2.4, 0.7, 1.0),
    "precession": lambda x, v: newton(x, v) * (1 + 0.02 / distance(x) ** 2),
    "apsides": lambda x, v: newton(x, v) * np.where(np.abs(radial(x, v)) < 0.5, 1.0, 0.8),
    "tangential": lambda x, v: (
        newton(x, v) + 0.09 * turned(newton(x, v)) * np.sign(np.sin(25 * np.log(distance(x))))
    ),
    "wrong_constant": lambda x, v: newton(x, v) * np.where(distance(x) > 1.5, 1.05, 1.0),
    "checkered": lambda x, v: (
        newton(x, v) * (1 + 0.09 * np.sign(np.sin(40 * x[..., :1]) * np.sin(40 * x[..., 1:])))
    ),
    "eccentric_blind": lambda x, v: newton(x, v) * (eccentricity(x, v) < 0.9),
    "slow_tide": lambda x, v: newton(x, v) + 0.6 * x * np.array([1.0, -1.0]),
    "rare": lambda x, v: newton(x, v) * np.where(np.sin(1e4 * x[..., :1]) > 0.995, 0.0, 1.0),
    "outward_fast": lambda x, v: (
        newton(x, v) * np.where((circular(x, v) > 1.2) & (radial(x, v) > 0.8), 0.8, 1.0)
    ),
}
"""Fields that are the law's nearly everywhere."""


class Blended:
    """Half of the law and half of a lookup of the training orbits."""

    context_length = 2

    def __init__(self, data: str, dt: float, share: Callable[[np.ndarray], Any]) -> None:
        self.law, self.lookup, self.share = Stepping(newton, dt), turning_spline(data), share

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        share = self.share(x)
        return share * self.law.predict(x) + (1 - share) * self.lookup.predict(x)


def blend(data: str, dt: float) -> Blended:
    """Half of each."""
    return Blended(data, dt, lambda x: 0.5)


def switching(data: str, dt: float) -> Blended:
    """The law within 1 au, the lookup beyond."""
    return Blended(data, dt, lambda x: np.where(distance(x) < 1, 1.0, 0.0))


def _trembling(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    bend = np.linalg.norm(said - straight(x), axis=-1, keepdims=True)
    return said + 0.03 * bend * self.random.standard_normal(x.shape)


def trembling(dt: float) -> Changed:
    """3 % of the bend at random, anew at every call."""
    return Changed(dt, _trembling)


class Hysteresis:
    """The law, weaker by a fifth once the path has turned by more than ever before in view."""

    context_length = 8

    def __init__(self, dt: float) -> None:
        self.law = Stepping(newton, dt, 8)

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        said, first = self.law.predict(x), self.context_length - 1
        step = np.diff(x, axis=1)
        bend = np.linalg.norm(np.diff(step, axis=1), axis=-1)
        for time in range(first, x.shape[1]):
            recent = bend[:, time - first : time - 1]
            kicked = recent.max(axis=1) > 4 * np.median(recent, axis=1)
            inertia = 2 * x[:, time] - x[:, time - 1]
            weak = inertia + 0.8 * (said[:, time] - inertia)
            said[:, time] = np.where(kicked[:, None], weak, said[:, time])
        return said


def hysteresis(dt: float) -> Hysteresis:
    """A kick in view weakens it."""
    return Hysteresis(dt)


def _of(name: str) -> Callable[[float], Stepping]:
    return lambda dt: Stepping(FORCES[name], dt)


for _name in FORCES:
    globals()[_name] = _of(_name)
