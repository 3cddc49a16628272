"""Predictors that continue a curve, and know no force."""

import math

import numpy as np

from worldmodel import Autoregression, Parrot
from worldmodel.controls.ellipse import predict_by_ellipse
from worldmodel.predictor import by_windows


class Ellipse:
    """An ellipse through so many positions, continued by the area law."""

    def __init__(self, context_length: int) -> None:
        self.context_length = context_length

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        return predict_by_ellipse(positions, self.context_length)


class Polynomial:
    """A polynomial of time through so many positions."""

    def __init__(self, context_length: int) -> None:
        self.context_length = c = context_length
        self.weights = np.array([(-1.0) ** (c - 1 - k) * math.comb(c, k) for k in range(c)])

    def predict(self, positions: np.ndarray) -> np.ndarray:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        return np.einsum("t,nta->na", self.weights, contexts)


def ellipse_5() -> Ellipse:
    """The fewest positions."""
    return Ellipse(5)


def ellipse_8() -> Ellipse:
    """A few positions."""
    return Ellipse(8)


def ellipse_32() -> Ellipse:
    """Many positions."""
    return Ellipse(32)


def parabola() -> Polynomial:
    """Three positions."""
    return Polynomial(3)


def cubic() -> Polynomial:
    """Four positions."""
    return Polynomial(4)


def quintic() -> Polynomial:
    """Six positions."""
    return Polynomial(6)


def autoregression() -> Autoregression:
    """Linear, fitted to 32 positions."""
    return Autoregression(32)


def copier() -> Parrot:
    """Copies motifs of 32 positions."""
    return Parrot(32)
