"""LSSA and LSSAR as a Triton kernel: forward in one kernel, backward in two, no matrix in memory.

With a_ij = softplus(s_ij) of row i, s_ij = log d · log N_i · q̂_i·k̂_j, LSSA is
o_i = Σ a_ij v_j / Z_i with Z_i = Σ a_ij. LSSAR walks the keys of a row twice. The first walk gives
Z_i and the largest A·N, P_i = max_j a_ij N_i/Z_i; the second, with the offset O_i (1; 0 in the
first three rows and in flat ones),

    x_ij = relu(a_ij N_i/Z_i − O_i) / (P_i − O_i) = relu(unit_i a_ij − cut_i),
    S_i = Σ x_ij^p,         o_i  = Σ x_ij^p v_j / S_i,
    S'_i = Σ x_ij^(p−1),    o'_i = Σ x_ij^(p−1) v_j / S'_i    (only for the derivative),

where the division by P_i − O_i cancels in o and keeps every power at or below 1. Backward with the
upstream g, D_i = g_i·o_i:

    ∂L/∂a_ij = p unit_i [ x_ij^(p−1) (g_i·v_j − D_i)/S_i − (O_i/N_i) (S'_i/S_i) (g_i·o'_i − D_i) ].

The first term is what an ordinary attention has. The second is the share through Z_i: it would be
Σ_k x_ik^(p−1) (x_ik + cut_i) (g_i·v_k − D_i), but Σ_k x_ik^p (g_i·v_k − D_i) = 0, so that cut_i
alone is left. It is the same for all keys of a row: a number, made from two row sums before the
backward kernels run. For LSSA ∂L/∂a_ij = (g_i·v_j − D_i)/Z_i. Then ∂L/∂s_ij = ∂L/∂a_ij σ(s_ij).

Queries and keys come as they are: their lengths enter as a number for each row and each column of
the scores, in float32, so that no unit vector is rounded to half precision.

Source: the formulas are those of `composition.py` and `dense.py`; blocks and loops are the usual
ones (Dao, FlashAttention-2, arXiv:2307.08691), without atomic additions: a step repeats to the bit.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

from worldmodel.attention.base import Visible
from worldmodel.attention.dense import UNSHARPENED, excess_noise

WIDEST = 128
"""Numbers of a head that leave room for blocks of 32 keys or more."""


def kernel_attention(
    q: Float[Tensor, "batch head query d_head"],
    k: Float[Tensor, "batch head key d_head"],
    v: Float[Tensor, "batch head key d_head"],
    visible: Visible,
    p: float | None,
) -> Float[Tensor, "batch head query d_head"]:
    """The output of LSSA (p = None) or LSSAR(p); float32 or bfloat16."""
    count = visible.count(q.shape[-2], k.shape[-2], q.device).clamp(min=1).float()
    number = torch.arange(1, q.shape[-2] + 1, device=q.device) + visible.query_offset
    shift = visible.query_offset - visible.key_offset
    training = torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v))
    flat = (x.flatten(0, -3).contiguous() for x in (q, k, v))
    view = visible.causal, visible.window or 0, shift
    output, _, _ = _attend(*flat, count, number > UNSHARPENED, *view, p or 0.0, training)
    return output.unflatten(0, q.shape[:-2])


@torch.library.custom_op("orbitlaw::softplus_attention", mutates_args=())
def _attend(
    q: Tensor, k: Tensor, v: Tensor, count: Tensor, sharp: Tensor,
    causal: bool, window: int, shift: int, p: float, training: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Output, o' (empty unless training), and the rows unit, cut, 1/S, S'; p = 0: LSSA."""
    output = torch.empty_like(q)
    lower = torch.empty_like(q) if training and p else q.new_empty(0)
    rows = torch.empty((4, *q.shape[:2]), dtype=torch.float32, device=q.device)
    shapes, blocks = _constants(q, k, causal, window, shift, p)
    grid = (-(-q.shape[1] // blocks["M"]), q.shape[0])
    lengths = _unit_q(q, count), _unit_k(k)
    noise = excess_noise(torch.float32)
    _forward[grid](
        q, k, v, *lengths, count, sharp.float(), output, lower, rows, *shapes, noise,
        TRAINING=training, **blocks,
    )  # fmt: skip
    return output, lower, rows


@_attend.register_fake
def _(q: Tensor, k: Tensor, v: Tensor, count: Tensor, sharp: Tensor, causal: bool, window: int,
      shift: int, p: float, training: bool) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    lower = torch.empty_like(q) if training and p else q.new_empty(0)
    return torch.empty_like(q), lower, q.new_empty((4, *q.shape[:2]), dtype=torch.float32)


@torch.library.custom_op("orbitlaw::softplus_attention_backward", mutates_args=())
def _differentiate(
    grad: Tensor, q: Tensor, k: Tensor, v: Tensor, output: Tensor, lower: Tensor, rows: Tensor,
    count: Tensor, causal: bool, window: int, shift: int, p: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Derivatives with respect to q, k and v."""
    unit, cut, inverse, less = rows
    along = (grad.float() * output.float()).sum(-1)
    common = torch.zeros_like(along)
    if p:
        along_lower = (grad.float() * lower.float()).sum(-1)
        common = (cut > 0) * (less * inverse / count) * (along_lower - along)
    lengths = _unit_q(q, count), _unit_k(k)
    rows = torch.stack((unit, cut, inverse, along, common, lengths[0]))
    grads = [torch.empty_like(x) for x in (q, k, v)]
    shapes, blocks = _constants(q, k, causal, window, shift, p)
    for kernel, block, x in ((_backward_q, "M", q), (_backward_kv, "B", k)):
        grid = (-(-x.shape[1] // blocks[block]), q.shape[0])
        results = grads[:1] if x is q else grads[1:]
        kernel[grid](q, k, v, grad, rows, lengths[1], *results, *shapes, **blocks)
    return grads[0], grads[1], grads[2]


@_differentiate.register_fake
def _(grad: Tensor, q: Tensor, k: Tensor, v: Tensor, output: Tensor, lower: Tensor, rows: Tensor,
      count: Tensor, causal: bool, window: int, shift: int, p: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    return torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)


def _keep(ctx: Any, inputs: tuple, output: tuple) -> None:
    q, k, v, count, _, *ctx.options, _ = inputs
    ctx.save_for_backward(q, k, v, *output, count)


def _through(ctx: Any, grad: Tensor, *_: Any) -> tuple:
    found = _differentiate(grad.contiguous(), *ctx.saved_tensors, *ctx.options)
    return (*found, *[None] * 7)


_attend.register_autograd(_through, setup_context=_keep)


def _unit_q(q: Tensor, count: Tensor) -> Tensor:
    """(row, query) log d · log N / |q|; vectors shorter than 1e-12 are left as short."""
    length = torch.linalg.vector_norm(q, dim=-1, dtype=torch.float32).clamp(min=1e-12)
    return math.log(q.shape[-1]) * count.log() / length


def _unit_k(k: Tensor) -> Tensor:
    """(row, key) 1/|k|."""
    return 1 / torch.linalg.vector_norm(k, dim=-1, dtype=torch.float32).clamp(min=1e-12)


def _constants(
    q: Tensor, k: Tensor, causal: bool, window: int, shift: int, p: float
) -> tuple[tuple[int, int, int], dict[str, Any]]:
    """Numbers of queries and keys, and their shift; what the kernels are compiled for."""
    # a small whole power is multiplied out: on a GPU that costs less than two transcendental
    # functions, of which a score has two already
    whole = int(p) - 1 if p in range(1, 64) else -1
    exact = torch.get_float32_matmul_precision() == "highest"
    fixed: dict[str, Any] = {
        "CAUSAL": causal,
        "WINDOW": window,
        "P": p,
        "WHOLE": whole,
        "WIDTH": q.shape[-1],
    }
    fixed |= {"D": max(16, triton.next_power_of_2(q.shape[-1]))}
    fixed |= {"PRECISION": "ieee" if exact else "tf32"}
    return (q.shape[1], k.shape[1], shift), fixed | block_sizes(q.dtype, q.shape[-1])


def block_sizes(dtype: torch.dtype, width: int) -> dict[str, int]:
    """Queries (M) and keys (B) of a block, and the warps that share it."""
    if dtype == torch.bfloat16:
        # the fastest of eight choices on an H200 for each pass, or within 10 % of it, at widths of
        # 64 and 128 (`tests/benchmarks/attention_gpu.py --block`)
        return {"M": 64, "B": 32, "num_warps": 4, "num_stages": 3}
    # in float32, as IEEE prescribes, larger blocks spill what they hold
    return {"M": 32, "B": 32, "num_warps": 8 if width > 64 else 4, "num_stages": 2}


@triton.jit
def _load(x, at, n, WIDTH: tl.constexpr, D: tl.constexpr):
    """(at, D) rows of a matrix (n, WIDTH), zero outside."""
    column = tl.arange(0, D)
    inside = (at < n)[:, None] & (column < WIDTH)[None, :]
    return tl.load(x + at[:, None] * WIDTH + column[None, :], mask=inside, other=0.0)


@triton.jit
def _keys(k, unit_k, of_k, start, n_key, WIDTH: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    """The numbers of a block of keys, the keys, and 1/|k|."""
    key = start + tl.arange(0, B)
    keys = _load(k + of_k * WIDTH, key, n_key, WIDTH, D)
    return key, keys, tl.load(unit_k + of_k + key, mask=key < n_key, other=0.0)


@triton.jit
def _store(x, at, n, values, WIDTH: tl.constexpr, D: tl.constexpr):
    column = tl.arange(0, D)
    inside = (at < n)[:, None] & (column < WIDTH)[None, :]
    values = values.to(x.dtype.element_ty)
    tl.store(x + at[:, None] * WIDTH + column[None, :], values, mask=inside)


@triton.jit
def _softplus(
    q, k, unit_q, unit_k, query, key, n_key, shift,
    EDGE: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """(query, key) softplus of the scores and its derivative, zero where a key is not seen; without
    EDGE all of them are."""
    score = tl.dot(q, tl.trans(k), input_precision=PRECISION)
    u = tl.exp(score * unit_q[:, None] * unit_k[None, :])  # |score| ≤ log d · log N: no overflow
    # 1 + u loses the digits of a small u, and the rows of LSSA may be small throughout: there the
    # series, whose first omitted term is u⁵/6 < 2e-7 of it
    series = u * (1 - u * (0.5 - u * (0.33333333 - u * (0.25 - u * 0.2))))
    a = tl.where(u < 0.0625, series, tl.log(1 + u))
    slope = u / (1 + u)
    if EDGE:
        seen = _seen(query, key, n_key, shift, CAUSAL, WINDOW)
        a, slope = tl.where(seen, a, 0.0), tl.where(seen, slope, 0.0)
    return a, slope


@triton.jit
def _seen(query, key, n_key, shift, CAUSAL: tl.constexpr, WINDOW: tl.constexpr):
    """(query, key) whether the query sees the key."""
    back = query[:, None] + shift - key[None, :]
    seen = (key < n_key)[None, :] & (back == back)
    if CAUSAL:
        seen = seen & (back >= 0)
    if WINDOW > 0:
        seen = seen & (back < WINDOW) & (back > -WINDOW)
    return seen


@triton.jit
def _sharpened(a, unit, cut, P: tl.constexpr, WHOLE: tl.constexpr):
    """x^(p−1) and x^p of x = relu(unit·a − cut), which is at most 1."""
    x = tl.maximum(a * unit[:, None] - cut[:, None], 0.0)
    if WHOLE >= 0:  # x^WHOLE from the squares x, x², x⁴, ...: a bit of WHOLE each
        slope = tl.full(x.shape, 1.0, tl.float32)
        square = x
        for bit in tl.static_range(6):
            if (WHOLE >> bit) & 1:
                slope *= square
            square *= square
    else:
        # a smaller number would be taken for a float64
        slope = tl.exp2((P - 1) * tl.log2(tl.maximum(x, 1e-37)))
    slope = tl.where(x > 0, slope, 0.0)
    return slope, x * slope


@triton.jit
def _keys_seen(first_query, n_key, shift, M: tl.constexpr, B: tl.constexpr, CAUSAL: tl.constexpr,
               WINDOW: tl.constexpr):  # fmt: skip
    """The first and the last key, of whole blocks, that any of M queries sees, and the one before
    which each of them sees all."""
    at = first_query + shift
    first, last, all_seen = 0, n_key, n_key
    if CAUSAL:
        last = tl.minimum(n_key, at + M)
        all_seen = tl.minimum(n_key, at + 1)
    elif WINDOW > 0:
        last = tl.minimum(n_key, at + M - 1 + WINDOW)
    if WINDOW > 0:
        first = tl.maximum(0, at - WINDOW + 1) // B * B
        all_seen = first
    return first, last, tl.maximum(first, all_seen // B * B)


@triton.jit
def _queries_seeing(first_key, n_query, shift, M: tl.constexpr, B: tl.constexpr,
                    CAUSAL: tl.constexpr, WINDOW: tl.constexpr):  # fmt: skip
    """The first and the last query, of whole blocks, that sees any of B keys, and the one from
    which each sees all of them."""
    at = first_key - shift
    first, last, all_see = 0, n_query, 0
    if CAUSAL:
        first = tl.maximum(0, at) // M * M
        # the block that begins at the last key, at + B - 1, or behind it
        all_see = tl.maximum(0, at + B + M - 2) // M * M
    elif WINDOW > 0:
        first = tl.maximum(0, at - WINDOW + 1) // M * M
    if WINDOW > 0:
        last = tl.minimum(n_query, at + B - 1 + WINDOW)
        all_see = last
    return first, last, tl.minimum(all_see, last)


@triton.jit
def _forward(
    q, k, v, unit_q, unit_k, count, sharp, output, lower, rows, n_query, n_key, shift, noise,
    CAUSAL: tl.constexpr, WINDOW: tl.constexpr, P: tl.constexpr, WHOLE: tl.constexpr,
    WIDTH: tl.constexpr, D: tl.constexpr, PRECISION: tl.constexpr, TRAINING: tl.constexpr,
    M: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    """A block of queries of one head: output, o' and row sums."""
    row = tl.program_id(1).to(tl.int64)
    first_query = (tl.num_programs(0) - 1 - tl.program_id(0)) * M  # the longest rows begin first
    query = first_query + tl.arange(0, M)
    real = query < n_query
    of_q, of_k = row * n_query, row * n_key
    queries = _load(q + of_q * WIDTH, query, n_query, WIDTH, D)
    scale = tl.load(unit_q + of_q + query, mask=real, other=0.0)
    first, last, all_seen = _keys_seen(first_query, n_key, shift, M, B, CAUSAL, WINDOW)
    unit = tl.full((M,), 1.0, tl.float32)
    cut = tl.full((M,), 0.0, tl.float32)
    if P > 0:
        total = tl.full((M,), 0.0, tl.float32)
        peak = tl.full((M,), 0.0, tl.float32)
        for EDGE in tl.static_range(2):  # first those that every query sees
            begin = all_seen if EDGE else first
            end = last if EDGE else all_seen
            for start in range(begin, end, B):
                key, keys, inverse = _keys(k, unit_k, of_k, start, n_key, WIDTH, D, B)
                a, _ = _softplus(
                    queries, keys, scale, inverse, query, key, n_key, shift,
                    EDGE, CAUSAL, WINDOW, PRECISION,
                )  # fmt: skip
                total += tl.sum(a, 1)
                peak = tl.maximum(peak, tl.max(a, 1))
        # a row that sees no key has a total and a peak of 0
        per_key = tl.load(count + query, mask=real, other=1.0) / tl.where(total > 0, total, 1.0)
        peak *= per_key
        past_third = tl.load(sharp + query, mask=real, other=0.0)
        offset = tl.where(peak > 1 + noise, past_third, 0.0)
        above = tl.where(peak > 0, peak - offset, 1.0)
        unit, cut = per_key / above, offset / above
    norm = tl.full((M,), 0.0, tl.float32)
    less = tl.full((M,), 0.0, tl.float32)
    mixed = tl.full((M, D), 0.0, tl.float32)
    mixed_lower = tl.full((M, D), 0.0, tl.float32)
    for EDGE in tl.static_range(2):  # first the keys that every query sees
        begin = all_seen if EDGE else first
        end = last if EDGE else all_seen
        for start in range(begin, end, B):
            key, keys, inverse = _keys(k, unit_k, of_k, start, n_key, WIDTH, D, B)
            values = _load(v + of_k * WIDTH, key, n_key, WIDTH, D)
            weights, _ = _softplus(
                queries, keys, scale, inverse, query, key, n_key, shift,
                EDGE, CAUSAL, WINDOW, PRECISION,
            )  # fmt: skip
            if P > 0:
                slope, weights = _sharpened(weights, unit, cut, P, WHOLE)
                if TRAINING:
                    less += tl.sum(slope, 1)
                    slope = slope.to(values.dtype)
                    mixed_lower += tl.dot(slope, values, input_precision=PRECISION)
            norm += tl.sum(weights, 1)
            mixed += tl.dot(weights.to(values.dtype), values, input_precision=PRECISION)
    inverse_norm = 1 / tl.where(norm > 0, norm, 1.0)
    _store(output + of_q * WIDTH, query, n_query, mixed * inverse_norm[:, None], WIDTH, D)
    if TRAINING:
        if P > 0:
            mixed_lower /= tl.where(less > 0, less, 1.0)[:, None]
            _store(lower + of_q * WIDTH, query, n_query, mixed_lower, WIDTH, D)
        each = tl.num_programs(1).to(tl.int64) * n_query
        tl.store(rows + of_q + query, unit, mask=real)
        tl.store(rows + each + of_q + query, cut, mask=real)
        tl.store(rows + 2 * each + of_q + query, inverse_norm, mask=real)
        tl.store(rows + 3 * each + of_q + query, less, mask=real)


@triton.jit
def _slopes(
    queries, keys, values, grads, unit_k, rows, each, query, key, n_query, n_key, shift,
    EDGE: tl.constexpr, CAUSAL: tl.constexpr, WINDOW: tl.constexpr, P: tl.constexpr,
    WHOLE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """(query, key) weights, the derivative by the scores, and log d · log N / |q| of each query."""
    real = query < n_query
    unit = tl.load(rows + query, mask=real, other=0.0)
    cut = tl.load(rows + each + query, mask=real, other=0.0)
    inverse_norm = tl.load(rows + 2 * each + query, mask=real, other=0.0)
    along = tl.load(rows + 3 * each + query, mask=real, other=0.0)
    scale = tl.load(rows + 5 * each + query, mask=real, other=0.0)
    weights, rise = _softplus(
        queries, keys, scale, unit_k, query, key, n_key, shift, EDGE, CAUSAL, WINDOW, PRECISION
    )
    through = tl.dot(grads, tl.trans(values), input_precision=PRECISION) - along[:, None]
    through *= inverse_norm[:, None]
    if P > 0:
        common = tl.load(rows + 4 * each + query, mask=real, other=0.0)
        slope, weights = _sharpened(weights, unit, cut, P, WHOLE)
        through = (P * unit)[:, None] * (slope * through - common[:, None])
    return weights * inverse_norm[:, None], through * rise, scale


@triton.jit
def _through_length(grad, x):
    """The derivative by x, up to 1/|x|, from that by x/|x|: what lies along x changes nothing."""
    square = tl.maximum(tl.sum(x * x, 1), 1e-24)
    return grad - x * (tl.sum(x * grad, 1) / square)[:, None]


@triton.jit
def _backward_q(
    q, k, v, grad, rows, unit_k, grad_q, n_query, n_key, shift,
    CAUSAL: tl.constexpr, WINDOW: tl.constexpr, P: tl.constexpr, WHOLE: tl.constexpr,
    WIDTH: tl.constexpr, D: tl.constexpr, PRECISION: tl.constexpr, M: tl.constexpr,
    B: tl.constexpr,
):  # fmt: skip
    """The derivative by a block of queries."""
    row = tl.program_id(1).to(tl.int64)
    first_query = (tl.num_programs(0) - 1 - tl.program_id(0)) * M
    query = first_query + tl.arange(0, M)
    of_q, of_k = row * n_query, row * n_key
    each = tl.num_programs(1).to(tl.int64) * n_query
    queries = _load(q + of_q * WIDTH, query, n_query, WIDTH, D)
    grads = _load(grad + of_q * WIDTH, query, n_query, WIDTH, D)
    scale = tl.load(rows + 5 * each + of_q + query, mask=query < n_query, other=0.0)
    found = tl.full((M, D), 0.0, tl.float32)
    first, last, all_seen = _keys_seen(first_query, n_key, shift, M, B, CAUSAL, WINDOW)
    for EDGE in tl.static_range(2):  # first the keys that every query sees
        begin = all_seen if EDGE else first
        end = last if EDGE else all_seen
        for start in range(begin, end, B):
            key, keys, inverse = _keys(k, unit_k, of_k, start, n_key, WIDTH, D, B)
            values = _load(v + of_k * WIDTH, key, n_key, WIDTH, D)
            _, through, _ = _slopes(
                queries, keys, values, grads, inverse, rows + of_q, each, query, key, n_query,
                n_key, shift, EDGE, CAUSAL, WINDOW, P, WHOLE, PRECISION,
            )  # fmt: skip
            through = (through * inverse[None, :]).to(keys.dtype)
            found += tl.dot(through, keys, input_precision=PRECISION)
    found = scale[:, None] * _through_length(found, queries.to(tl.float32))
    _store(grad_q + of_q * WIDTH, query, n_query, found, WIDTH, D)


@triton.jit
def _backward_kv(
    q, k, v, grad, rows, unit_k, grad_k, grad_v, n_query, n_key, shift,
    CAUSAL: tl.constexpr, WINDOW: tl.constexpr, P: tl.constexpr, WHOLE: tl.constexpr,
    WIDTH: tl.constexpr, D: tl.constexpr, PRECISION: tl.constexpr, M: tl.constexpr,
    B: tl.constexpr,
):  # fmt: skip
    """The derivatives by a block of keys and of values."""
    row = tl.program_id(1).to(tl.int64)
    first_key = tl.program_id(0) * B
    of_q, of_k = row * n_query, row * n_key
    each = tl.num_programs(1).to(tl.int64) * n_query
    key, keys, inverse = _keys(k, unit_k, of_k, first_key, n_key, WIDTH, D, B)
    values = _load(v + of_k * WIDTH, key, n_key, WIDTH, D)
    found_k = tl.full((B, D), 0.0, tl.float32)
    found_v = tl.full((B, D), 0.0, tl.float32)
    first, last, all_see = _queries_seeing(first_key, n_query, shift, M, B, CAUSAL, WINDOW)
    for INSIDE in tl.static_range(2):  # keys beyond the last are not stored: no edge of their own
        begin = all_see if INSIDE else first
        end = last if INSIDE else all_see
        for start in range(begin, end, M):
            query = start + tl.arange(0, M)
            queries = _load(q + of_q * WIDTH, query, n_query, WIDTH, D)
            grads = _load(grad + of_q * WIDTH, query, n_query, WIDTH, D)
            weights, through, scale = _slopes(
                queries, keys, values, grads, inverse, rows + of_q, each, query, key, n_query,
                n_key, shift, not INSIDE, CAUSAL, WINDOW, P, WHOLE, PRECISION,
            )  # fmt: skip
            found_v += tl.dot(tl.trans(weights.to(grads.dtype)), grads, input_precision=PRECISION)
            through = (through * scale[:, None]).to(queries.dtype)
            found_k += tl.dot(tl.trans(through), queries, input_precision=PRECISION)
    found_k = inverse[:, None] * _through_length(found_k, keys.to(tl.float32))
    _store(grad_k + of_k * WIDTH, key, n_key, found_k, WIDTH, D)
    _store(grad_v + of_k * WIDTH, key, n_key, found_v, WIDTH, D)
