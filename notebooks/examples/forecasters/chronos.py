"""Chronos-Bolt and Chronos-2 as predictors (extra `forecasters`)."""

import os
from typing import Any

import numpy as np

from worldmodel.outside.series import SeriesPredictor
from worldmodel.outside.windows import package


class Chronos(SeriesPredictor):
    """A pipeline of `chronos-forecasting`, each coordinate a series, one step ahead.

    Args:
        model: name or folder of a model, as `amazon/chronos-bolt-tiny`, or a pipeline.
        context_length: positions that it sees.
        batch: series in one pass.
        options: of `from_pretrained`, as `device_map`.

    Raises:
        ValueError: if the package is missing, or the model cannot be loaded.

    Source: Ansari et al., Chronos (arXiv:2403.07815); Chronos-2 (arXiv:2510.15821).
    """

    def __init__(
        self, model: Any, context_length: int = 64, batch: int = 1024, **options: Any
    ) -> None:
        super().__init__(context_length, batch)
        if isinstance(model, (str, os.PathLike)):
            package("chronos", "forecasters")
            from chronos import BaseChronosPipeline

            try:
                model = BaseChronosPipeline.from_pretrained(str(model), **options)
            except OSError as error:
                raise ValueError(f"{model} cannot be loaded: {error}") from None
        self.pipeline = model
        self.name = type(model).__name__.removesuffix("Pipeline")

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        import torch

        inputs = torch.from_numpy(series)
        if self.name == "Chronos2":  # series of one variate each
            inputs = inputs[:, None]
        quantiles, _ = self.pipeline.predict_quantiles(
            inputs, prediction_length=1, quantile_levels=[0.5]
        )
        if isinstance(quantiles, list):
            quantiles = torch.stack(quantiles)
        return quantiles.reshape(len(series)).float().cpu().numpy()
