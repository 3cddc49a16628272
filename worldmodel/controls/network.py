"""The model itself, trained or with fresh weights."""

from typing import Any

from orbits.palette import COLORS
from worldmodel.controls.base import Control


def untrained(model: Any, seed: int) -> Any:
    """The same architecture with fresh weights."""
    # never the weights that a run of this seed began with
    return model.untrained(seed + 1_000_000)


none = Control(
    "none",
    "the model itself",
    label="the model",
    color=COLORS["kicked"],
    must="Whatever it has learned.",
    predictor=lambda model, law, memory: model,
)
without_training = Control(
    "untrained",
    "the same network before training",
    label="untrained network",
    color=COLORS["untrained"],
    must="It must give no law: what it shows is the architecture's and not learned.",
    predictor=lambda model, law, memory: model,
    network=untrained,
)
