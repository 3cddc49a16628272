"""1.5-entmax: most weights are zero.

Source: Peters, Niculae & Martins, Sparse sequence-to-sequence models (2019), arXiv:1905.05702:
the map for α = 1.5 with its exact threshold.
"""

import torch
from torch import Tensor

from worldmodel.attention.base import Attention, ScoreRows


class Entmax(Attention):
    """Weights relu(s/2 − τ)², with τ such that a row sums to one."""

    def normalise(self, scores: Tensor, rows: ScoreRows) -> Tensor:
        half = rows.hide(scores, -torch.inf) / 2
        with torch.no_grad():
            threshold = _threshold(half)
            root = torch.relu(half - threshold)
        # Only the derivative of τ is wanted here. The sum of the squares stays one, so that
        # Σ r_j (dz_j − dτ) = 0 with r = relu(z − τ): dτ is the mean of dz, weighed by the roots.
        drawn = (root * half.masked_fill(root == 0, 0.0)).sum(-1, keepdim=True)
        drawn = drawn / root.sum(-1, keepdim=True)
        return torch.relu(half - (threshold + drawn - drawn.detach())) ** 2


def _threshold(half: Tensor) -> Tensor:
    """(..., query, 1) τ: of the largest k scores, for the consistent k."""
    # If the k largest z carry all the weight, with mean m and Σ (z − m)² = spread, then
    # 1 = Σ (z − τ)² = spread + k (m − τ)², and τ = m − √((1 − spread)/k). The right k is the
    # largest whose τ lies below all of its z. Shifting by the largest keeps the squares small.
    top = half.amax(-1, keepdim=True)
    ordered = torch.sort(half - top, dim=-1, descending=True).values
    count = torch.arange(1, half.shape[-1] + 1, device=half.device, dtype=half.dtype)
    mean = ordered.cumsum(-1) / count
    spread = (ordered**2).cumsum(-1) - count * mean**2
    threshold = mean - torch.sqrt(torch.clamp((1 - spread) / count, min=0))
    # false of keys that are not seen; none fits where a score is no number
    fitting = (threshold <= ordered).sum(-1, keepdim=True).clamp(min=1)
    return threshold.gather(-1, fitting - 1) + top
