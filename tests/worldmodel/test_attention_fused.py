"""The fused passes against the dense form: outputs anywhere, derivatives through a stand-in.

FlexAttention has no derivatives on the CPU. There its place is taken by a few lines that write
the matrix out and are differentiable, so that the algebra around it (the safe logarithm, the
closed form of the norm's gradient) is held; its own kernels are held on a GPU.
"""

import shutil
import warnings
from functools import partial

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention
from torch.nn.functional import scaled_dot_product_attention

from worldmodel.attention import Visible, fused, make_attention
from worldmodel.attention.composition import pair_attention

POWERS = (None, 1.0, 2.5, 3.0, 15.0)
NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def spec(p):
    return "lssa" if p is None else f"lssar(p={p:g})"


def draw(length, *, d_head=8, dtype=torch.float64, device="cpu", heads=2):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(3, 2, heads, length, d_head, dtype=torch.float64, generator=generator)
    return [part.to(device, dtype).requires_grad_() for part in x]


def written_out(q, k, v, score_mod, mask):
    """What `fused._flex` computes, with the matrix written out."""
    batch, head, query, key = torch.meshgrid(
        *(torch.arange(n) for n in (*q.shape[:3], k.shape[2])), indexing="ij"
    )
    scores = score_mod(q @ k.transpose(-1, -2), batch, head, query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask.mask_mod(batch, head, query, key), -torch.inf)
    largest = scores.detach().amax(-1, keepdim=True).clamp(min=torch.finfo(q.dtype).min)
    weights = (scores - largest).exp()
    norm = weights.sum(-1, keepdim=True)
    return weights / norm.clamp(min=1e-300) @ v, (norm.log() + largest).squeeze(-1)


@pytest.mark.few(6)
@pytest.mark.parametrize("visible", [Visible(), Visible(causal=False), Visible(window=7)], ids=str)
@pytest.mark.parametrize("p", POWERS)
def test_flex_attention_on_the_cpu_agrees_with_the_dense_form(p, visible):
    q, k, v = (x.detach() for x in draw(40))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is meant for GPUs
        output = fused.fused_attention(q, k, v, visible, p)
    dense = make_attention(spec(p), 8, 2).weights(q, k, visible) @ v
    # Rounding of A·N, divided by its excess over 1 and times p: a factor of 50 at p = 15 where a
    # window of 7 leaves no key far above the mean.
    assert (output - dense).abs().max() < 1e-14 * (10 if p == 15 else 1)


