"""Forecasters of single series as predictors: each coordinate a series, one step ahead."""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float

from worldmodel.outside.windows import by_windows


class SeriesPredictor(ABC):
    """A forecaster that knows nothing of axes or bodies: each coordinate is a series of its own.

    Args:
        context_length: positions that it sees.
        batch: series in one pass.
    """

    def __init__(self, context_length: int, batch: int = 1024) -> None:
        self.context_length = context_length
        self.batch = batch

    @abstractmethod
    def one_step(self, series: Float[np.ndarray, "series time"]) -> Float[np.ndarray, " series"]:
        """The median of the next value of each series; float32."""

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""
        return by_windows(
            positions, self.context_length, self._following, self.batch * self.context_length
        )

    def _following(self, contexts: np.ndarray) -> np.ndarray:
        shape = contexts.shape[2:]
        series = np.moveaxis(contexts.reshape(*contexts.shape[:2], -1), 1, 2)
        flat = np.ascontiguousarray(series.reshape(-1, contexts.shape[1]), dtype=np.float32)
        said = np.asarray(self.one_step(flat), dtype=np.float64)
        return said.reshape(len(contexts), *shape)
