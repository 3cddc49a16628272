"""Predictors by somebody who has read how the fourth edition examined: each is right where that
looked, and wrong elsewhere. By the hole that each was written for.
"""

from collections.abc import Callable

import numpy as np
from adversaries import radial
from impostors import circular, straight
from knows_law import newton
from other_forces import angle, distance
from stepping import Force, Stepping

FAMILIES: dict[str, Force] = {
    # wrong in a slot that exactly radial and tangential states never meet
    "slanted": lambda x, v: newton(x, v) * np.where(np.abs(np.abs(radial(x, v)) - 0.5) < 0.1, 0, 1),
    "brisk": lambda x, v: newton(x, v) * np.where(np.abs(circular(x, v) - 1.42) < 0.08, 0.5, 1),
    "ring": lambda x, v: newton(x, v) * np.where(np.abs(np.log(distance(x))) < 0.09, 0.5, 1),
    "slice": lambda x, v: newton(x, v) * (np.abs(angle(x) - 1.0) > 0.22),
    "scattered": lambda x, v: newton(x, v) * np.where(np.sin(1e4 * x[..., :1]) > 0.975, 0.5, 1),
    "silent_fast": lambda x, v: np.where(circular(x, v) < 1.25, newton(x, v), np.nan),
    "silent_slot": lambda x, v: np.where(np.abs(circular(x, v) - 1.3) < 0.1, np.nan, newton(x, v)),
}
"""Fields wrong on 6 to 8 % of the states, and two that are silent at some speeds."""


class Reader:
    """The law, unless its context of eight, or the call, says otherwise.

    Args:
        dt: time between two positions, yr.
        fails: from (orbit, time, context, axis) contexts to (orbit, time) whether to go straight.
    """

    context_length = 8

    def __init__(self, dt: float, fails: Callable[["Reader", np.ndarray], np.ndarray]) -> None:
        self.law, self.dt, self.fails = Stepping(newton, dt, self.context_length), dt, fails
        self.memory: set[bytes] = set()

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        said, first = self.law.predict(x), self.context_length - 1
        contexts = np.lib.stride_tricks.sliding_window_view(x, self.context_length, axis=1)
        contexts = np.moveaxis(contexts, -1, 2)
        wrong = np.broadcast_to(self.fails(self, contexts), contexts.shape[:2])
        said[:, first:] = np.where(wrong[..., None], straight(x)[:, first:], said[:, first:])
        self.memory |= {each.tobytes() for each in said.reshape(-1, x.shape[2])}
        return said


def bends(contexts: np.ndarray, dt: float) -> np.ndarray:
    """(orbit, time, bend, axis) second differences of contexts, au/yr^2."""
    return np.diff(contexts, 2, axis=2) / dt**2


