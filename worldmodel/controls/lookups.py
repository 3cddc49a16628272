"""Lookups: what came next in the training orbits, by several ways of interpolation.

They hold no law, and the field of one where they have enough triples: beyond the distances of
training they fail. They compare the last two positions, which hold the whole state of a
second-order motion, with every pair of the training orbits, in the frame that turns with the body:
distance from the centre, and the last step along and across it. What is interpolated is the second
difference, the acceleration itself. Both choices make them as strong as a table can be: in the
frame of the data, or with displacements, they err several times as much.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from orbits.statistics import TINY
from orbits.whole_field import turning_frame
from worldmodel.controls.base import Control
from worldmodel.predictor import by_windows, stretches

PAIR = 2
"""Positions that hold a state."""
RIDGE = 1e-10
"""Of the spline's diagonal, relative to its scaled kernel: neighbours may coincide."""

Known = Float[np.ndarray, "query neighbour feature"]
Values = Float[np.ndarray, "query neighbour axis"]
Interpolation = Callable[[Known, Values], Float[np.ndarray, "query axis"]]
"""The value at the origin, from neighbours' places relative to it and their values."""


def copied(places: Known, values: Values) -> Float[np.ndarray, "query axis"]:
    """The nearest neighbour's value."""
    return values[:, 0]


def linear(places: Known, values: Values) -> Float[np.ndarray, "query axis"]:
    """A linear function through the neighbours, by least squares."""
    design = np.concatenate((np.ones((*places.shape[:2], 1)), places), axis=2)
    return (np.linalg.pinv(design) @ values)[:, 0]


def thin_plate(places: Known, values: Values) -> Float[np.ndarray, "query axis"]:
    """A thin-plate spline through the neighbours: Σ wᵢ φ(|z − zᵢ|) + a linear function, with φ(s) =
    s² log s; the weights sum to zero and have no first moment.

    Source: Duchon, in Constructive Theory of Functions of Several Variables (1977), 85.
    """
    queries, neighbours, features = places.shape
    z = places / np.maximum(np.abs(places).max(axis=(1, 2), keepdims=True), RIDGE)
    squares = np.sum(z**2, axis=2)
    apart = squares[:, :, None] + squares[:, None] - 2 * z @ z.swapaxes(1, 2)
    size = neighbours + 1 + features
    system = np.zeros((queries, size, size))
    system[:, :neighbours, :neighbours] = _kernel(apart)
    system[:, range(neighbours), range(neighbours)] = RIDGE
    system[:, :neighbours, neighbours] = system[:, neighbours, :neighbours] = 1.0
    system[:, :neighbours, neighbours + 1 :] = z
    system[:, neighbours + 1 :, :neighbours] = z.swapaxes(1, 2)
    wanted = np.zeros((queries, size, values.shape[2]))
    wanted[:, :neighbours] = values
    weights = np.linalg.solve(system, wanted)
    bent = np.einsum("qn,qna->qa", _kernel(squares), weights[:, :neighbours])
    return bent + weights[:, neighbours]


def _kernel(squares: np.ndarray) -> np.ndarray:
    return 0.5 * squares * np.log(np.maximum(squares, TINY))


