"""The model itself, trained or with fresh weights."""

from typing import Any

from orbits.palette import COLORS
from worldmodel.predictors.base import Control

UNTRAINED_SEED = 1_000_000
"""Added to the probe's seed, so fresh weights are not those that a run began with."""


def untrained(model: Any, seed: int) -> Any:
    """The same architecture with fresh weights."""
    return model.untrained(seed + UNTRAINED_SEED)


NONE = Control(
    "none",
    "the model itself",
    label="the model",
    color=COLORS["kicked"],
    must="Whatever it has learned.",
    predictor=lambda model, law, memory: model,
)
UNTRAINED = Control(
    "untrained",
    "the same network before training",
    label="untrained network",
    color=COLORS["untrained"],
    must="It must give no law: what it shows is the architecture's and not learned.",
    predictor=lambda model, law, memory: model,
    network=untrained,
)
