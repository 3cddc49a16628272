"""LSSA and LSSAR without a matrix in memory: the Triton kernel, or two passes of FlexAttention.

The kernel (`kernel.py`) walks the matrix fewer times; where it does not fit (`passes_for` says
which), the rest of this file is used.

FlexAttention computes Σ_j exp(score_ij) v_j / Σ_j exp(score_ij). With score = log softplus(s)
that is LSSA, and its log-sum-exp is the log of LSSA's l1 norm Z. A second pass with
score = p · log relu(N·softplus(s)/Z − O) is LSSAR. Memory grows with length, not its square.

The second pass depends on Z, too. Were Z a captured tensor with a gradient, every score would add
to it atomically; instead its gradient has a closed form. With u = N/Z, excess e_ij = u_i
softplus(s_ij) − O_i, weights w_ij = e_ij^p / Σ_k e_ik^p, output o and upstream g,

    ∂L/∂log u_i = p O_i Σ_j w_ij/e_ij (g_i·v_j − g_i·o_i)
                = p O_i exp(lse' − lse) g_i·(o'_i − o_i),

where o' and lse' come from one more forward pass with the power p − 1.

Source: the formulas are those of `composition.py`; no published kernel is
used. On the CPU FlexAttention has no derivatives (torch 2.13) and writes out the matrix: there
these functions serve as a check, and `dense.py` for use.
"""

import functools
import math
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.attention.flex_attention import (
    AuxRequest,
    BlockMask,
    create_block_mask,
    flex_attention,
)
from torch.nn.functional import normalize, softplus

from worldmodel.attention.base import Visible
from worldmodel.attention.dense import UNSHARPENED, excess_noise

try:
    from worldmodel.attention import kernel
except ModuleNotFoundError:  # Triton comes with torch for CUDA, and with the extra `kernel`
    kernel = None  # type: ignore[assignment]


def passes_for(v: Tensor) -> Literal["triton", "flex"]:
    """What `fused_attention` computes with: the Triton kernel on a CUDA device, for float32 and
    bfloat16 and heads of at most 128; else FlexAttention."""
    fits = v.is_cuda and v.dtype in (torch.float32, torch.bfloat16)
    return "triton" if kernel and fits and v.shape[-1] <= kernel.WIDEST else "flex"


def fused_attention(
    q: Float[Tensor, "batch head query d_head"],
    k: Float[Tensor, "batch head key d_head"],
    v: Float[Tensor, "batch head key d_head"],
    visible: Visible,
    p: float | None,
) -> Float[Tensor, "batch head query d_head"]:
    """The output of LSSA (p = None) or LSSAR(p)."""
    if passes_for(v) == "triton":
        return kernel.kernel_attention(q, k, v, visible, p)
    return flex_passes(q, k, v, visible, p)


def flex_passes(
    q: Tensor, k: Tensor, v: Tensor, visible: Visible, p: float | None
) -> Float[Tensor, "batch head query d_head"]:
    """The same through FlexAttention."""
    wide = torch.promote_types(q.dtype, torch.float32)
    count = visible.count(q.shape[-2], k.shape[-2], q.device).to(wide)
    scale = math.log(q.shape[-1]) * count.log()
    mask = _block_mask(visible, q.shape[-2], k.shape[-2], str(q.device))
    q, k = normalize(q, dim=-1), normalize(k, dim=-1)

    def first(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return softplus(score * scale[query]).log()

    output, lse = _flex(q, k, v, first, mask)
    if p is None:
        return output
    # exp(lse) of the first pass is Z, so that unit·softplus(s) = A·N: its mean over a row is 1. The
    # offset O is 1 from the fourth row on. A row whose weights are all equal has none left above 1
    # (its log-sum-exp is −∞): it is made again with O = 0, as the dense form has it.
    unit = count * (-lse.detach()).exp()
    past_third = torch.arange(q.shape[-2], device=q.device) + visible.query_offset >= UNSHARPENED
    offset = past_third.to(unit.dtype).expand_as(unit).contiguous()
    output, lse_sharp = _flex(q, k, v, _sharpening(scale, unit, offset, p), mask)
    emptied = lse_sharp.detach().isinf()
    if emptied.any():  # the host waits for the answer here, as it never does for the kernel
        offset = offset.masked_fill(emptied, 0.0)
        output, lse_sharp = _flex(q, k, v, _sharpening(scale, unit, offset, p), mask)
    saved = (q.detach(), k.detach(), v.detach(), scale, unit, offset, mask, p, lse_sharp.detach())
    return _ThroughNorm.apply(output, lse, saved)


class _ThroughNorm(torch.autograd.Function):
    """The sharpened output unchanged; backwards, its share through the first log Z."""

    @staticmethod
    def forward(ctx: Any, output: Tensor, lse: Tensor, saved: tuple) -> Tensor:
        ctx.saved = saved
        ctx.save_for_backward(output)
        return output.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, scale, unit, offset, mask, p, lse_sharp = ctx.saved
        (output,) = ctx.saved_tensors
        lower, lse_lower = _flex(q, k, v, _sharpening(scale, unit, offset, p - 1), mask)
        along = (grad * (lower - output)).to(lse_sharp.dtype).sum(-1)
        # ∂ log u / ∂ log Z = −1
        return grad, -p * offset * (lse_lower - lse_sharp).exp() * along, None


def _sharpening(
    scale: Float[Tensor, " query"],
    unit: Float[Tensor, "batch head query"],
    offset: Float[Tensor, "batch head query"],
    p: float,
) -> Any:
    """The score modification of the second pass: p · log relu(u·softplus(s) − O)."""
    tiny, noise = torch.finfo(unit.dtype).tiny, excess_noise(unit.dtype)

    def second(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        positive = softplus(score * scale[query])
        excess = unit[batch, head, query] * positive - offset[batch, head, query]
        # clamped inside the logarithm, or its derivative where ReLU is zero would be 0 · ∞
        least = tiny + noise * offset[batch, head, query]
        return torch.where(excess > least, p * excess.clamp(min=tiny).log(), -torch.inf)

    return second


def _flex(
    q: Tensor, k: Tensor, v: Tensor, score_mod: Any, mask: BlockMask | None
) -> tuple[Tensor, Tensor]:
    """Output and log-sum-exp of each row."""
    flex = _compiled_flex() if q.is_cuda else flex_attention
    options = {"score_mod": score_mod, "block_mask": mask, "return_aux": AuxRequest(lse=True)}
    # Every length, batch and pass is compiled by itself. Past its usual limit of eight torch would
    # go on without compiling, the matrix written out: out of memory at 32 768 tokens of an H100.
    with torch._dynamo.config.patch(recompile_limit=2**16, accumulated_recompile_limit=2**16):
        output, aux = flex(q, k, v, scale=1.0, **options)
    return output, aux.lse


@functools.cache
def _compiled_flex() -> Any:
    return torch.compile(flex_attention, dynamic=False, fullgraph=True)


@functools.lru_cache
def _block_mask(visible: Visible, n_query: int, n_key: int, device: str) -> BlockMask | None:
    """Which blocks of the matrix are computed, and what those on the edge see."""
    if not visible.causal and visible.window is None:
        return None

    def sees(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        back = query + visible.query_offset - key - visible.key_offset
        seen = back >= 0 if visible.causal else back == back
        if visible.window is not None:
            seen = seen & (back < visible.window) & (back > -visible.window)
        return seen

    build = torch.compile(create_block_mask) if device.startswith("cuda") else create_block_mask
    return build(sees, None, None, n_query, n_key, device=device)
