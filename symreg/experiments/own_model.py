"""A user's model in place of the trained one."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import Any

import worldmodel
from orbits.files import fingerprint, sha256_of_json
from symreg.experiments.config import RunConfig

IN_MEMORY = "object:"
"""Prefix for a predictor that is not text; its fingerprint follows."""


class OwnModel:
    """A predictor, made when first needed unless it is there already: training may take hours."""

    def __init__(
        self,
        config: RunConfig,
        own: "worldmodel.CheckedPredictor | None" = None,
        training: Any = None,
    ) -> None:
        self.config = config
        self.training = training.result() if isinstance(training, Future) else training
        if own is not None:
            self.__dict__["predictor"] = own

    @cached_property
    def predictor(self) -> "worldmodel.CheckedPredictor":
        """The predictor, checked."""
        config = self.config
        data = None if self.training is None else self.training.path
        folder = config.folder / "model"
        return worldmodel.load_predictor(
            config=config.predictor,
            data=data,
            seed=config.seed,
            folder=folder.absolute() if config.fit else None,
            dt=config.dt,
            axes=config.dimensions or 2,
            bodies=2 if config.system == "barycentric" else 1,
        )

    @cached_property
    def fingerprint(self) -> str:
        """Of its outputs; if it trains, of its code and training data."""
        if not self.config.fit:
            return self.predictor.fingerprint
        from worldmodel.loading import source_of

        specs = (self.config.model, self.config.untrained_model)
        code = [spec and fingerprint(source_of(spec) or Path(spec)) for spec in specs]
        return sha256_of_json([specs, code, self.config.seed, self.training.fingerprint])


def require_model(config: RunConfig) -> None:
    """Raise ValueError unless the code of a run's own model exists, and has that name."""
    for spec in (config.model, config.untrained_model):
        if spec is not None and not spec.startswith(IN_MEMORY):
            from worldmodel.loading import source_of

            source_of(spec)


def in_memory(
    config: RunConfig, predictor: Any, untrained: Callable[..., Any] | None
) -> "tuple[worldmodel.CheckedPredictor, dict[str, str | None]]":
    """A predictor that is an object or function, and the options that represent it."""
    model = worldmodel.load_predictor(predictor, config.predictor, untrained=untrained)
    spec = f"{IN_MEMORY}p{model.fingerprint[:16]}"
    return model, {"model": spec, "untrained_model": spec if untrained else None}
