"""Inertia alone: the last step again."""

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from worldmodel.controls.base import Control


class StraightLine:
    """Moves in a straight line, x(t+1) = 2 x(t) − x(t−1): no force acts."""

    context_length = 2

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN at the first."""
        predictions = np.full(positions.shape, np.nan)
        predictions[:, 1:] = 2.0 * positions[:, 1:] - positions[:, :-1]
        return predictions


straight_line = Control(
    "straight_line",
    "the last step again: no force",
    label="straight line",
    color=CYCLE[7],
    must="It must show no force at all.",
    predictor=lambda model, law, memory: StraightLine(),
)
