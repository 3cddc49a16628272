"""What the head's output means: targets, the loss, and the way back to positions."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from worldmodel.config import ModelConfig
from worldmodel.model import Scales, bin_of
from worldmodel.representation import REPRESENTATIONS
from worldmodel.representation.base import in_units, out_of_units
from worldmodel.targets import first_scored, inertia


def raw_target(
    target: str,
    seen: Float[Tensor, "batch time body axis"],
    following: Float[Tensor, "batch time body axis"],
) -> Float[Tensor, "batch time body axis"]:
    """The target at each time, au.

    Args:
        target: `position`, x(t+1); `displacement`, x(t+1) − x(t); `residual`, that minus
            x(t) − x(t−1), which is 0 at the first time, where it is undefined; or in between
            (`worldmodel.targets`).
        seen: x(t), the positions that the model sees.
        following: x(t+1).
    """
    return following - _known_part(target, seen)


def _known_part(target: str, seen: Tensor) -> Tensor:
    """What to add to the head's prediction to get the next position, au."""
    share = inertia(target)
    if share is None:
        return torch.zeros_like(seen)
    if share == 0:
        return seen
    step = torch.diff(seen, dim=1, prepend=seen[:, :1])
    return seen + share * step


def loss(
    config: ModelConfig,
    scales: Scales,
    output: Float[Tensor, "batch time body axis ..."],
    seen: Float[Tensor, "batch time body axis"],
    following: Float[Tensor, "batch time body axis"],
) -> Float[Tensor, ""]:
    """Mean squared error of the standardised target, or cross-entropy over bins (nats).

    `output` is what the network said, seeing `seen`: x(t), noise included, au. `following` is the
    true x(t+1).
    """
    start = first_scored(config.context_length)
    output, seen_from = output[:, start:], slice(start, None)
    if config.head == "tokens":
        bins = bin_of(following[:, seen_from], config)
        return functional.cross_entropy(output.flatten(0, -2).float(), bins.flatten())
    target = raw_target(config.target, seen, following)[:, seen_from]
    said = in_units(REPRESENTATIONS[config.outputs].said(target), scales.outputs)
    return functional.mse_loss(output, torch.cat(said, dim=-1).to(output.dtype))


def next_position(
    config: ModelConfig,
    scales: Scales,
    output: Float[Tensor, "batch time body axis ..."],
    seen: Float[Tensor, "batch time body axis"],
) -> Float[Tensor, "batch time body axis"]:
    """The predicted next positions, au, in float64 for the precision of the sum; for the head
    `tokens` the expectation."""
    output = output.double()
    if config.head == "tokens":
        width = 2 * config.bin_range / config.bins
        index = torch.arange(config.bins, dtype=torch.float64, device=output.device)
        return output.softmax(-1) @ ((index + 0.5) * width - config.bin_range)
    representation = REPRESENTATIONS[config.outputs]
    parts = output.split(representation.numbers(scales.axes), dim=-1)
    vectors = representation.vectors(out_of_units(parts, scales.outputs))
    return vectors + _known_part(config.target, seen.double())
