"""The naive copier: it continues like the most similar stretch it has seen.

Time-series foundation models have been found to copy motifs from their context
(Zhang & Gilpin, arXiv:2505.11349). This does nothing else, so a model that is no better can be told
from one that holds something.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float

from orbits.palette import CYCLE
from orbits.statistics import TINY
from worldmodel.controls.base import Control
from worldmodel.predictor import stretches

STRETCH = 6
"""Positions compared: enough to reach back over a kick four steps ago."""
FEWEST = STRETCH + 2
"""Least positions in a context: room for two stretches, each with its continuation."""


class Parrot:
    """Copies the continuation of the most similar stretch, turned and scaled to fit.

    Every earlier stretch of the context, or of `memory`, is fitted to the last `STRETCH` positions
    by least squares (rotation, scale and shift); the best fit says where the body goes next.

    Args:
        context_length: positions seen, at least `FEWEST`.
        memory: (orbit, time, axis) positions, such as training orbits, to copy from instead of the
            context.
    """

    def __init__(
        self,
        context_length: int = FEWEST,
        memory: Float[np.ndarray, "orbit time axis"] | None = None,
    ) -> None:
        self.context_length = max(context_length, FEWEST if memory is None else STRETCH)
        self.memory = None if memory is None else _Memory(memory)

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        if positions.ndim == 4:  # several bodies
            bodies = [self.predict(positions[:, :, body]) for body in range(positions.shape[2])]
            return np.stack(bodies, axis=2)
        x = positions.astype(np.float64)
        predictions = np.full(x.shape, np.nan)
        lowest = np.full(x.shape[:2], np.inf)
        first = self.context_length - 1
        times = np.arange(first, x.shape[1])
        steps = np.arange(1 - STRETCH, 1)
        last = x[:, times[:, None] + steps]
        for stretch, following in self._known(x, times, steps, last):
            copied, misfit = copy(stretch, following, last)
            better = misfit < lowest[:, times]
            lowest[:, times] = np.where(better, misfit, lowest[:, times])
            predictions[:, times] = np.where(better[..., None], copied, predictions[:, times])
        return predictions

    def _known(
        self, x: np.ndarray, times: np.ndarray, steps: np.ndarray, last: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Stretches, one for each time, and the positions after them."""
        if self.memory is not None:
            yield self.memory.nearest(last)
            return
        for lag in range(1, self.context_length - STRETCH + 1):
            yield x[:, times[:, None] - lag + steps], x[:, times - lag + 1]


def copy(
    stretch: Float[np.ndarray, "orbit time step axis"],
    following: Float[np.ndarray, "orbit time axis"],
    last: Float[np.ndarray, "orbit time step axis"],
) -> tuple[Float[np.ndarray, "orbit time axis"], Float[np.ndarray, "orbit time"]]:
    """Where stretches continue once fitted onto others (the last ones), and the misfit.

    Source: Umeyama, IEEE Trans. Pattern Anal. Mach. Intell. 13 (1991) 376, eqs. 40-43.
    """
    centre, other = last.mean(axis=-2, keepdims=True), stretch.mean(axis=-2, keepdims=True)
    q, p = last - centre, stretch - other
    turned = _turn(p, q)
    size = np.sum(p**2, axis=(-2, -1))
    scale = np.sum(q * (p @ turned), axis=(-2, -1)) / np.maximum(size, TINY)
    laid = scale[..., None, None] * (p @ turned)
    misfit = np.sum((q - laid) ** 2, axis=(-2, -1)) / np.maximum(np.sum(q**2, axis=(-2, -1)), TINY)
    ahead = scale[..., None] * ((following[..., None, :] - other) @ turned)[..., 0, :]
    return centre[..., 0, :] + ahead, misfit


def _turn(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Rotations that map p to q (rows are positions: p @ turn)."""
    product = p.swapaxes(-1, -2) @ q
    if p.shape[-1] == 2:
        cosine = product[..., 0, 0] + product[..., 1, 1]
        sine = product[..., 0, 1] - product[..., 1, 0]
        angle = np.arctan2(sine, cosine)
        c, s = np.cos(angle), np.sin(angle)
        return np.stack((np.stack((c, s), -1), np.stack((-s, c), -1)), -2)
    u, _, v = np.linalg.svd(product)
    sign = np.sign(np.linalg.det(u @ v))
    u[..., -1] *= sign[..., None]
    return u @ v


class _Memory:
    """Stretches of remembered orbits, the nearest found by a tree."""

    def __init__(self, positions: np.ndarray) -> None:
        from scipy.spatial import cKDTree

        x = np.asarray(positions, dtype=np.float64)
        if x.ndim != 3 or x.shape[1] <= STRETCH:
            raise ValueError(
                f"memory has shape {x.shape}; (orbit, time, axis) with more than {STRETCH} times "
                "is needed."
            )
        self.windows = stretches(x, STRETCH + 1)
        self.tree = cKDTree(self._features(self.windows[:, :-1]))

    def _features(self, stretches: np.ndarray) -> np.ndarray:
        """What rotation, scale and shift leave of positions.

        In a plane that is the stretch relative to the line from its first to its last position; in
        space, where a mirrored arc can be rotated into the other, all distances.
        """
        if stretches.shape[2] == 2:
            z = stretches[..., 0] + 1j * stretches[..., 1]
            along = z[:, -1:] - z[:, :1]
            z = (z - z.mean(axis=1, keepdims=True)) / np.where(along == 0, 1, along)
            return np.concatenate((z.real, z.imag), axis=1)
        apart = np.linalg.norm(stretches[:, :, None] - stretches[:, None], axis=-1)
        rows, columns = np.triu_indices(stretches.shape[1], 1)
        distances = apart[:, rows, columns]
        return distances / np.maximum(distances.mean(axis=1, keepdims=True), TINY)

    def nearest(self, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The stretch most like each, and the position after it."""
        flat = last.reshape(-1, *last.shape[2:])
        _, indices = self.tree.query(self._features(flat))
        windows = self.windows[indices].reshape(*last.shape[:2], -1, last.shape[-1])
        return windows[:, :, :-1], windows[:, :, -1]


PARROT = Control(
    "parrot",
    f"the most similar stretch of the context, of {FEWEST} positions at least, copied to fit",
    label="naive copier",
    color=CYCLE[5],
    must="It must give no law: it repeats what it sees.",
    predictor=lambda model, law, memory: Parrot(model.context_length),
)
