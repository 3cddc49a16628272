"""A user's model in place of the trained one."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orbits.files import fingerprint, sha256_of_json
from symreg.experiments.config import RunConfig

if TYPE_CHECKING:
    from worldmodel.predictors.checked import CheckedPredictor

IN_MEMORY = "object:"
"""Prefix for a predictor that is not text; its fingerprint follows."""


class OwnModel:
    """A predictor, made when first needed unless it is there already: training may take hours."""

    def __init__(
        self, config: RunConfig, made: "CheckedPredictor | None" = None, training: Any = None
    ) -> None:
        self.config = config
        self.training = training.result() if isinstance(training, Future) else training
        if made is not None:
            self.__dict__["predictor"] = made

    @cached_property
    def predictor(self) -> "CheckedPredictor":
        """The predictor, checked."""
        from worldmodel import load_predictor

        config = self.config
        data = None if self.training is None else self.training.path
        folder = config.folder / "model"
        return load_predictor(
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
    """Raise ValueError unless the code of a run's own model exists; none of it is executed."""
    for spec in (config.model, config.untrained_model):
        if spec is not None and not spec.startswith(IN_MEMORY):
            from worldmodel.loading import source_of

            source_of(spec)


def in_memory(
    config: RunConfig, predictor: Any, untrained: Callable[..., Any] | None
) -> "tuple[CheckedPredictor, dict[str, str | None]]":
    """A predictor that is an object or function, and the options that represent it."""
    from worldmodel import load_predictor

    made = load_predictor(predictor, config.predictor, untrained=untrained)
    spec = f"{IN_MEMORY}p{made.fingerprint[:16]}"
    return made, {"model": spec, "untrained_model": spec if untrained else None}
