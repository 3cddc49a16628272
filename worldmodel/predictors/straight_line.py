"""Inertia alone: the last step again."""

from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from worldmodel.predictors.base import Control, Memory, Predictor

if TYPE_CHECKING:
    from orbits.forces import ForceLaw


class StraightLine:
    """Goes on in a straight line, x(t+1) = 2 x(t) − x(t−1): it knows no force at all."""

    context_length = 2

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN at the first."""
        said = np.full(positions.shape, np.nan)
        said[:, 1:] = 2.0 * positions[:, 1:] - positions[:, :-1]
        return said


def _predictor(model: Any, law: "ForceLaw", memory: Memory) -> Predictor:
    return StraightLine()


STRAIGHT_LINE = Control(
    "straight_line",
    "the last step again: no force",
    label="straight line",
    color=CYCLE[7],
    must="It must show no force at all.",
    predictor=_predictor,
)
