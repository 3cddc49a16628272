"""Softmax attention."""

import math

import torch
from jaxtyping import Float
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
            if q.shape[-2] == 2:
                return pair_attention(q, k, v)
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        seen = visible.mask(q.shape[-2], k.shape[-2], q.device)
        return scaled_dot_product_attention(q, k, v, attn_mask=seen)


def pair_attention(
    q: Float[Tensor, "... 2 d_head"], k: Float[Tensor, "... 2 d_head"], v: Float[Tensor, "... 2 d"]
) -> Float[Tensor, "... 2 d"]:
    """Causal softmax attention of two tokens: the first sees itself, the second weighs both.

    The softmax of two scores is the logistic function of their difference. For thousands of such
    pairs a few elementwise passes cost a fifth of what a fused kernel made for long sequences does.
    """
    apart = k[..., 1:, :] - k[..., :1, :]
    score = (q[..., 1:, :] * apart).sum(-1, keepdim=True) / math.sqrt(q.shape[-1])
    first, second = v[..., :1, :], v[..., 1:, :]
    return torch.cat((first, first + torch.sigmoid(score) * (second - first)), dim=-2)
