"""Attention as a composition: a map of the scores, a norm, a scale, and a sharpening."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize, scaled_dot_product_attention, softplus

from worldmodel.attention.base import Attention, ScoreRows, Visible, widened
from worldmodel.attention.dense import SoftplusAttention, row_offset, smallest_kept
from worldmodel.attention.specs import Composed

FIRST_SCALE = 1 / math.log(64)
"""Of log N: scores equal those of softmax where 64 keys are seen."""


class Composition(Attention):
    """Any point of the composition; `worldmodel.attention.specs` says what each part is."""

    def __init__(self, d_head: int, n_heads: int, parts: Composed):
        super().__init__(d_head, n_heads)
        self.parts = parts
        if parts.scale == "learned":
            self.scale = nn.Parameter(torch.full((n_heads, 1, 1), FIRST_SCALE))

    def _scaled(self, q: Tensor, k: Tensor, count: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys whose product over √d is the score."""
        if self.parts.scale == "sqrt":
            return q, k
        if self.parts.scale == "logdlogn":
            factor = math.sqrt(self.d_head) * math.log(self.d_head) * count.log()
            return normalize(q, dim=-1) * factor.to(q.dtype), normalize(k, dim=-1)
        scale = self.scale if self.parts.scale == "learned" else FIRST_SCALE
        return q * (scale * count.log()).to(q.dtype), k

    def prepare(self, q: Tensor, k: Tensor, rows: ScoreRows) -> tuple[Tensor, Tensor]:
        return super().prepare(*self._scaled(q, k, rows.count), rows)

    def normalise(self, scores: Tensor, rows: ScoreRows) -> Tensor:
        weights = self._first(scores, rows)
        return weights if self.parts.sharpen is None else self._sharpened(weights, rows)

    def _first(self, scores: Tensor, rows: ScoreRows) -> Tensor:
        """The map and the norm: in l1 every N cancels."""
        name, l1 = self.parts.map, self.parts.norm == "l1"
        if name == "exp" and l1:
            return torch.softmax(rows.hide(scores, -torch.inf), dim=-1)
        if name == "exp":
            mapped = torch.exp(rows.hide(scores, -torch.inf) - rows.count.log())
        elif name == "sigmoid":
            mapped = torch.sigmoid(scores - rows.count.log())
        else:
            mapped = (softplus(scores) if name == "softplus" else torch.relu(scores)) / rows.count
        mapped = rows.hide(mapped, 0.0)
        if not l1:
            return mapped
        # a row without any score above zero, or of such that all vanish, stays uniform
        empty = mapped.sum(-1, keepdim=True) == 0
        mapped = torch.where(empty, rows.hide(torch.ones_like(mapped), 0.0), mapped)
        return mapped / mapped.sum(-1, keepdim=True)

    def _sharpened(self, weights: Tensor, rows: ScoreRows) -> Tensor:
        """relu(A·N − O)^p, divided by the row's sum.

        A·N has the mean 1 over the keys that a row sees, so ReLU empties a row only where all its A
        are equal, as in a window of one. The formula gives 0/0 there; here such a row has O = 0
        like the first three rows, whose A·N is as flat: it stays uniform and sums to 1.
        """
        assert self.parts.sharpen is not None  # for the type checker
        scaled = weights * rows.count
        peak = scaled.detach().amax(-1, keepdim=True)
        offset = row_offset(peak, rows.number)
        # With its largest at 1 no row overflows in the power; that factor cancels in the norm.
        excess = (scaled - offset) / (peak - offset)
        lost = excess <= smallest_kept(excess.dtype, self.parts.sharpen)
        sharp = (excess.masked_fill(lost, 1.0) ** self.parts.sharpen).masked_fill(lost, 0.0)
        return sharp / sharp.sum(-1, keepdim=True)

    def mixed(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        parts = self.parts
        if (parts.map, parts.norm, parts.scale) != ("softplus", "l1", "logdlogn"):
            return super().mixed(q, k, v, visible)
        with torch.autocast(q.device.type, enabled=False):
            # the fused passes pay for long sequences, and their kernels need some width
            long = k.shape[-2] >= 1024 and q.shape[-2] > 1 and q.shape[-1] >= 16
            if v.is_cuda and v.dtype != torch.float64 and long:
                from worldmodel.attention.fused import fused_attention

                return fused_attention(q.to(v.dtype), k.to(v.dtype), v, visible, parts.sharpen)
            flat = (
                x.to(torch.promote_types(x.dtype, torch.float32)).flatten(0, -3) for x in (q, k, v)
            )
            output = SoftplusAttention.apply(*flat, visible, parts.sharpen)
            return output.unflatten(0, q.shape[:-2]).to(v.dtype)

    def full(self, q: Tensor, k: Tensor, v: Tensor, visible: Visible) -> Tensor:
        parts = self.parts
        if (parts.map, parts.norm, parts.sharpen) != ("exp", "l1", None):
            return super().full(q, k, v, visible)
        dtype, square = v.dtype, visible == Visible() and q.shape[-2] == k.shape[-2]
        if (square and q.shape[-2] == 2) or (q.device.type == "cpu" and parts.scale != "sqrt"):
            q, k, v = widened(q), widened(k), widened(v)  # a product is not rounded before the map
        if parts.scale != "sqrt":
            q, k = self._scaled(q, k, visible.count(q.shape[-2], k.shape[-2], q.device)[:, None])
        if square and q.shape[-2] == 2:
            return pair_attention(q, k, v).to(dtype)
        seen = None if square else visible.mask(q.shape[-2], k.shape[-2], q.device)
        output = scaled_dot_product_attention(q, k, v, attn_mask=seen, is_causal=square)
        return output.to(dtype)


def pair_attention(
    q: Float[Tensor, "... 2 d_head"], k: Float[Tensor, "... 2 d_head"], v: Float[Tensor, "... 2 d"]
) -> Float[Tensor, "... 2 d"]:
    """Causal softmax attention of two tokens: the first sees itself, the second weighs both.

    The softmax of two scores is the logistic function of their difference. For thousands of such
    pairs a few elementwise passes cost a fifth of a fused kernel made for long sequences.
    """
    apart = k[..., 1:, :] - k[..., :1, :]
    score = (q[..., 1:, :] * apart).sum(-1, keepdim=True) / math.sqrt(q.shape[-1])
    first, second = v[..., :1, :], v[..., 1:, :]
    return torch.cat((first, first + torch.sigmoid(score) * (second - first)), dim=-2)
