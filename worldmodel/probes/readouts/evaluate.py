"""How well a model predicts: one step ahead, in its own roll-outs, and what it conserves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from worldmodel import probes
from worldmodel.config import FromZero
from worldmodel.probes.readouts.base import Reading, ReadOut, ShownOrbits, side_by_side
from worldmodel.source import require_long_enough

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRIFTS = {
    "energy_drift": "relative drift of energy",
    "angular_momentum_drift": "relative drift of angular momentum",
}


@dataclass(frozen=True)
class Evaluate(ReadOut):
    """Errors of the next position and of roll-outs, and drifts of conserved quantities."""

    name: ClassVar[str] = "evaluate"
    what: ClassVar[str] = "errors of the next position and of roll-outs"
    question: ClassVar[str] = (
        "Next-step loss on held-out orbits, errors of roll-outs, drifts of invariants."
    )
    labels: ClassVar[Mapping[str, str]] = {
        **DRIFTS,
        "acceleration_share": "share of the target's mean square that is acceleration",
    }
    controls: ClassVar[tuple[str, ...] | None] = ("none", "untrained")

    steps: FromZero = 0
    """Length of the roll-outs; 0 means to the end of the orbits."""

    def shown(self, held_out: int, context_length: int) -> ShownOrbits:
        return ShownOrbits(min(held_out, 100))  # more are slow, and hardly change the medians

    @classmethod
    def draw(cls, reading: Reading, axes: "Axes") -> "Axes":
        errors = reading.details["rollout"]["median_error"]
        axes.loglog(np.arange(1, len(errors) + 1), errors)
        axes.set(xlabel="steps rolled out", ylabel="median error (au)")
        return axes

    def read(self, experiment: "probes.Experiment") -> Reading:
        """Next-step errors, roll-out errors by time, and drifts of invariants.

        A roll-out starts from the first C positions of an orbit; its error is the distance from
        the true position over the distance from the centre. `metrics` has medians over orbits, such
        as `error_16` after 16 steps, and for a network its loss and its target's share of
        acceleration; `details` all of `next_step` and `rollout`.

        Raises:
            ValueError: if the orbits are too short.
        """
        model, facts = experiment.model, experiment.facts
        require_long_enough(facts, model.context_length)
        longest = facts.samples - model.context_length
        if self.steps > longest:
            raise ValueError(
                f"{facts.path} has {facts.samples} states in each orbit, which leaves {longest} "
                f"after the first context; {self.steps} steps were asked for."
            )
        steps = self.steps or longest
        chosen = experiment.trajectories
        one = probes.next_step(model, chosen)
        rolled = probes.rollout_errors(model, chosen, steps)
        errors = rolled["median_error"]
        # a factor of four apart
        at = {f"error_{k}": float(errors[k - 1]) for k in (1, 4, 16, 64) if k <= steps}
        metrics = one | at | {name: rolled[name] for name in DRIFTS}
        title = (
            f"{experiment.who}: next step (errors in au and over the distance) and roll-outs "
            "(after k steps)"
        )
        text = side_by_side(title, {"": metrics}, self.labels)
        return Reading(metrics, "orbit", text, details={"next_step": one, "rollout": rolled})
