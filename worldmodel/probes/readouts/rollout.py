"""Roll-outs of any predictor: its own predictions as inputs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from worldmodel.config import Count
from worldmodel.predictors.base import roll_out
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from worldmodel.probes.experiment import Experiment

SHOWN = (1, 4, 16, 64)


@dataclass(frozen=True)
class RollOut(ReadOut):
    """How long a model is left alone."""

    name: ClassVar[str] = "rollout"
    what: ClassVar[str] = "errors of its own roll-outs, of any predictor"
    question: ClassVar[str] = (
        "How far the model's own predictions, as its inputs, stray from the truth."
    )
    needs_law: ClassVar[bool] = False
    controls: ClassVar[tuple[str, ...] | None] = ("none", "untrained")

    steps: Count = 64
    """Steps, as far as the orbits go."""

    def read(self, experiment: "Experiment") -> Reading:
        """Median over orbits of the error over the distance, after 1, 4, 16 and 64 steps.

        Raises:
            ValueError: if the orbits are no longer than a context.
        """
        model = experiment.model
        x = experiment.orbits.trajectories.position.astype(np.float64)
        steps = min(self.steps, x.shape[1] - model.context_length)
        if steps < 1:
            raise ValueError(
                f"{experiment.facts.path} has {x.shape[1]} states in each orbit, too few to go on "
                f"after a context of {model.context_length}."
            )
        length = model.context_length
        true = x[:, length : length + steps]
        error = np.linalg.norm(roll_out(model, x[:, :length], steps) - true, axis=-1)
        errors = np.median(error / np.linalg.norm(true, axis=-1), axis=(0, 2))
        metrics: dict[str, Any] = {
            f"error_{k}": float(errors[k - 1]) for k in SHOWN if k <= len(errors)
        }
        title = f"{experiment.who}: median error over the distance, its own roll-outs"
        details = {"median_error": errors, "context_length": model.context_length}
        return Reading(metrics, "orbit", side_by_side(title, {"": metrics}), details=details)
