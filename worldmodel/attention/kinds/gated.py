"""Softmax attention whose output passes a gate for each token, head and channel.

Source: Qiu et al., Gated attention for large language models (2025), arXiv:2505.06708: the gate
after the attention, elementwise, sigmoid, of the stream before it (G1).
"""

import torch
from torch import Tensor

from worldmodel.attention.base import Visible, of_queries
from worldmodel.attention.composition import Composition
from worldmodel.attention.specs import Composed


class Gated(Composition):
    """Softmax attention times σ(W x)."""

    def __init__(self, d_head: int, n_heads: int) -> None:
        super().__init__(d_head, n_heads, Composed())
        self.reads = d_head

    def finish(self, output: Tensor, visible: Visible, read: Tensor | None) -> Tensor:
        assert read is not None  # for the type checker
        return output * torch.sigmoid(of_queries(read, visible, output.shape[-2]))
