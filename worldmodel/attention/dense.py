"""LSSA and LSSAR where the matrix fits in memory: one differentiable step, few passes over it.

The formulas are those of `composition.py`; autograd would keep and walk a matrix for each
operation, at several times the cost of a softmax step. Here queries come in groups, with the keys
that any of them sees; the group's matrix is written in place and one matrix is kept; rows are
divided after the product with the values. Derivatives are first-order, reverse-mode.
"""

import dataclasses
import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from worldmodel.attention.base import BLOCK, Visible

ELEMENTS = 2**18
"""Elements of the matrix per group: 1 MB in float32, a core's second-level cache."""
FEWEST = 128
"""Queries in a group without a window: each group adds to the sums of all keys before it."""
SHORTEST = 1e-12
"""Length below which a query or key is not normalised, as in torch's `normalize`."""


def smallest_kept(dtype: torch.dtype, p: float) -> float:
    """The excess, relative to the row's largest, below which its p-th power counts as 0.

    That power is 1e-31 in float32: lost in any sum with the row's largest, which is 1, while
    denormal numbers would be slow on a CPU.
    """
    finfo = torch.finfo(dtype)
    return (finfo.tiny / finfo.eps) ** (1 / p)


def excess_noise(dtype: torch.dtype) -> float:
    """A·N is exact to a few units in the last place: less than this is no excess."""
    return 8 * torch.finfo(dtype).eps


def row_offset(
    peak: Float[Tensor, "... query 1"], number: Float[Tensor, "query 1"]
) -> Float[Tensor, "... query 1"]:
    """O of LSSAR for each row: 1, but 0 in the first three rows and where 1 would leave nothing.

    Args:
        peak: the row's largest A·N.
        number: the row's, from 1.
    """
    sharp = (number > 3) & (peak > 1 + excess_noise(peak.dtype))
    return sharp.to(peak.dtype)


def power(base: Tensor, p: float) -> Tensor:
    """base^p in a new tensor; by repeated multiplication if p is a small integer."""
    if p in (2, 3) or p not in range(1, 65):  # torch has a square and a cube of one pass
        return base.pow(p)
    result = base.clone()
    for bit in bin(int(p))[3:]:
        result.mul_(result)
        if bit == "1":
            result.mul_(base)
    return result


