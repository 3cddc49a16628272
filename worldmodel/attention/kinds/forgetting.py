"""Softmax attention that forgets: each token lowers the scores of all earlier ones.

Source: Lin et al., Forgetting transformer: softmax attention with a forget gate (2025),
arXiv:2503.02130: the score of key j for query i has log f(j+1) + … + log f(i) added,
with f = σ(w·x + b) for each head.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from worldmodel.attention.base import Attention, ScoreRows, Visible, of_queries, widened


class Forgetting(Attention):
    """Softmax of q·k/√d + Σ log f; the sums are two more coordinates of queries and keys.

    For a query that sees later keys too (no causal order) the sum is taken with its sign.
    """

    reads = 1

    def begin(
        self, q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        assert read is not None  # for the type checker
        kept = logsigmoid(widened(read)).cumsum(dim=-2)
        own, one = of_queries(kept, visible, q.shape[-2]), torch.ones_like
        q, k = widened(q) / math.sqrt(self.d_head), widened(k)
        return torch.cat((q, own, one(own)), dim=-1), torch.cat((k, one(kept), -kept), dim=-1), v

    def prepare(self, q: Tensor, k: Tensor, rows: ScoreRows) -> tuple[Tensor, Tensor]:
        return q, k

    def normalise(self, scores: Tensor, rows: ScoreRows) -> Tensor:
        return torch.softmax(rows.hide(scores, -torch.inf), dim=-1)
