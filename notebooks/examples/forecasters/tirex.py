"""TiRex as a predictor (extra `forecasters`)."""

import os
from typing import Any

import numpy as np

from worldmodel.outside.series import SeriesPredictor
from worldmodel.outside.windows import package


class TiRex(SeriesPredictor):
    """A model of `tirex-ts`, each coordinate a series, one step ahead.

    Args:
        model: name on the hub (`NX-AI/TiRex`), path of a checkpoint, or a model.
        context_length: positions that it sees.
        batch: series in one pass.
        options: of `tirex.load_model`, as `device`.

    Raises:
        ValueError: if the package is missing, or the model cannot be loaded.

    Source: Auer et al., TiRex (arXiv:2505.23719).
    """

    def __init__(
        self, model: Any, context_length: int = 64, batch: int = 512, **options: Any
    ) -> None:
        super().__init__(context_length, batch)
        if isinstance(model, (str, os.PathLike)):
            package("tirex", "forecasters")
            model = _loaded(str(model), options)
        self.model = model
        self.name = "TiRex"

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        import torch

        _, median = self.model.forecast(
            torch.from_numpy(series), prediction_length=1, batch_size=self.batch
        )
        return median.reshape(len(series)).float().cpu().numpy()


def _loaded(model: str, options: dict[str, Any]) -> Any:
    from tirex.base import PretrainedModel, load_model

    try:
        if os.path.exists(model):  # load_model reads the kind of model off a name of two parts
            settings = {"backend": "torch", **options}
            return PretrainedModel.REGISTRY["TiRex"].from_pretrained(model, **settings)
        return load_model(model, **options)
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"{model} cannot be loaded: {error}") from None
