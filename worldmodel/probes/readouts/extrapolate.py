"""How a network's loss changes on sequences longer than in training."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from orbits.options import OptionError
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut, Shown, side_by_side

if TYPE_CHECKING:
    from torch import Tensor

    from worldmodel.probes.experiment import Experiment
    from worldmodel.world_model import WorldModel

TOKENS_AT_ONCE = 16_384
MOST_ORBITS = 100
"""Of a run: each is as long as many contexts."""
ORBITS_OF_MAPS = 4
"""Whose attention weights are read."""


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

    def shown(self, held_out: int, context_length: int) -> Shown:
        samples = max(self.factors) * context_length + 1
        return Shown(min(held_out, MOST_ORBITS), samples, seed=2_000_003)

    def read(self, experiment: "Experiment") -> Reading:
        """The loss at multiples of the training length.

        A sequence of f times the training length C is seen whole, with full context. `loss_4` is
        the mean over all positions at four times that length; `late_loss_4` over the last C of
        them, whose context exceeds 3 C; `ratio_4` is `loss_4` over `loss_1`. The first C positions
        are the same for all lengths. `entropy_4` and `first_key_4` say how evenly the last C of
        them attend, and how much to the first (`worldmodel.attention_spread`, of the first orbits).

        Raises:
            ValueError: if orbits hold fewer than max(factors) · C + 1 states.
        """
        import torch

        from worldmodel.attention import attention_spread

        model, facts = experiment.model, experiment.facts
        length, factors = model.context_length, sorted({1, *self.factors})
        needed = factors[-1] * length + 1
        if facts.samples < needed:
            raise ValueError(
                f"{facts.path} has {facts.samples} states in each orbit, but {needed - 1} "
                f"positions and the one after them need {needed}; generate with --samples {needed} "
                "or more, or give smaller --extrapolate.factors."
            )
        positions = torch.from_numpy(experiment.trajectories.position[:, :needed])
        losses = segment_losses(model, positions, length)
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
        few = positions[:ORBITS_OF_MAPS].to(next(model.network.parameters()))
        for factor, row in by_length.items():
            seen = few[:, : factor * length]
            spread = attention_spread(model.network, seen, (factor - 1) * length)
            row["entropy"], row["first_key"] = spread
        metrics = {f"{name}_{f}": v for f, row in by_length.items() for name, v in row.items()}
        title = f"{experiment.who}: by length, over the training length of {length}"
        text = side_by_side(title, {f"{factor}×": row for factor, row in by_length.items()})
        details = {"context_length": length, "orbits": len(positions)}
        return Reading(metrics, "orbit", text, details=details)


def segment_losses(
    model: "WorldModel", positions: "Float[Tensor, 'orbit time body axis']", length: int
) -> Float[np.ndarray, " segment"]:
    """Mean loss in each consecutive segment of `length` times, with all earlier times seen.

    A causal model's output at a time does not depend on what follows, so one pass over the longest
    sequence gives every shorter one. The last position is only predicted. The first segment scores
    one less if `length` is more than one, since a single position says nothing about the velocity.
    """
    from worldmodel.objective import loss

    network, scales = model.network, model.record.scales
    positions = positions.to(next(network.parameters()))
    times = positions.shape[1] - 1
    starts = range(0, times, length)
    total = np.zeros(len(starts))
    for part in positions.split(max(1, TOKENS_AT_ONCE // times)):
        seen, following = part[:, :-1], part[:, 1:]
        output = network(seen)
        for number, start in enumerate(starts):
            # The loss leaves out the first time that it is given, where contexts are longer than 1.
            begin = start - 1 if start and network.config.context_length > 1 else start
            cut = (slice(None), slice(begin, start + length))
            value = loss(network.config, scales, output[cut], seen[cut], following[cut])
            total[number] += len(part) * value.item()
    return total / len(positions)
