"""The attention weights of a whole network, read as it runs."""

import dataclasses
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from orbits.statistics import TINY
from worldmodel.attention.base import Attention, Visible

T = TypeVar("T")


def attention_maps(
    network: nn.Module, positions: Float[Tensor, "batch time body axis"]
) -> Float[Tensor, "layer batch head query key"]:
    """The weights of every layer and head for a batch of sequences.

    Args:
        network: any network whose attention is one of the package's kinds.
        positions: what the network takes.
    """
    return torch.stack(_read(network, positions, lambda a, q, k, v, r: a.weights(q, k, v, r)))


def attention_spread(
    network: nn.Module, positions: Float[Tensor, "batch time body axis"], first: int
) -> tuple[float, float]:
    """How evenly a network attends, and how much falls on the first key (an attention sink).

    Args:
        network: any network whose attention is one of the package's kinds.
        positions: what the network takes.
        first: queries from this time on are read.

    Returns:
        Entropy of a row over the logarithm of the keys it sees (1: all equal, or only one), and the
        share of the first key; means over layers, heads, sequences and queries. Rows are taken in
        magnitude and divided by their sums.
    """

    def spread(
        attention: Attention, q: Tensor, k: Tensor, visible: Visible, read: Tensor | None
    ) -> Float[Tensor, "2"]:
        start = first * (k.shape[-2] // positions.shape[1])  # tokens, of which a time has several
        late = dataclasses.replace(visible, query_offset=visible.query_offset + start)
        weights = attention.weights(q[..., start:, :], k, late, read).abs().double()
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=TINY)
        count = late.count(weights.shape[-2], weights.shape[-1], weights.device)
        entropy = torch.special.entr(weights).sum(-1) / count.log().clamp(min=TINY)
        entropy = torch.where(count > 1, entropy, 1.0)
        return torch.stack((entropy.mean(), weights[..., 0].mean()))

    entropy, sink = torch.stack(_read(network, positions, spread)).mean(0).tolist()
    return entropy, sink


@torch.no_grad()
def _read(network: nn.Module, positions: Tensor, reader: Callable[..., T]) -> list[T]:
    """A reader's result for each layer's attention, queries and keys, in one pass."""
    outputs: list[T] = []

    def read(attention: Any, inputs: tuple[Tensor, Tensor, Tensor, Visible, Tensor | None]) -> None:
        q, k, _, visible, more = inputs
        outputs.append(reader(attention, q, k, visible, more))

    with ExitStack() as stack:
        for module in network.modules():
            if isinstance(module, Attention):
                stack.callback(module.register_forward_pre_hook(read).remove)
        network(positions)
    return outputs
