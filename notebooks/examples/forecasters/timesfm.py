"""TimesFM as a predictor (extra `forecasters`)."""

import os
from typing import Any

import numpy as np

from worldmodel.outside.series import SeriesPredictor
from worldmodel.outside.windows import package


class TimesFM(SeriesPredictor):
    """A forecaster of `timesfm` (3.0), each coordinate a series, one step ahead.

    Args:
        model: name or folder, as `google/timesfm-3.0-pytorch`, or a `TimesFM3Forecaster`.
        context_length: positions that it sees.
        batch: series in one pass.
        options: of `TimesFM3Forecaster.from_pretrained`, as `device`.

    Raises:
        ValueError: if the package is missing, or the model cannot be loaded.

    Source: Das et al., A decoder-only foundation model for time-series forecasting
        (arXiv:2310.10688).
    """

    def __init__(
        self, model: Any, context_length: int = 64, batch: int = 1024, **options: Any
    ) -> None:
        super().__init__(context_length, batch)
        if isinstance(model, (str, os.PathLike)):
            package("timesfm3", "forecasters")
            from timesfm3 import TimesFM3Forecaster

            try:
                model = TimesFM3Forecaster.from_pretrained(str(model), **options)
            except OSError as error:
                raise ValueError(f"{model} cannot be loaded: {error}") from None
        self.forecaster = model
        self.name = "TimesFM"

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        outputs = self.forecaster.predict_batch(list(series), horizon=1)
        return np.array([np.ravel(output.forecast)[0] for output in outputs])
