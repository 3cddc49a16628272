"""Roll-outs of any predictor: its own predictions as inputs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

if TYPE_CHECKING:
    from worldmodel.probes.experiment import Experiment


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
        from worldmodel.evaluation import SHOWN_STEPS, rollout_errors

        model, chosen = experiment.model, experiment.orbits.trajectories
        steps = min(self.steps, chosen.facts.samples - model.context_length)
        if steps < 1:
            raise ValueError(
                f"{experiment.facts.path} has {chosen.facts.samples} states in each orbit, too few "
                f"to go on after a context of {model.context_length}."
            )
        errors = rollout_errors(model, chosen, steps)["median_error"]
        metrics: dict[str, Any] = {
            f"error_{k}": float(errors[k - 1]) for k in SHOWN_STEPS if k <= steps
        }
        title = f"{experiment.who}: median error over the distance, its own roll-outs"
        details = {"median_error": errors, "context_length": model.context_length}
        return Reading(metrics, "orbit", side_by_side(title, {"": metrics}), details=details)
