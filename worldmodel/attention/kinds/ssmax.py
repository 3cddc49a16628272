"""Scalable softmax attention."""

import math

import torch
from torch import Tensor, nn

from worldmodel.attention.base import Rows, Visible
from worldmodel.attention.kinds.softmax import Softmax


class ScalableSoftmax(Softmax):
    """softmax(s · log N · q·k/√d), with s learned for each head.

    Source: Nakanishi, Scalable-Softmax Is Superior for Attention, arXiv:2501.19399v1. s starts
    at 1/log 64, so that the scores begin as softmax's do where 64 keys are seen.
    """

    def __init__(self, d_head: int, n_heads: int):
        super().__init__(d_head, n_heads)
        self.scale = nn.Parameter(torch.full((n_heads, 1, 1), 1 / math.log(64)))

    def prepare(self, q: Tensor, k: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        return super().prepare(self._scaled(q, rows.count), k, rows)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        count = visible.count(q.shape[-2], k.shape[-2], q.device)[:, None]
        return super().full(self._scaled(q, count), k, v, visible)

    def _scaled(self, q: Tensor, count: Tensor) -> Tensor:
        return q * (self.scale * count.log()).to(q.dtype)