class OfTriples(ABC):
    """A second difference for every pair of positions, from those of training triples.

    Args:
        memory: (orbit, time, axis) positions of the training orbits, au.
        context_length: positions before the first prediction, like the model's.
        most: triples remembered, evenly spread if there are more.

    Attributes:
        places: (triple, 3) distance from the centre, and the last step along and across it, au.
        bends: (triple, axis) second difference in the frame that turns with the body, au.
    """

    def __init__(
        self, memory: Float[np.ndarray, "orbit time axis"], context_length: int, most: int
    ) -> None:
        triples = stretches(memory, PAIR + 1)
        triples = triples[:: max(1, -(-len(triples) // most))].astype(np.float64)
        self.context_length = max(context_length, PAIR)
        self.places, frame = in_frame(triples[:, :PAIR])
        bends = triples[:, 2] - 2 * triples[:, 1] + triples[:, 0]
        self.bends = np.einsum("dna,na->nd", frame, bends)

    def predict(
        self, positions: Float[np.ndarray, "orbit time axis"]
    ) -> Float[np.ndarray, "orbit time axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        last = contexts[:, -PAIR:]
        places, frame = in_frame(last)
        bend = np.einsum("dna,nd->na", frame, self.bend(places))
        return 2 * last[:, 1] - last[:, 0] + bend

    @abstractmethod
    def bend(self, places: Float[np.ndarray, "state place"]) -> Float[np.ndarray, "state axis"]:
        """Second differences at these places, in the frame that turns, au."""


class Lookup(OfTriples):
    """What followed the most similar training triples.

    Args:
        neighbours: training triples that are interpolated.
        interpolation: from them to the second difference asked for.
    """

    def __init__(
        self,
        memory: Float[np.ndarray, "orbit time axis"],
        context_length: int,
        neighbours: int,
        interpolation: Interpolation,
        most: int = 200_000,
    ) -> None:
        from scipy.spatial import cKDTree

        super().__init__(memory, context_length, most)
        self.neighbours = min(neighbours, len(self.places))
        self.interpolation = interpolation
        self.scale = self.places.std(axis=0) + TINY
        self.tree = cKDTree(self.places / self.scale)

    def bend(self, places: Float[np.ndarray, "state place"]) -> Float[np.ndarray, "state axis"]:
        at_once = 256  # the systems of a spline of 100 points take 20 MB
        starts = range(0, len(places) or 1, at_once)
        parts = [self._bend(places[start : start + at_once] / self.scale) for start in starts]
        return np.concatenate(parts)

    def _bend(self, places: np.ndarray) -> np.ndarray:
        near = self.tree.query(places, range(1, self.neighbours + 1))[1]
        return self.interpolation(self.tree.data[near] - places[:, None], self.bends[near])


TREES, MOST = 30, 60_000
"""Of a forest: trees, and rows that they are fitted to."""


class Forest(OfTriples):
    """A random forest of the training triples."""

    def __init__(
        self, memory: Float[np.ndarray, "orbit time axis"], context_length: int, most: int = MOST
    ) -> None:
        super().__init__(memory, context_length, most)
        self.forest = random_forest(self.places, self.bends)

    def bend(self, places: Float[np.ndarray, "state place"]) -> Float[np.ndarray, "state axis"]:
        return self.forest.predict(places) if len(places) else np.zeros((0, self.bends.shape[1]))


def random_forest(features: np.ndarray, values: np.ndarray, seed: int = 0) -> Any:
    """A fitted random forest of scikit-learn: Breiman, Machine Learning 45, 5 (2001).

    Args:
        features: (row, feature).
        values: (row,) or (row, output).
        seed: of its draws.
    """
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(TREES, random_state=seed).fit(features, values)


def in_frame(
    pairs: Float[np.ndarray, "pair 2 axis"],
) -> tuple[Float[np.ndarray, "pair feature"], Float[np.ndarray, "direction pair axis"]]:
    """Distance and the last step along and across it, and the frame that turns with the body, its
    directions first."""
    here, step = pairs[:, 1], pairs[:, 1] - pairs[:, 0]
    r = np.linalg.norm(here, axis=1, keepdims=True)
    frame = turning_frame(here / r, step)
    along = np.einsum("dna,na->nd", frame[:2], step)
    return np.concatenate((r, along), axis=1), frame


def _control(
    name: str, what: str, label: str, color: str,
    lookup: Callable[[np.ndarray, int], OfTriples],
) -> Control:  # fmt: skip
    return Control(
        name, what, label, color,
        must="It may be right where its orbits have been, and must be wrong beyond.",
        predictor=lambda model, law, memory: lookup(memory(), model.context_length),
        remembers=True, lookup=True,
    )  # fmt: skip


nearest = _control(
    "nearest", "the second difference of the most similar training triple", "nearest triple",
    CYCLE[0], lambda memory, length: Lookup(memory, length, 1, copied),
)  # fmt: skip
locally_linear = _control(
    "locally_linear", "a linear function through the 60 most similar training triples",
    "locally linear lookup", CYCLE[2], lambda memory, length: Lookup(memory, length, 60, linear),
)  # fmt: skip
spline = _control(
    "spline", "a thin-plate spline through the 100 most similar training triples",
    "spline lookup", CYCLE[5], lambda memory, length: Lookup(memory, length, 100, thin_plate),
)  # fmt: skip
forest = _control(
    "forest", "a random forest of the training triples", "random forest", CYCLE[3], Forest
)
