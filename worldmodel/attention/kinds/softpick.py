"""Softpick: a rectified softmax, whose rows need not sum to one.

Source: Zuhri, Fuadi & Aji, Softpick: no attention sink, no massive activations with rectified
softmax (2025), arXiv:2504.20966.
"""

import torch
from torch import Tensor

from worldmodel.attention.base import Attention, ScoreRows


class Softpick(Attention):
    """Weights relu(eˢ − 1) / Σ|eˢ − 1|."""

    def normalise(self, scores: Tensor, rows: ScoreRows) -> Tensor:
        scores = rows.hide(scores, 0.0)  # whose weight is 0
        largest = scores.detach().amax(-1, keepdim=True).clamp(min=0)
        # eˢ − 1 over e^largest, without the cancellation near 0
        size = torch.expm1(-scores.abs()).neg() * torch.exp(scores.clamp(min=0) - largest)
        # the sum is 0 where all scores are 0: the published ε, in units of e^largest
        return size * (scores > 0) / (size.sum(-1, keepdim=True) + 1e-6 * torch.exp(-largest))
