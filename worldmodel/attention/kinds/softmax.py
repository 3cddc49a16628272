"""Softmax attention."""

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from worldmodel.attention.base import Attention, Rows, Visible


class Softmax(Attention):
    """softmax(q·k/√d).

    Source: Vaswani et al., Attention Is All You Need, arXiv:1706.03762v7, eq. 1.
    """

    def normalise(self, scores: Tensor, rows: Rows) -> Tensor:
        return torch.softmax(rows.hide(scores, -torch.inf), dim=-1)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        if visible == Visible() and q.shape[-2] == k.shape[-2]:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        seen = visible.mask(q.shape[-2], k.shape[-2], q.device)
        return scaled_dot_product_attention(q, k, v, attn_mask=seen)
