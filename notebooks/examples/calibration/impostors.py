"""Predictors that break what the verdict assumes, or hold the law in part: none is Newtonian.

Each is a hole that somebody might leave in a test of world models.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from knows_law import newton
from other_forces import angle, distance, turned
from stepping import Force, Stepping


def circular(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(..., 1) speed in circular ones."""
    return distance(v) / (2 * np.pi * distance(x) ** -0.5)


class Changed:
    """A predictor whose output is changed, by what it is shown."""

    def __init__(self, dt: float, change: Callable[[Any, np.ndarray, np.ndarray], np.ndarray]):
        self.law, self.change, self.context_length = Stepping(newton, dt), change, 2
        self.memory: set[bytes] = set()
        self.calls = 0
        self.random = np.random.default_rng(0)

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        self.calls += 1
        said = self.change(self, x, self.law.predict(x))
        return said


def straight(x: np.ndarray) -> np.ndarray:
    """On in a straight line."""
    said = np.full(x.shape, np.nan)
    said[:, 1:] = 2 * x[:, 1:] - x[:, :-1]
    return said


def _where(chosen: Any, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    return np.where(chosen, said, straight(x))


def _place(x: np.ndarray) -> np.ndarray:
    return np.arange(x.shape[1])[None, :, None]


def _copied(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    following = straight(x)
    following[:, 1:-1] = x[:, 2:]
    return following


def _looks_ahead(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    bent = straight(x)
    bent[:, 1:-1] += x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]
    return bent * 0.999 + said * 0.001


def _remembers(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    own = np.array([[at.tobytes() in self.memory for at in orbit] for orbit in x])
    self.memory |= {at.tobytes() for orbit in said for at in orbit}
    return _where(~own[..., None], x, said)


def _noisy(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(said - straight(x), axis=-1, keepdims=True)
    return said + 0.15 * size * self.random.standard_normal(x.shape)


def _of_company(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    return said + 0.3 * (said - straight(x)) * np.sign(x[:, :, :1].mean(axis=0, keepdims=True))


def _changing(self: Changed, x: np.ndarray, said: np.ndarray) -> np.ndarray:
    return said if self.calls % 3 else straight(x)


CHANGES = {
    "peek": _copied,
    "looks_ahead": _looks_ahead,
    "forgets": lambda self, x, said: _where(_place(x) < 45, x, said),
    "tires": lambda self, x, said: straight(x) + (said - straight(x)) * 0.98 ** _place(x),
    "closed_loop": _remembers,
    "nondeterministic": _noisy,
    "company": _of_company,
    "first_orbit": lambda self, x, said: _where(np.arange(len(x))[:, None, None] < 1, x, said),
    "long_arrays": lambda self, x, said: _where(x.shape[1] > 20, x, said),
    "short_arrays": lambda self, x, said: _where(x.shape[1] < 20, x, said),
    "moody": _changing,
    "rounded": lambda self, x, said: np.round(said, 4),
}
"""What each does to the law's answer."""

FORCES: dict[str, Force] = {
    "rest_blind": lambda x, v: newton(x, v) * (circular(x, v) > 0.3),
    "fast_drag": lambda x, v: (
        newton(x, v) - (circular(x, v) > 1.75) * v * distance(newton(x, v)) / distance(v) * 0.3
    ),
    "fast_blind": lambda x, v: newton(x, v) * (circular(x, v) < 1.3),
    "swirl_waves": lambda x, v: (
        newton(x, v) + 0.12 * turned(newton(x, v)) * np.sin(8 * np.log(distance(x)))
    ),
    "bearing": lambda x, v: newton(x, v) * np.where(x[..., :1] > 0, 1.03, 1.0),
    "bearing_across": lambda x, v: (
        newton(x, v) + 0.12 * turned(newton(x, v)) * np.sign(np.sin(3 * angle(x)))
    ),
    "staircase": lambda x, v: newton(x / distance(x) * _stair(distance(x), 0.12), v),
    "outer_blind": lambda x, v: newton(x, v) * (distance(x) < 1.8),
    "half_plane": lambda x, v: newton(x, v) * (x[..., :1] > 0),
    "inbound_weak": lambda x, v: (
        newton(x, v) * np.where(np.sum(x * v, axis=-1, keepdims=True) < 0, 0.85, 1.0)
    ),
    "sixfold": lambda x, v: newton(x, v) * (1 + 0.15 * np.sin(6 * angle(x))),
    "shells": lambda x, v: newton(x, v) * (1 + 0.15 * np.sin(40 * distance(x))),
    "saturated": lambda x, v: newton(x, v) * np.minimum(1, 120 / distance(newton(x, v))),
    "floor": lambda x, v: newton(x, v) * np.maximum(1, 10 / distance(newton(x, v))),
    "speed_limit": lambda x, v: newton(x, v) * np.where(circular(x, v) > 1.5, 0.8, 1.0),
    "radial_only": lambda x, v: (
        newton(x, v)
        * np.where(
            np.abs(np.sum(x * v, -1, keepdims=True)) > 0.8 * distance(x) * distance(v), 0.5, 1
        )
    ),
}
"""Fields that are the law's in part."""


def _stair(r: np.ndarray, step: float) -> np.ndarray:
    size = np.log1p(step)
    return np.exp(size * np.round(np.log(r) / size))


def _changed(name: str) -> Callable[[float], Changed]:
    return lambda dt: Changed(dt, CHANGES[name])


def _of(name: str) -> Callable[[float], Stepping]:
    return lambda dt: Stepping(FORCES[name], dt)


for _name in CHANGES:
    globals()[_name] = _changed(_name)
for _name in FORCES:
    globals()[_name] = _of(_name)
