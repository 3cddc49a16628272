"""Length-scaled softplus attention (LSSA)."""

import math

from torch import Tensor
from torch.nn.functional import normalize, softplus

from worldmodel.attention.base import Attention, Rows


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
