"""1.5-entmax with scores scaled by a power of log N that each query chooses.

Source: Vasylenko et al., Long-context generalization with sparse attention (2025),
arXiv:2506.16640: (δ + β (log n)^γ) z with β = softplus(w·x) and γ = s tanh(w'·x), for each head.
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from worldmodel.attention.base import Visible, of_queries, widened
from worldmodel.attention.kinds.entmax import Entmax


class AdaptiveScalableEntmax(Entmax):
    """1.5-entmax of (1 + β (log N)^γ) q·k/√d."""

    reads = 2

    def begin(
        self, q: Tensor, k: Tensor, v: Tensor, visible: Visible, read: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        assert read is not None  # for the type checker
        q, own = widened(q), widened(of_queries(read, visible, q.shape[-2]))
        slope, power = own.split(1, dim=-1)
        count = visible.count(q.shape[-2], k.shape[-2], q.device).to(q.dtype)[:, None]
        # a query that sees one key has nothing to weigh; log 1 is no number to take powers of
        log = count.log().clamp(min=math.log(2))
        scale = 1 + softplus(slope) * log ** (3.0 * torch.tanh(power))  # s = 3, as published
        return q * scale, k, v