@pytest.mark.parametrize("visible", [Visible(), Visible(causal=False), Visible(window=5)], ids=str)
@pytest.mark.parametrize("p", POWERS)
def test_derivatives_around_the_passes_are_those_of_the_dense_form(monkeypatch, p, visible):
    monkeypatch.setattr(fused, "_flex", written_out)
    gradients = []
    attention = make_attention(spec(p), 8, 2)
    for path in (
        lambda q, k, v: fused.fused_attention(q, k, v, visible, p),
        lambda q, k, v: attention.weights(q, k, visible) @ v,
    ):
        inputs = draw(30)
        path(*inputs).square().sum().backward()
        gradients.append([x.grad for x in inputs])
    for fast, plain in zip(*gradients, strict=True):
        assert torch.allclose(fast, plain, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("p", [1.0, 3.0])
def test_rows_of_equal_weights_stay_even_and_learn_as_in_the_dense_form(monkeypatch, p):
    monkeypatch.setattr(fused, "_flex", written_out)
    attention = make_attention(spec(p), 8, 2)
    outcomes = []
    for path in (
        lambda q, k, v: fused.fused_attention(q, k, v, Visible(), p),
        lambda q, k, v: attention.weights(q, k, Visible()) @ v,
    ):
        inputs = draw(20)
        with torch.no_grad():
            inputs[1][:, 0] = inputs[1][:, 0, :1]  # one key again and again
        output = path(*inputs)
        output.square().sum().backward()
        outcomes.append([output.detach(), *(x.grad for x in inputs)])
    for fast, plain in zip(*outcomes, strict=True):
        assert torch.allclose(fast, plain, rtol=1e-10, atol=1e-10)


def test_without_a_gpu_flex_attention_is_used():
    assert fused.passes_for(torch.empty(1, 1, 8, 64)) == "flex"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
@pytest.mark.parametrize("p", [None, 15.0])
def test_the_score_modifications_compile(monkeypatch, p):
    compiled = torch.compile(flex_attention, dynamic=False)
    by_hand = fused._flex

    def flex(q, k, v, score_mod, mask):
        # compiled for the CPU, FlexAttention gives no log-sum-exp: that comes from the plain form
        output = compiled(q, k, v, score_mod=score_mod, block_mask=mask, scale=1.0)
        return output, by_hand(q, k, v, score_mod, mask)[1]

    monkeypatch.setattr(fused, "_flex", flex)
    q, k, v = (x.detach() for x in draw(256, d_head=16, dtype=torch.float32))
    output = fused.fused_attention(q, k, v, Visible(), p)
    exact = make_attention(spec(p), 16, 2).weights(q.double(), k.double(), Visible()) @ v.double()
    # rounding of A·N relative to its excess over 1, times p
    assert (output - exact).abs().max() < (p or 1) * 1e-5


def test_more_lengths_than_torch_recompiles_for_stay_compiled(monkeypatch):
    compiled = torch.compile(flex_attention, dynamic=False, fullgraph=True, backend="eager")
    monkeypatch.setattr(fused, "flex_attention", compiled)
    limit = torch._dynamo.config.recompile_limit
    for length in range(32, 34 + limit):  # past it, `fullgraph` refuses to run uncompiled
        q, k, v = (x.detach() for x in draw(length))
        output = fused.fused_attention(q, k, v, Visible(), None)
        assert output.shape == v.shape
    assert torch._dynamo.config.recompile_limit == limit


@pytest.mark.slow
@pytest.mark.needs("triton")
@pytest.mark.parametrize("capability", [80, 90])
@pytest.mark.parametrize("p", [None, 2.5, 3.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_the_kernel_compiles_for_a_gpu_that_is_not_there(dtype, p, capability):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = fused.kernel
    q = torch.empty(2, 64, 128, dtype=dtype)
    _, fixed = kernel._constants(q, q, True, 0, 0, p or 0.0)
    options = {name: fixed.pop(name) for name in ("num_warps", "num_stages")}
    fixed["TRAINING"] = True
    own = "*bf16" if dtype == torch.bfloat16 else "*fp32"
    of_values = {"n_query": "i32", "n_key": "i32", "shift": "i32", "noise": "fp32"}
    of_values |= dict.fromkeys(("unit_q", "unit_k", "count", "sharp", "rows"), "*fp32")
    for function in (kernel._forward, kernel._backward_q, kernel._backward_kv):
        names = function.arg_names
        signature = {n: "constexpr" if n in fixed else of_values.get(n, own) for n in names}
        constants = {name: fixed[name] for name in names if name in fixed}
        source = ASTSource(function, signature, constexprs=constants)
        built = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
        # shared memory of a block: 163 kB on an A100, 227 kB on an H100
        assert built.metadata.shared < 163_000


@pytest.mark.gpu
@NO_GPU
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("visible", [Visible(), Visible(window=100)], ids=str)
@pytest.mark.parametrize("p", [None, 3.0, 15.0])
@pytest.mark.parametrize("passes", ["triton", "flex"])
def test_gpu_kernels_agree_with_the_dense_float64_form(monkeypatch, passes, p, visible, dtype):
    monkeypatch.setattr(fused, "passes_for", lambda v: passes)
    outcomes = []
    for fast in (True, False):
        inputs = draw(2048, d_head=64, dtype=dtype, device="cuda")
        if fast:
            output = fused.fused_attention(*inputs, visible, p)
        else:
            wide = [x.double() for x in inputs]
            output = make_attention(spec(p), 64, 2).weights(*wide[:2], visible) @ wide[2]
        output.double().square().sum().backward()
        outcomes.append([output.detach(), *(x.grad for x in inputs)])
    for fast, exact in zip(*outcomes, strict=True):
        error = (fast.double() - exact.double()).norm() / exact.double().norm()
        # relative, in norm: units in the last place, times p and the slope log d · log N of scores
        assert error < (p or 1) * 32 * torch.finfo(dtype).eps


@pytest.mark.gpu
@NO_GPU
def test_memory_grows_with_the_length_and_not_its_square():
    peaks = []
    for length in (8192, 16384, 32768):
        inputs = draw(length, d_head=64, dtype=torch.bfloat16, device="cuda", heads=4)
        torch.cuda.reset_peak_memory_stats()
        fused.fused_attention(*inputs, Visible(), 3.0).float().sum().backward()
        peaks.append(torch.cuda.max_memory_allocated())
    # doubling the length may double the memory; a quarter more is for the block masks
    assert peaks[1] < 2.5 * peaks[0]
    assert peaks[2] < 2.5 * peaks[1]


def test_a_sequence_of_two_has_its_own_form_and_the_same_numbers():
    torch.manual_seed(0)
    q, k, v, weight = (torch.randn(5, 3, 2, 8, dtype=torch.float64) for _ in range(4))
    answers = []
    for form in (pair_attention, partial(scaled_dot_product_attention, is_causal=True)):
        inputs = [tensor.clone().requires_grad_() for tensor in (q, k, v)]
        out = form(*inputs)
        (out * weight).sum().backward()
        answers.append((out.detach(), *(tensor.grad for tensor in inputs)))
    for ours, theirs in zip(*answers, strict=True):
        assert torch.allclose(ours, theirs, rtol=0, atol=1e-14)
