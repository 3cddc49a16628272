"""Forecasters of single series as predictors: each coordinate a series, one step ahead.

    symreg run --model my_forecaster.py:make

with, in `my_forecaster.py` beside a copy of this file,

    from forecasters import Chronos

    def make():
        return Chronos("amazon/chronos-bolt-tiny", context_length=64)

The packages come with `pip install -e ".[forecasters]"`.
"""

import importlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from worldmodel import by_windows


class Forecaster(ABC):
    """Knows nothing of axes or bodies.

    Args:
        model: what the package loaded, or a name or folder that it loads.
        context_length: positions that it sees.
        batch: series in one pass.
        options: of the package's loader, as `device_map` or `device`.

    Raises:
        ValueError: if the package is missing, or the model cannot be loaded.
    """

    def __init__(
        self, model: Any, context_length: int = 64, batch: int = 1024, **options: Any
    ) -> None:
        self.context_length = context_length
        self.batch = batch
        self.model = model
        self.name = type(self).__name__
        if isinstance(model, str):
            try:
                self.model = self.load(model, **options)
            except ModuleNotFoundError as error:
                raise ValueError(f'{error}; `pip install -e ".[forecasters]"` brings it.') from None
            except (OSError, KeyError) as error:
                raise ValueError(f"{model} cannot be loaded: {error}") from None

    @abstractmethod
    def load(self, name: str, **options: Any) -> Any:
        """The model of that name."""

    @abstractmethod
    def one_step(self, series: Float[np.ndarray, "series time"]) -> Float[np.ndarray, " series"]:
        """The median of the next value of each series; float32."""

    def predict(
        self, positions: Float[np.ndarray, "orbit time *body axis"]
    ) -> Float[np.ndarray, "orbit time *body axis"]:
        """The next position after every time, au; NaN where the context is not full."""

        def following(contexts: np.ndarray) -> np.ndarray:
            series = np.moveaxis(contexts.reshape(*contexts.shape[:2], -1), 1, 2)
            flat = np.ascontiguousarray(series.reshape(-1, contexts.shape[1]), dtype=np.float32)
            said = np.asarray(self.one_step(flat), dtype=np.float64)
            return said.reshape(len(contexts), *contexts.shape[2:])

        at_once = self.batch * self.context_length
        return by_windows(positions, self.context_length, following, at_once)


class Chronos(Forecaster):
    """A pipeline of `chronos-forecasting`, as `amazon/chronos-bolt-tiny`.

    Source: Ansari et al., Chronos (arXiv:2403.07815); Chronos-2 (arXiv:2510.15821).
    """

    def load(self, name: str, **options: Any) -> Any:
        """By `from_pretrained`."""
        pipeline = importlib.import_module("chronos").BaseChronosPipeline
        return pipeline.from_pretrained(name, **options)

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        inputs = torch.from_numpy(series)
        if type(self.model).__name__ == "Chronos2Pipeline":  # series of one variate each
            inputs = inputs[:, None]
        quantiles, _ = self.model.predict_quantiles(
            inputs, prediction_length=1, quantile_levels=[0.5]
        )
        found = torch.stack(quantiles) if isinstance(quantiles, list) else quantiles
        return found.reshape(len(series)).float().cpu().numpy()


class TimesFM(Forecaster):
    """A forecaster of `timesfm` 3.0, as `google/timesfm-3.0-pytorch`.

    Source: Das et al., A decoder-only foundation model for time-series forecasting
        (arXiv:2310.10688).
    """

    def load(self, name: str, **options: Any) -> Any:
        """By `from_pretrained`."""
        return importlib.import_module("timesfm3").TimesFM3Forecaster.from_pretrained(
            name, **options
        )

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        outputs = self.model.predict_batch(list(series), horizon=1)
        return np.array([np.ravel(output.forecast)[0] for output in outputs])


class TiRex(Forecaster):
    """A model of `tirex-ts`: a name on the hub (`NX-AI/TiRex`), or the path of a checkpoint.

    Source: Auer et al., TiRex (arXiv:2505.23719).
    """

    def load(self, name: str, **options: Any) -> Any:
        """By `load_model`; that of a file by its class."""
        tirex = importlib.import_module("tirex.base")
        if Path(name).exists():  # load_model reads the kind of model off a name of two parts
            kind = tirex.PretrainedModel.REGISTRY["TiRex"]
            return kind.from_pretrained(name, **{"backend": "torch", **options})
        return tirex.load_model(name, **options)

    def one_step(self, series: np.ndarray) -> np.ndarray:
        """The median of the next value of each series."""
        _, median = self.model.forecast(
            torch.from_numpy(series), prediction_length=1, batch_size=min(self.batch, 512)
        )
        return median.reshape(len(series)).float().cpu().numpy()
