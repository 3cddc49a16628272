"""How a network's loss changes on sequences longer than in training."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from orbits.options import OptionError
from worldmodel import probes
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, ShownOrbits, side_by_side


@dataclass(frozen=True)
class Extrapolate(ReadOut):
    """Loss on sequences longer than in training."""

    name: ClassVar[str] = "extrapolate"
    what: ClassVar[str] = "loss on sequences longer than those of training"
    question: ClassVar[str] = (
        "Loss on sequences longer than those of training, by how many times longer."
    )
    controls: ClassVar[tuple[str, ...] | None] = ("none", "untrained")
    of_networks: ClassVar[bool] = True

    factors: tuple[Count, ...] = (1, 2, 4, 8, 16)
    """Lengths, as multiples of the training length."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.factors:
            raise OptionError("factors", "is empty; give one or more.")

    def shown(self, held_out: int, context_length: int) -> ShownOrbits:
        samples = max(self.factors) * context_length + 1
        # each orbit is as long as many contexts
        return ShownOrbits(min(held_out, 100), samples, seed=2_000_003)

    def read(self, experiment: "probes.Experiment") -> Reading:
        """The loss at multiples of the training length.

        A sequence of f times the training length C is seen whole, with full context. `loss_4` is
        the mean over all positions at four times that length; `late_loss_4` over the last C of
        them, whose context exceeds 3 C; `ratio_4` is `loss_4` over `loss_1`. The first C positions
        are the same for all lengths. `entropy_4` and `first_key_4` say how evenly the last C of
        them attend, and how much to the first (`worldmodel.attention_spread`, of the first orbits).

        Raises:
            ValueError: if orbits hold fewer than max(factors) · C + 1 states.
        """
        model: Any = experiment.model  # a `WorldModel`: the probe is of networks
        facts = experiment.facts
        length, factors = model.context_length, sorted({1, *self.factors})
        needed = factors[-1] * length + 1
        if facts.samples < needed:
            raise ValueError(
                f"{facts.path} has {facts.samples} states in each orbit, but {needed - 1} "
                f"positions and the one after them need {needed}; generate with --samples {needed} "
                "or more, or give smaller factors."
            )
        positions = experiment.trajectories.position[:, :needed]
        losses = probes.segment_losses(model, positions, length)
        scored = np.array([length - (length > 1), *[length] * (len(losses) - 1)])
        whole = np.cumsum(losses * scored) / np.cumsum(scored)
        by_length = {
            factor: {
                "loss": float(whole[factor - 1]),
                "late_loss": float(losses[factor - 1]),
                "ratio": float(whole[factor - 1] / whole[0]),
            }
            for factor in factors
        }
        for factor, row in by_length.items():
            few = positions[:4, : factor * length]
            spread = probes.late_attention(model, few, (factor - 1) * length)
            row["entropy"], row["first_key"] = spread
        metrics = {f"{name}_{f}": v for f, row in by_length.items() for name, v in row.items()}
        title = f"{experiment.who}: by length, over the training length of {length}"
        text = side_by_side(title, {f"{factor}×": row for factor, row in by_length.items()})
        details = {"context_length": length, "orbits": len(positions)}
        return Reading(metrics, "orbit", text, details=details)
