"""Predictors that know the law in part, or beside something else."""

import numpy as np
from knows_law import newton
from shapes import Ellipse
from stepping import Stepping


def inside(dt: float) -> Stepping:
    """The law within 0.6 au, a straight line beyond."""
    return Stepping(lambda x, v: newton(x, v) * (_size(x) < 0.6), dt)


def slow(dt: float) -> Stepping:
    """The law up to 0.8 circular speeds, half of it beyond."""

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        fast = _size(v) > 0.8 * 2 * np.pi / np.sqrt(_size(x))
        return newton(x, v) * np.where(fast, 0.5, 1.0)

    return Stepping(force, dt)


def one_way(dt: float) -> Stepping:
    """The law for bodies that move anticlockwise, a straight line for the others."""

    def force(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        spin = x[..., :1] * v[..., 1:] - x[..., 1:] * v[..., :1]
        return newton(x, v) * (spin > 0)

    return Stepping(force, dt)


def half(dt: float) -> Stepping:
    """Half of it the law, half an ellipse through eight positions."""
    known, ellipse = Stepping(newton, dt, 8), Ellipse(8)
    by_law = known.predict
    known.predict = lambda x: (by_law(x) + ellipse.predict(x)) / 2
    return known


class Lagging:
    """The law's acceleration, in part that of so many steps ago."""

    context_length = 8

    def __init__(self, dt: float, share: float, lag: int) -> None:
        self.dt, self.share, self.lag = dt, share, lag
        self.parameters = {"share": share}

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        x = np.asarray(positions, dtype=np.float64)
        pull, said = newton(x, x), np.full(x.shape, np.nan)
        first = self.context_length - 1
        old = pull[:, first - self.lag : x.shape[1] - self.lag]
        mixed = (1 - self.share) * pull[:, first:] + self.share * old
        said[:, first:] = 2 * x[:, first:] - x[:, first - 1 : -1] + self.dt**2 * mixed
        return said


def lagging(dt: float, seed: int) -> Lagging:
    """A third or more of what it says is old."""
    return Lagging(dt, float(np.random.default_rng(seed).uniform(0.35, 0.9)), 5)


def _size(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, axis=-1, keepdims=True)
