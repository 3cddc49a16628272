"""LSSA and LSSAR where the matrix fits in memory: one differentiable step, few passes over it.

The formulas are those of `composition.py`; autograd would keep and walk a matrix for each
operation, at several times the cost of a softmax step. Here the matrix comes in tiles that fit in a
core's cache, written in place; one of each is kept, or made again for the derivative where all are
too large; rows are divided after the product with the values. Derivatives are first-order,
reverse-mode.
"""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from worldmodel.attention.base import BLOCK, QueryGroup, Visible

ELEMENTS = 2**18
"""Of a tile: 1 MB in float32, a core's second-level cache."""
KEPT = 2**28
"""Of a matrix of which all tiles are kept: 0.5 GB in float32 if causal."""


UNSHARPENED = 3
"""Rows from the first on in which the offset O of LSSAR is 0."""


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
    """O of LSSAR for each row, from its largest A·N and its number (from 1): 1, but 0 in the first
    rows and where 1 would leave nothing."""
    sharp = (number > UNSHARPENED) & (peak > 1 + excess_noise(peak.dtype))
    return sharp.to(peak.dtype)


def power(base: Tensor, p: float, result: Tensor) -> Tensor:
    """base^p in `result`; by repeated multiplication if p is a small integer."""
    if p in (2, 3) or p not in range(1, 65):  # torch has a square and a cube of one pass
        return torch.pow(base, p, out=result)
    result.copy_(base)
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
        q: Float[Tensor, "row query d_head"],
        k: Float[Tensor, "row key d_head"],
        v: Float[Tensor, "row key d_head"],
        visible: Visible,
        p: float | None,
    ) -> Float[Tensor, "row query d_head"]:
        n_query, n_key = q.shape[-2], k.shape[-2]
        count = visible.count(n_query, n_key, q.device).to(q.dtype)[:, None]
        number = torch.arange(1, n_query + 1, device=q.device)[:, None] + visible.query_offset
        scale = math.log(q.shape[-1]) * count.log()
        q_length, k_length = (
            # shorter ones are not normalised, as in torch's `normalize`
            torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_(min=1e-12)
            for x in (q, k)
        )
        q, k = q / q_length, k / k_length
        scaled = q * scale
        # A row of LSSAR with softpluses a_j of its N keys, Z = Σ a_j and the largest weight
        # P = max a_j N/Z is
        #     x_j = relu(a_j N/Z − O) / (P − O) = relu(unit·a_j − cut),
        #     output = Σ x_j^p v_j / Σ x_j^p,
        # in which P − O cancels: it only keeps the largest x at 1, so that no power overflows.
        # Z and P are known when all keys of a row have been seen, so that the tiles of a group of
        # queries are walked twice: for Z and P, then for the powers. The sums of x^(p−1), `less`
        # without and `lower` with the values, are what the derivative needs.
        ctx.groups = _groups(q, n_key, visible)
        training = any(ctx.needs_input_grad)
        ctx.keeps = training and q.shape[0] * n_query * n_key <= KEPT
        output, lower = torch.zeros_like(q), torch.zeros_like(q)
        room = _room(q, ctx.groups, 2)
        rows: list[Tensor] = []
        kept: list[Tensor] = []
        for group in ctx.groups:
            at = group[0].queries
            tiles, total, peak = [], scaled.new_zeros(()), scaled.new_zeros(())
            for tile in group:
                a = _softplus(scaled, k, tile)
                total = total + a.sum(-1, keepdim=True)
                if p is None:
                    output[:, at] += a @ v[:, tile.keys]
                else:
                    peak = torch.maximum(peak, a.amax(-1, keepdim=True))
                tiles.append(a)
            unit, cut, norm, less = total, total, total, total
            if p is not None:
                per_key = count[at] / total
                peak = peak * per_key
                offset = row_offset(peak, number[at])
                unit, cut = per_key / (peak - offset), offset / (peak - offset)
                norm, less = torch.zeros_like(total), torch.zeros_like(total)
                for tile, a in zip(group, tiles, strict=True):
                    excess = _excess(a, unit, cut, p, room[0])
                    slope = _slope(excess, p, room[1])
                    weights = excess.mul_(slope)
                    norm += weights.sum(-1, keepdim=True)
                    output[:, at] += weights @ v[:, tile.keys]
                    if training:
                        less += slope.sum(-1, keepdim=True)
                        lower[:, at] += slope @ v[:, tile.keys]
            output[:, at].div_(norm)
            rows += [total, unit, cut, norm, less]
            kept += tiles if ctx.keeps else []
        ctx.p = p
        ctx.save_for_backward(q, k, v, q_length, k_length, scale, output, lower, *rows, *kept)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, q_length, k_length, scale, output, lower, *saved = ctx.saved_tensors
        rows, kept = saved[: 5 * len(ctx.groups)], iter(saved[5 * len(ctx.groups) :])
        scaled, p = q * scale, ctx.p
        along_output = (grad * output).sum(-1, keepdim=True)
        grad_q, grad_k, grad_v = (torch.zeros_like(x) for x in (q, k, v))
        room = _room(q, ctx.groups, 3)
        for group in ctx.groups:
            at = group[0].queries
            total, unit, cut, norm, less = rows[:5]
            del rows[:5]
            upper, along = grad[:, at] / norm, along_output[:, at] / norm
            if p is not None:
                # Let t_j = ∂L/∂(x_j^p) = (g·v_j − g·output) / norm. Besides its own x_j, a_j
                # changes every x_i through Z, by −unit·a_i/Z = −(x_i + cut)/Z. Summed up,
                #     ∂L/∂a_j = p unit (t_j x_j^(p−1) − common),
                #     common = Σ_i t_i x_i^(p−1) (x_i + cut) / (unit Z),
                # where Σ t_i x_i^p = 0, as the output does not change with the size of all x.
                along_lower = (grad[:, at] * lower[:, at]).sum(-1, keepdim=True) / norm
                common = cut * (along_lower - along * less) / (unit * total)
            for tile in group:
                a = next(kept) if ctx.keeps else _softplus(scaled, k, tile)
                # with respect to the weights before their row was divided by its norm
                through = _within(room[0], a)
                torch.bmm(upper, v[:, tile.keys].transpose(1, 2), out=through).sub_(along)
                weights = a
                if p is not None:
                    excess = _excess(a, unit, cut, p, room[1])
                    slope = _slope(excess, p, room[2])
                    through.mul_(slope).sub_(common).mul_(p * unit)
                    weights = excess.mul_(slope)
                grad_v[:, tile.keys] += weights.transpose(1, 2) @ upper
                # the derivative of softplus is 1 − exp(−softplus)
                flat = torch.neg(a, out=_within(room[2], a)).exp_()
                through.addcmul_(through, flat, value=-1)
                grad_q[:, at] += through @ k[:, tile.keys]
                grad_k[:, tile.keys] += through.transpose(1, 2) @ scaled[:, at]
        return (
            _through_unit_length(grad_q.mul_(scale), q, q_length),
            _through_unit_length(grad_k, k, k_length),
            grad_v,
            None,
            None,
        )


