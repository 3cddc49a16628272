"""The Triton kernel on CPU tensors, in Triton's interpreter, against the dense float64 form.

The interpreter runs the kernel's arithmetic block by block. That it compiles for a GPU,
and what it does on one, is held by `test_attention_fused.py`.
"""

import sys
from importlib import import_module, reload

import pytest
import torch

from worldmodel.attention import Visible, make_attention

pytestmark = pytest.mark.needs("triton")

VIEWS = {
    "causal": (Visible(), 37, 37),  # 37: no multiple of a block
    "window": (Visible(window=7), 37, 37),
    "alone": (Visible(window=1), 20, 20),  # every row is flat
    "both sides": (Visible(causal=False), 21, 37),
    "both sides, window": (Visible(causal=False, window=5), 37, 37),
    "late queries": (Visible(query_offset=30, key_offset=10), 11, 31),
}
CASES = [
    *((p, view, torch.float32) for p in (None, 3.0) for view in VIEWS),
    *((p, view, torch.float32) for p in (1.0, 2.5, 15.0) for view in ("causal", "window")),
    *((p, view, torch.bfloat16) for p in (None, 3.0, 15.0) for view in ("causal", "window")),
]


@pytest.fixture(scope="module")
def kernel():
    """The kernel's module, interpreted, with blocks that are smaller than the sequences.

    Triton decides when a function is defined, its own ones too: all of it is imported anew.
    """
    module = import_module("worldmodel.attention.kernel")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_INTERPRET", "1")
        for name in [n for n in sys.modules if n.split(".")[0] == "triton" and "._C" not in n]:
            patch.delitem(sys.modules, name)
        reload(module)
        mend_bfloat16(patch)
        sizes = {"M": 16, "B": 32, "num_warps": 4, "num_stages": 2}
        patch.setattr(module, "block_sizes", lambda *_: sizes)
        yield module
    reload(module)


def mend_bfloat16(monkeypatch):
    """The interpreter (Triton 3.7) holds bfloat16 as its bits, cuts it off instead of rounding it,
    and multiplies matrices of the bits: here it is rounded as a GPU does and multiplied as numbers.
    """
    import numpy as np
    import triton.language as tl
    from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

    dot, cast = InterpreterBuilder.create_dot, InterpreterBuilder.cast_impl

    def wide(x):
        if x.dtype.scalar != tl.bfloat16:
            return x
        bits = torch.from_numpy(x.data.astype(np.uint16).view(np.int16)).view(torch.bfloat16)
        return TensorHandle(bits.float().numpy(), tl.float32)

    def cast_impl(self, x, to):
        if to.scalar != tl.bfloat16:
            return cast(self, wide(x), to)
        bits = torch.from_numpy(wide(x).data.astype(np.float32)).bfloat16().view(torch.int16)
        return TensorHandle(bits.numpy().view(np.uint16), tl.bfloat16)

    monkeypatch.setattr(InterpreterBuilder, "cast_impl", cast_impl)
    monkeypatch.setattr(
        InterpreterBuilder,
        "create_dot",
        lambda self, a, b, *rest: dot(self, wide(a), wide(b), *rest),
    )


def drawn(n_query, n_key, d_head, dtype):
    """q, k, v and an upstream gradient, rounded to the dtype."""
    generator = torch.Generator().manual_seed(1)
    shapes = [(1, 2, n, d_head) for n in (n_query, n_key, n_key, n_query)]
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


def outcome(attend, inputs, upstream):
    """Output and derivatives."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    output = attend(*inputs)
    output.backward(upstream.to(output.dtype))
    return [output.detach(), *(x.grad for x in inputs)]


def dense(p, visible):
    def attend(q, k, v):
        attention = make_attention("lssa" if p is None else f"lssar(p={p})", q.shape[-1], 2)
        return attention.weights(q, k, visible) @ v

    return attend


def errors(kernel, p, visible, inputs, upstream):
    """Relative, in norm: of output, dq, dk, dv."""
    found = outcome(lambda *x: kernel.kernel_attention(*x, visible, p), inputs, upstream)
    exact = outcome(dense(p, visible), [x.double() for x in inputs], upstream)
    return [
        float((a.double() - b).norm() / b.norm().clamp(min=1e-6))
        for a, b in zip(found, exact, strict=True)
    ]


@pytest.mark.parametrize(("p", "view", "dtype"), CASES, ids=str)
def test_output_and_derivatives_are_those_of_the_dense_form(kernel, p, view, dtype):
    visible, n_query, n_key = VIEWS[view]
    *inputs, upstream = drawn(n_query, n_key, 24, dtype)  # 24: not the width of a block either
    found = errors(kernel, p, visible, inputs, upstream)
    # Some units in the last place of the weights' excess over 1, times p; in bfloat16 (eps 0.8 %)
    # the output is rounded, and weights are for their product with the values.
    rounded = torch.finfo(dtype).eps if dtype == torch.bfloat16 else 0
    assert max(found) < (p or 1) * 8 * torch.finfo(torch.float32).eps + rounded


@pytest.mark.parametrize("p", [None, 3.0])
def test_the_first_three_rows_are_powers_of_the_weights_themselves(kernel, p):
    *inputs, _ = drawn(4, 4, 16, torch.float32)
    output = kernel.kernel_attention(*inputs, Visible(), p)
    weights = make_attention("lssa", 16, 2).weights(*inputs[:2], Visible()) ** (p or 1)
    rows = (weights / weights.sum(-1, keepdim=True)) @ inputs[2]
    assert torch.allclose(output[..., :3, :], rows[..., :3, :], atol=1e-6)
    assert torch.allclose(output[..., 3, :], rows[..., 3, :], atol=1e-6) == (p is None)


@pytest.mark.parametrize("p", [None, 3.0])
def test_flat_rows_and_vectors_of_no_length_give_numbers(kernel, p):
    q, k, v, upstream = drawn(20, 20, 16, torch.float32)
    k[:, 0] = k[:, 0, :1]  # equal keys: no weight is above the mean
    q[:, 1, 5] = 0  # nor for this query
    found = outcome(lambda *x: kernel.kernel_attention(*x, Visible(), p), (q, k, v), upstream)
    assert all(x.isfinite().all() for x in found)
    exact = outcome(dense(p, Visible()), [x.double() for x in (q, k, v)], upstream)
    assert (found[0] - exact[0]).abs().max() < 1e-5


def test_scores_so_low_that_one_plus_their_exponential_is_one(kernel):
    """All weights of the last rows are about e^−19: their ratios are as exact as any."""
    *inputs, upstream = drawn(100, 100, 64, torch.float32)
    q, k, v = (x[:1, :1] for x in inputs)
    k = k.abs() + 1
    q = -k + 0.05 * q  # log 64 · log 100 = 19
    found = errors(kernel, 3.0, Visible(), (q, k, v), upstream[:1, :1])
    assert max(found) < 1e-4  # a unit in the last place of scores near 19 is 2e-6, times p · 19


def test_a_compiled_network_may_hold_the_kernel(kernel):
    """To torch.compile it is one operation, with its derivative."""
    *inputs, upstream = drawn(20, 20, 16, torch.float32)

    def attend(q, k, v):
        return 2 * kernel.kernel_attention(q, k, v, Visible(), 3.0)

    plain = outcome(attend, inputs, upstream)
    compiled = torch.compile(attend, fullgraph=True, backend="aot_eager")
    for one, other in zip(plain, outcome(compiled, inputs, upstream), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
