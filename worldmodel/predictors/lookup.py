"""Lookups: what came next in the training orbits.

They know no law. They compare the last two positions, which hold the whole state, so right after a
kick they see nothing from before. On states like those of training they are right; beyond them they
fail.
"""

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from worldmodel.predictors.base import Control, by_windows, stretches

SEEN = 2
"""Last positions compared, for a model that sees as many."""
NEIGHBOURS = 24
"""Training contexts for the fit of a linear map: in a plane, at least three per coefficient."""
MOST_CONTEXTS = 200_000
"""Training contexts remembered; evenly spread if there are more."""


class Lookup:
    """The displacement that followed the most similar training contexts.

    Args:
        memory: (orbit, time, axis) positions of the training orbits, au.
        context_length: positions before the first prediction, like the model's.
        linear: fit a linear map to the neighbours; else copy the nearest one's displacement.
    """

    def __init__(
        self, memory: Float[np.ndarray, "orbit time axis"], context_length: int, linear: bool
    ) -> None:
        from scipy.spatial import cKDTree

        seen = min(context_length, SEEN)
        known = stretches(memory, seen + 1)
        chosen = known[:: max(1, len(known) // MOST_CONTEXTS)].astype(np.float64)
        self.context_length = context_length
        self.scale = float(np.std(np.diff(chosen, axis=1))) / float(np.std(chosen))
        self.features = self._features(chosen[:, :-1])
        self.moved = chosen[:, -1] - chosen[:, -2]
        self.neighbours = NEIGHBOURS if linear else 1
        self.tree = cKDTree(self.features)

    def _features(self, contexts: np.ndarray) -> np.ndarray:
        """The last position, and the steps before it, scaled to positions' size."""
        steps = np.diff(contexts, axis=1) / self.scale
        flat = steps.reshape(len(contexts), -1)
        return np.concatenate((contexts[:, -1], flat), axis=1)

    def predict(
        self, positions: Float[np.ndarray, "orbit time axis"]
    ) -> Float[np.ndarray, "orbit time axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(positions, self.context_length, self._following)

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        asked = self._features(contexts[:, -SEEN:])
        _, near = self.tree.query(asked, self.neighbours)
        if self.neighbours == 1:
            return contexts[:, -1] + self.moved[near]
        design = self.features[near] - asked[:, None]
        design = np.concatenate((np.ones((*near.shape, 1)), design), axis=2)
        fitted = np.linalg.pinv(design) @ self.moved[near]
        return contexts[:, -1] + fitted[:, 0]


NEAREST = Control(
    "nearest",
    "the most similar context of the training orbits, its displacement copied",
    label="nearest training context",
    color=CYCLE[0],
    must="It must give no law: it looks up what it has seen.",
    predictor=lambda model, law, memory: Lookup(memory(), model.context_length, linear=False),
    remembers=True,
)
LOCALLY_LINEAR = Control(
    "locally_linear",
    "a linear map through the most similar contexts of the training orbits",
    label="locally linear lookup",
    color=CYCLE[2],
    must="It must be lost on far states: it is right where it was fitted, and knows no law.",
    predictor=lambda model, law, memory: Lookup(memory(), model.context_length, linear=True),
    remembers=True,
)