def _groups(q: Tensor, n_key: int, visible: Visible) -> list[list[QueryGroup]]:
    """Tiles of the matrix, by queries; on a GPU one."""
    side = max(64, int(math.sqrt(ELEMENTS / max(1, q.shape[0]))) // 16 * 16)
    if q.device.type != "cpu":
        side = max(q.shape[1], n_key)
    size = side if visible.window is None else min(side, max(BLOCK, visible.window))
    return [group.tiles(side) for group in visible.blocks(q.shape[1], n_key, size)]


def _softplus(scaled: Tensor, k: Tensor, tile: QueryGroup) -> Tensor:
    """(row, query, key) softplus of the scores, zero where a key is not seen."""
    # |score| ≤ log d · log N, so the exponential cannot overflow
    a = (scaled[:, tile.queries] @ k[:, tile.keys].transpose(1, 2)).exp_()
    seen = tile.visible.mask(a.shape[1], a.shape[2], a.device)
    if seen is not None:
        a.mul_(seen)
    return a.log1p_()


def _room(q: Tensor, groups: list[list[QueryGroup]], count: int) -> Tensor:
    """Memory for temporary tiles: fresh memory for each would cost more than computing them."""
    sides = [(tile.queries, tile.keys) for group in groups for tile in group]
    largest = max((down.stop - down.start) * (along.stop - along.start) for down, along in sides)
    return q.new_empty(count, q.shape[0] * largest)


def _within(room: Tensor, like: Tensor) -> Tensor:
    return room[: like.numel()].view(like.shape)


def _excess(a: Tensor, unit: Tensor, cut: Tensor, p: float, room: Tensor) -> Tensor:
    """relu(A·N − O) with the row's largest at 1."""
    excess = torch.mul(a, unit, out=_within(room, a)).sub_(cut)
    return torch.threshold_(excess, smallest_kept(a.dtype, p), 0.0)


def _slope(excess: Tensor, p: float, room: Tensor) -> Tensor:
    """The derivative of relu(x)^p, over p."""
    slope = power(excess, p - 1, _within(room, excess))
    return slope if p > 1 else slope.masked_fill_(excess == 0, 0.0)


def _through_unit_length(
    grad: Float[Tensor, "... d_head"],
    unit: Float[Tensor, "... d_head"],
    length: Float[Tensor, "... 1"],
) -> Float[Tensor, "... d_head"]:
    """The derivative with respect to x, given that with respect to x/|x|."""
    return (grad - unit * (grad * unit).sum(-1, keepdim=True)).div_(length)