class SoftplusAttention(torch.autograd.Function):
    """The output of LSSA (p = None) or LSSAR(p)."""

    @staticmethod
    def forward(
        ctx: Any,
        q: Float[Tensor, "batch head query d_head"],
        k: Float[Tensor, "batch head key d_head"],
        v: Float[Tensor, "batch head key d_head"],
        visible: Visible,
        p: float | None,
    ) -> Float[Tensor, "batch head query d_head"]:
        n_query, n_key = q.shape[-2], k.shape[-2]
        count = visible.count(n_query, n_key, q.device).to(q.dtype)[:, None]
        number = torch.arange(1, n_query + 1, device=q.device)[:, None] + visible.query_offset
        scale = math.log(q.shape[-1]) * count.log()
        q_length, k_length = (
            torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_(min=SHORTEST) for x in (q, k)
        )
        q, k = q / q_length, k / k_length
        scaled = q * scale
        ctx.blocks = visible.blocks(n_query, n_key, _group(q, n_key, visible))
        output = torch.empty_like(q)
        kept: list[Tensor] = []
        for block in ctx.blocks:
            # |score| ≤ log d · log N, so the exponential cannot overflow.
            a = (scaled[..., block.queries, :] @ k[..., block.keys, :].transpose(-1, -2)).exp_()
            _hide(a, block.visible)
            a.log1p_()
            total = a.sum(-1, keepdim=True)
            weights, unit, cut = a, total, total
            if p is not None:
                per_key = count[block.queries] / total
                peak = a.amax(-1, keepdim=True) * per_key
                offset = row_offset(peak, number[block.queries])
                unit, cut = per_key / (peak - offset), offset / (peak - offset)
                weights = power(_excess(a, unit, cut, p), p)
            norm = weights.sum(-1, keepdim=True)
            output[..., block.queries, :] = (weights @ v[..., block.keys, :]).div_(norm)
            if any(ctx.needs_input_grad):
                kept += [a, total, unit, cut, norm]
        ctx.p = p
        ctx.save_for_backward(q, k, v, q_length, k_length, scale, output, *kept)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, q_length, k_length, scale, output, *kept = ctx.saved_tensors
        scaled = q * scale
        along_output = (grad * output).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (
            torch.zeros_like(x, memory_format=torch.contiguous_format) for x in (q, k, v)
        )
        for number, block in enumerate(ctx.blocks):
            a, total, unit, cut, norm = kept[5 * number : 5 * number + 5]
            upper = grad[..., block.queries, :] / norm
            # with respect to the weights before their row was divided by its norm
            through = upper @ v[..., block.keys, :].transpose(-1, -2)
            through.sub_(along_output[..., block.queries, :] / norm)
            weights = a
            if ctx.p is not None:
                excess, p = _excess(a, unit, cut, ctx.p), ctx.p
                slope = power(excess, p - 1)
                if p <= 1:
                    slope.masked_fill_(excess == 0, 0.0)
                weights = excess.mul_(slope)
                through.mul_(slope.mul_(p * unit))
                through.sub_((through * a).sum(-1, keepdim=True).div_(total))
            _add(grad_v[..., block.keys, :], weights, upper)
            # the derivative of softplus is 1 − exp(−softplus)
            through.addcmul_(through, torch.neg(a).exp_(), value=-1)
            grad_q[..., block.queries, :] = through @ k[..., block.keys, :]
            _add(grad_k[..., block.keys, :], through, scaled[..., block.queries, :])
        return (
            _through_unit_length(grad_q.mul_(scale), q, q_length),
            _through_unit_length(grad_k, k, k_length),
            grad_v,
            None,
            None,
        )


def _group(q: Tensor, n_key: int, visible: Visible) -> int:
    """How many queries form a group; on a GPU all of them."""
    if q.device.type != "cpu":
        return q.shape[-2]
    if visible.window is not None:
        return max(BLOCK, visible.window)
    return max(FEWEST, ELEMENTS // max(1, q.shape[0] * q.shape[1] * n_key))


def _add(total: Tensor, weights: Tensor, of_queries: Tensor) -> None:
    """Add to part of a contiguous (batch, head, key, d) what a group's queries give to each key."""
    heads = total.view(-1, *total.shape[2:])
    heads.baddbmm_(weights.flatten(0, 1).transpose(1, 2), of_queries.flatten(0, 1))


def _hide(a: Tensor, visible: Visible) -> None:
    """Zero where a key is not seen. In causal order every query sees the first one's keys."""
    ahead = visible.causal and visible.window is None
    free = max(0, visible.query_offset - visible.key_offset + 1) if ahead else 0
    visible = dataclasses.replace(visible, key_offset=visible.key_offset + free)
    seen = visible.mask(a.shape[-2], a.shape[-1] - free, a.device)
    if seen is not None:
        a[..., free:].mul_(seen)


def _excess(a: Tensor, unit: Tensor, cut: Tensor, p: float) -> Tensor:
    """relu(A·N − O) with the row's largest at 1."""
    return torch.threshold_((a * unit).sub_(cut), smallest_kept(a.dtype, p), 0.0)


def _through_unit_length(
    grad: Float[Tensor, "... d_head"],
    unit: Float[Tensor, "... d_head"],
    length: Float[Tensor, "... 1"],
) -> Float[Tensor, "... d_head"]:
    """The derivative with respect to x, given that with respect to x/|x|."""
    return (grad - unit * (grad * unit).sum(-1, keepdim=True)).div_(length)
