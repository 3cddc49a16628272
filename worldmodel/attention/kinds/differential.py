"""Differential attention, version 2: two softmaxes over the same keys and values, subtracted.

Source: Ye et al., Differential transformer (2024), arXiv:2410.05258; version 2 (2026), as in
microsoft/unilm, Diff-Transformer/Diff-Transformer-V2: twice the queries, and A₁ − σ(w·x) A₂ for
each head, without a norm after it.
"""

import torch
from torch import Tensor

from worldmodel.attention.base import Visible, of_queries
from worldmodel.attention.composition import Composition
from worldmodel.attention.specs import Composed


class Differential(Composition):
    """Softmax attention of one set of queries minus a share of another's."""

    reads = 1
    query_sets = 2

    def __init__(self, d_head: int, n_heads: int) -> None:
        super().__init__(d_head, n_heads, Composed())

    def begin(
        self, q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        return q, torch.cat((k, k), dim=1), torch.cat((v, v), dim=1)

    def finish(self, output: Tensor, visible: Visible, read: Tensor | None) -> Tensor:
        assert read is not None  # for the type checker
        first, second = output.chunk(2, dim=1)
        return first - torch.sigmoid(of_queries(read, visible, output.shape[-2])) * second

    def read_weights(self, q: Tensor, k: Tensor, visible: Visible, read: Tensor | None) -> Tensor:
        return self.finish(super().read_weights(q, k, visible, read), visible, read)
