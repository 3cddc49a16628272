"""The Triton kernel and FlexAttention's passes on a GPU: time against FlashAttention, and memory.

    python tests/benchmarks/attention_gpu.py --length 4096 --width 128

16 384 tokens of one attention (bf16, causal, 16 heads of 128 by default) in alternating repeats,
after warm-up and compilation: forward, and forward with backward. TFLOPS count two products of
matrices forward and five backward, half of each for causality, whatever a kind computes besides;
so they compare with published ones, and fall where LSSAR needs its second pass. With `--memory`
the peak by length, too, and whether the dense form fits.
"""

import argparse
import json
import statistics
from functools import partial

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from worldmodel.attention import Visible, make_attention
from worldmodel.attention.fused import flex_passes, fused_attention, passes_for
from worldmodel.attention.fused import kernel as triton_kernel

TOKENS = 16_384
PRODUCTS = {"forward": 2, "forward and backward": 7}
"""Products of matrices of length² × width."""


def inputs(batch: int, heads: int, length: int, width: int) -> list[torch.Tensor]:
    """Random q, k, v."""
    shape = (batch, heads, length, width)
    return [
        torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        for _ in range(3)
    ]


def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Softmax attention by FlashAttention."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return scaled_dot_product_attention(q, k, v, is_causal=True)


def kernel(p: float | None, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """LSSA, or LSSAR, by the Triton kernel."""
    assert passes_for(v) == "triton"
    return fused_attention(q, k, v, Visible(), p)


def flex(p: float | None, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The same through FlexAttention."""
    return flex_passes(q, k, v, Visible(), p)


def dense(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """LSSAR with the matrix written out."""
    return make_attention("lssar", q.shape[-1], q.shape[1]).weights(q, k, Visible()) @ v


CONTESTANTS = {
    "flash softmax": flash,
    "kernel lssa": partial(kernel, None),
    "kernel lssar": partial(kernel, 3.0),
    "flex lssa": partial(flex, None),
    "flex lssar": partial(flex, 3.0),
}


def milliseconds(name: str, tensors: list[torch.Tensor], what: str) -> float:
    """One pass."""
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    upstream = torch.ones_like(tensors[0])
    with torch.set_grad_enabled(what != "forward"):
        start.record()
        output = CONTESTANTS[name](*tensors)
        if what != "forward":
            output.backward(upstream)
        stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop)


def megabytes(attention, heads: int, length: int, width: int) -> float | None:
    """Peak memory of forward and backward of one sequence; None where it does not fit."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        attention(*inputs(1, heads, length, width)).sum().backward()
    except torch.cuda.OutOfMemoryError:
        return None
    return torch.cuda.max_memory_allocated() / 1e6


def main() -> None:
    """Print time and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=8192)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--block", type=int, nargs=4, help="queries, keys, warps and stages")
    parser.add_argument("--memory", action="store_true", help="peak memory by length as well")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(2, "attention_gpu: this benchmark needs a CUDA device.\n")
    if options.block:
        names = ("M", "B", "num_warps", "num_stages")
        sizes = dict(zip(names, options.block, strict=True))
        triton_kernel.block_sizes = lambda *_: sizes
    torch.manual_seed(0)
    heads, length, width = options.heads, options.length, options.width
    batch = max(1, TOKENS // length)
    tensors = inputs(batch, heads, length, width)
    for what, products in PRODUCTS.items():
        for name in CONTESTANTS:
            for _ in range(3):
                milliseconds(name, tensors, what)
        times = {name: [] for name in CONTESTANTS}
        for _ in range(options.repeats):
            for name, measured in times.items():
                measured.append(milliseconds(name, tensors, what))
        reference = statistics.median(times["flash softmax"])
        operations = products * batch * heads * length**2 * width  # 2 an element, half causal
        for name, measured in times.items():
            median = statistics.median(measured)
            row = {
                "what": what, "kind": name, "length": length, "batch": batch, "heads": heads,
                "width": width, "milliseconds": round(median, 4),
                "teraflops": round(operations / median / 1e9, 1),
                "times_flash": round(median / reference, 3),
                "device": torch.cuda.get_device_name(), "torch": torch.__version__,
            }  # fmt: skip
            print(json.dumps(row), flush=True)
    if options.memory:
        for longer in (4096, 8192, 16384, 32768):
            for name, attention in (
                ("kernel lssar", CONTESTANTS["kernel lssar"]),
                ("dense", dense),
            ):
                peak = megabytes(attention, 4, longer, 64)
                print(json.dumps({"length": longer, "kind": name, "peak_mb": peak}), flush=True)


if __name__ == "__main__":
    main()
