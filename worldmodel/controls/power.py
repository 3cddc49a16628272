"""A straight line in logarithms: a power of the distance, fitted to the training triples.

It shows that the shells beyond the distances of training can be passed, and by how little: by two
numbers, with the bias towards powers built in.
"""

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from orbits.statistics import TINY
from worldmodel.controls.base import Control
from worldmodel.controls.lookups import OfTriples


class LineInLogarithms(OfTriples):
    """log |second difference| = a + b log r by least squares, along the line to the centre."""

    def __init__(
        self,
        memory: Float[np.ndarray, "orbit time axis"],
        context_length: int,
        most: int = 200_000,
    ) -> None:
        super().__init__(memory, context_length, most)
        outward = self.bends[:, 0]
        size = np.log(np.maximum(np.abs(outward), TINY))
        self.exponent, self.strength = np.polyfit(np.log(self.places[:, 0]), size, 1)
        self.sign = np.sign(np.median(outward))

    def bend(self, places: Float[np.ndarray, "state place"]) -> Float[np.ndarray, "state axis"]:
        bends = np.zeros((len(places), self.bends.shape[1]))
        bends[:, 0] = self.sign * np.exp(self.strength + self.exponent * np.log(places[:, 0]))
        return bends


POWER = Control(
    "power",
    "a straight line in logarithms, fitted to the training triples: two numbers",
    label="straight line in logarithms",
    color=CYCLE[4],
    must="Under a power of the distance it must be right beyond: else nothing can be.",
    predictor=lambda model, law, memory: LineInLogarithms(memory(), model.context_length),
    remembers=True,
)
