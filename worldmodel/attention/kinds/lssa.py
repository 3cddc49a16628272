"""Length-scaled softplus attention (LSSA)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import normalize, softplus

from worldmodel.attention.base import Attention, Rows, Visible
from worldmodel.attention.dense import SoftplusAttention

SHORTEST_FUSED = 1024
"""Keys from which a GPU takes the fused passes: a shorter matrix costs less than they do."""


class Lssa(Attention):
    """softplus(log d · log N · q̂·k̂), divided by the row's l1 norm; q̂ and k̂ have unit length.

    Source: Gao & Spratling, Softplus Attention with Re-weighting Boosts Length Extrapolation in
    Large Language Models, arXiv:2501.13428v5: the first stage, normalisation.
    """

    power: float | None = None

    def prepare(self, q: Tensor, k: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        scale = math.log(self.d_head) * rows.count.log()
        return normalize(q, dim=-1) * scale, normalize(k, dim=-1)

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        positive = rows.hide(softplus(scores), 0.0)
        return positive / positive.sum(-1, keepdim=True)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        with torch.autocast(q.device.type, enabled=False):
            if v.is_cuda and v.dtype != torch.float64 and _is_long(q, k):
                from worldmodel.attention.fused import fused_attention

                return fused_attention(q.to(v.dtype), k.to(v.dtype), v, visible, self.power)
            q, k, wide_v = (x.to(torch.promote_types(x.dtype, torch.float32)) for x in (q, k, v))
            return SoftplusAttention.apply(q, k, wide_v, visible, self.power).to(v.dtype)


def _is_long(q: Tensor, k: Tensor) -> bool:
    """Whether the fused passes pay, and their kernels take heads of this width."""
    return k.shape[-2] >= SHORTEST_FUSED and q.shape[-2] > 1 and q.shape[-1] >= 16
