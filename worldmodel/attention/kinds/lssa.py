"""Length-scaled softplus attention (LSSA)."""

import math

from torch import Tensor
from torch.nn.functional import normalize, softplus

from worldmodel.attention.base import Attention, Rows, Visible
from worldmodel.attention.dense import SoftplusAttention, takes_dense_step


class Lssa(Attention):
    """softplus(log d · log N · q̂·k̂), divided by the row's l1 norm; q̂ and k̂ have unit length.

    Source: Gao & Spratling, Softplus Attention with Re-weighting Boosts Length Extrapolation in
    Large Language Models, arXiv:2501.13428v5: the first stage, normalisation.
    """

    def prepare(self, q: Tensor, k: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        scale = math.log(self.d_head) * rows.count.log()
        return normalize(q, dim=-1) * scale, normalize(k, dim=-1)

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        positive = rows.hide(softplus(scores), 0.0)
        return positive / positive.sum(-1, keepdim=True)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        if q.device.type == "cpu" and takes_dense_step(q, k, v):
            return self.dense(q, k, v, visible)
        return super().full(q, k, v, visible)

    def dense(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        """The output by the differentiable step of `worldmodel.attention.dense`."""
        return SoftplusAttention.apply(q, k, v, visible, None)
