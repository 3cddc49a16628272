"""The fused passes on a GPU: time against FlashAttention, memory against length.

    python tests/benchmarks/attention_gpu.py

Forward and backward of one attention (4 heads of 64, batch 1, bf16) in alternating repeats, after
warm-up and compilation; peak memory over 4096 to 32768 tokens; and whether the dense form fits.
"""

import argparse
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from worldmodel.attention import Visible, make_attention
from worldmodel.attention.fused import fused_attention

HEADS, D_HEAD = 4, 64


def inputs(length: int) -> list[torch.Tensor]:
    """Random q, k, v."""
    shape = (1, HEADS, length, D_HEAD)
    return [
        torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        for _ in range(3)
    ]


def flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Softmax attention by FlashAttention."""
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return scaled_dot_product_attention(q, k, v, is_causal=True)


def dense(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """LSSAR with the matrix written out."""
    return make_attention("lssar", D_HEAD, HEADS).weights(q, k, Visible()) @ v


CONTESTANTS = {
    "flash softmax": flash,
    "fused lssa": lambda q, k, v: fused_attention(q, k, v, Visible(), None),
    "fused lssar": lambda q, k, v: fused_attention(q, k, v, Visible(), 3.0),
    "fused lssar(p=15)": lambda q, k, v: fused_attention(q, k, v, Visible(), 15.0),
}


def milliseconds(name: str, length: int) -> float:
    """Forward and backward, once."""
    tensors = inputs(length)
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    CONTESTANTS[name](*tensors).sum().backward()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop)


def megabytes(attention, length: int) -> float | None:
    """Peak memory of forward and backward; None where it does not fit."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    try:
        attention(*inputs(length)).sum().backward()
    except torch.cuda.OutOfMemoryError:
        return None
    return torch.cuda.max_memory_allocated() / 1e6


def main() -> None:
    """Print time and memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(2, "attention_gpu: this benchmark needs a CUDA device.\n")
    torch.manual_seed(0)
    print(torch.cuda.get_device_name(), torch.__version__)
    for name in CONTESTANTS:
        for _ in range(5):
            milliseconds(name, options.length)
    times = {name: [] for name in CONTESTANTS}
    for _ in range(options.repeats):
        for name, measured in times.items():
            measured.append(milliseconds(name, options.length))
    reference = statistics.median(times["flash softmax"])
    for name, measured in times.items():
        median = statistics.median(measured)
        print(f"{name:18} {median:8.2f} ms  {median / reference:5.2f} × flash softmax")
    print("length    fused lssar    dense lssar   (peak MB)")
    for length in (4096, 8192, 16384, 32768):
        fused_peak, dense_peak = (
            megabytes(attention, length) for attention in (CONTESTANTS["fused lssar"], dense)
        )
        print(f"{length:6}  {_shown(fused_peak):>12}  {_shown(dense_peak):>12}")


def _shown(megabytes_: float | None) -> str:
    return "out of memory" if megabytes_ is None else f"{megabytes_:.0f}"


if __name__ == "__main__":
    main()
