"""Linear autoregression, refitted to every context."""

from typing import ClassVar

import numpy as np
from jaxtyping import Float

from orbits.palette import COLORS
from worldmodel.controls.base import Control
from worldmodel.predictor import by_windows


class Autoregression:
    """x(t+1) = c₁ x(t) + c₂ x(t−1), the coefficients fitted to the context by least squares.

    They are the same for every axis, so rotating the orbit rotates the prediction. Two are exact
    for a force linear in the distance (Hooke), and for circles.

    Args:
        context_length: positions seen, at least `fewest`.
    """

    fewest: ClassVar[int] = 6

    def __init__(self, context_length: int = fewest) -> None:
        self.context_length = max(context_length, self.fewest)

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        if contexts.ndim == 4:  # several bodies
            bodies = [self._following(contexts[:, :, body]) for body in range(contexts.shape[2])]
            return np.stack(bodies, axis=1)
        before, after = np.stack((contexts[:, 1:-1], contexts[:, :-2]), axis=-1), contexts[:, 2:]
        gram = np.einsum("trai,traj->tij", before, before)
        moment = np.einsum("trai,tra->ti", before, after)
        size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None]
        # a circle leaves one coefficient open: a ridge of 1e-12 of the mean square closes it
        gram = gram + 1e-12 * size * np.eye(2)
        weights = np.linalg.solve(gram, moment[..., None])[..., 0]
        return np.einsum("ti,tia->ta", weights, contexts[:, :-3:-1])


autoregression = Control(
    "autoregression",
    f"linear, fitted to the context of {Autoregression.fewest} positions at least",
    label="autoregression",
    color=COLORS["planets"],
    must="It must give no inverse square: what it fits is a linear recurrence.",
    predictor=lambda model, law, memory: Autoregression(model.context_length),
)