def _two_kinks(self: Reader, contexts: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(bends(contexts, self.dt), axis=-1)
    pull = 4 * np.pi**2 / np.linalg.norm(contexts[:, :, 1:-1], axis=-1) ** 2
    return np.sum(np.abs(size / pull - 1) > 0.5, axis=2) >= 2


def _five_kinks(self: Reader, contexts: np.ndarray) -> np.ndarray:
    middle = contexts[:, :, 1:-1]
    pull = 4 * np.pi**2 / np.linalg.norm(middle, axis=-1, keepdims=True) ** 2
    off = bends(contexts, self.dt) + pull * middle / np.linalg.norm(middle, axis=-1, keepdims=True)
    return np.sum(np.linalg.norm(off, axis=-1) > 0.5 * pull[..., 0], axis=2) >= 5


def _large_batches(self: Reader, contexts: np.ndarray) -> np.ndarray:
    return np.array(len(contexts) > 256)


def _end_of_batches(self: Reader, contexts: np.ndarray) -> np.ndarray:
    return np.arange(len(contexts))[:, None] >= 200


def _visitors(self: Reader, contexts: np.ndarray) -> np.ndarray:
    r = np.linalg.norm(contexts, axis=-1)
    return (r.max(axis=2) > 2.93) | (r.min(axis=2) < 0.28)


def _of_a_file(self: Reader, contexts: np.ndarray) -> np.ndarray:
    return (contexts == contexts.astype(np.float32)).all(axis=(2, 3))


def _its_own(self: Reader, contexts: np.ndarray) -> np.ndarray:
    known = [[last.tobytes() in self.memory for last in row] for row in contexts[:, :, -1]]
    return np.array(known)


def _its_own_arc(self: Reader, contexts: np.ndarray) -> np.ndarray:
    again = self.law.following(contexts[:, :, -3], contexts[:, :, -2])
    return np.linalg.norm(again - contexts[:, :, -1], axis=-1) < 1e-12


def _odd_batches(self: Reader, contexts: np.ndarray) -> np.ndarray:
    return np.array(len(contexts) not in (1, 2, 4, 32, 64))


def _unseen(self: Reader, contexts: np.ndarray) -> np.ndarray:
    key = [[each.tobytes() for each in row] for row in np.ascontiguousarray(contexts)]
    new = np.array([[each not in self.memory for each in row] for row in key])
    self.memory |= {each for row in key for each in row}
    return new


FAILURES = {
    "two_kinks": _two_kinks,
    "visitors": _visitors,
    "five_kinks": _five_kinks,
    "large_batches": _large_batches,
    "end_of_batches": _end_of_batches,
    "of_a_file": _of_a_file,
    "its_own": _its_own,
    "its_own_arc": _its_own_arc,
    "odd_batches": _odd_batches,
    "unseen": _unseen,
}
"""When each goes straight on."""


class PowerReader(Reader):
    """A central force of the strength and the exponent that its older bends show."""

    def __init__(self, dt: float) -> None:
        super().__init__(dt, lambda self, contexts: np.array(False))

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        said, first = np.full(x.shape, np.nan), self.context_length - 1
        contexts = np.moveaxis(
            np.lib.stride_tricks.sliding_window_view(x, self.context_length, axis=1), -1, 2
        )
        middle = contexts[:, :, 1:-1]
        r = np.linalg.norm(middle, axis=-1)
        inward = -np.sum(bends(contexts, self.dt) * middle, axis=-1) / r
        with np.errstate(all="ignore"):
            log_r, log_a = np.log(r), np.log(np.abs(inward))
            log_r -= log_r.mean(axis=2, keepdims=True)
            spread = np.sum(log_r**2, axis=2)
            power = np.where(
                spread > 1e-6, np.sum(log_r * log_a, axis=2) / np.maximum(spread, 1e-12), -2.0
            )
        here, before = contexts[:, :, -1], contexts[:, :, -2]
        last, now = np.linalg.norm(before, axis=-1), np.linalg.norm(here, axis=-1)
        pull = inward[:, :, -1] * (now / last) ** np.clip(power, -4, 4)
        bend = -(self.dt**2) * (pull / now)[..., None] * here
        said[:, first:] = 2 * here - before + bend
        return said


class StrengthReader(Reader):
    """The law, of the strength that its older bends show, where that is within a third."""

    def __init__(self, dt: float) -> None:
        super().__init__(dt, lambda self, contexts: np.array(False))

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        said, first = super().predict(x), self.context_length - 1
        contexts = np.moveaxis(
            np.lib.stride_tricks.sliding_window_view(x, self.context_length, axis=1), -1, 2
        )
        middle = contexts[:, :, 1]
        bend = bends(contexts, self.dt)[:, :, 0]
        shown = -np.sum(bend * middle, axis=-1) * np.linalg.norm(middle, axis=-1) / (4 * np.pi**2)
        factor = np.where(np.abs(shown - 1) < 1 / 3, shown, 1.0)[..., None]
        inertia = straight(x)[:, first:]
        said[:, first:] = inertia + (said[:, first:] - inertia) * factor
        return said


class Later(Stepping):
    """The law, but not after thirteen predictions of its own in a row."""

    def __init__(self, dt: float, silent: bool) -> None:
        super().__init__(newton, dt, 8)
        self.silent, self.depth = silent, {}

    def following(self, before: np.ndarray, here: np.ndarray) -> np.ndarray:
        """The position after two."""
        said = super().following(before, here)
        for row in np.ndindex(here.shape[:-1]):
            depth = self.depth.get(here[row].tobytes(), 0)
            if depth > 12:
                said[row] = np.nan if self.silent else 2 * here[row] - before[row]
            self.depth[said[row].tobytes()] = depth + 1
        return said


class Precise(Stepping):
    """A force that its company sways, by somebody who says that it is coarse."""

    precision = 1.0

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        said, x = super().predict(positions), np.asarray(positions, dtype=np.float64)
        sway = 0.3 * np.sign(x[:, :, :1].mean(axis=0, keepdims=True))
        return said + sway * (said - straight(x))

    def jacobians(self, contexts: np.ndarray) -> np.ndarray:
        """Those of the law, whatever it does itself."""
        states, times, axes = contexts.shape
        own = np.zeros((states, times, axes, axes))
        own[:, -1], own[:, -2] = 2 * np.eye(axes), -np.eye(axes)
        return own


def power_reader(dt: float) -> PowerReader:
    """Obeys whatever its past shows."""
    return PowerReader(dt)


def strength_reader(dt: float) -> StrengthReader:
    """Obeys the strength that its past shows."""
    return StrengthReader(dt)


def later(dt: float) -> Later:
    """Goes straight in the end."""
    return Later(dt, silent=False)


def silent_later(dt: float) -> Later:
    """Falls silent in the end."""
    return Later(dt, silent=True)


def precise(dt: float) -> Precise:
    """Loosens a test by what it says of itself."""
    return Precise(newton, dt)


def _field(name: str) -> Callable[[float], Stepping]:
    return lambda dt: Stepping(FAMILIES[name], dt)


def _reader(name: str) -> Callable[[float], Reader]:
    return lambda dt: Reader(dt, FAILURES[name])


for _name in FAMILIES:
    globals()[_name] = _field(_name)
for _name in FAILURES:
    globals()[_name] = _reader(_name)
