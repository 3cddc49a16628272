"""The network of published checkpoints: nanoGPT's blocks, with the parameters' published names.

Karpathy's nanoGPT in the forms of `inductive-bias-probes` (arXiv:2507.06952) and `newton-kepler`
(arXiv:2602.06923). Only what a checkpoint holds is here: no training, no dropout.
"""

import io
import os
import pathlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal softmax attention."""

    def __init__(self, width: int, heads: int, bias: bool) -> None:
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width, bias=bias)
        self.c_proj = nn.Linear(width, width, bias=bias)
        self.heads = heads

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        """Values of the visible times, mixed."""
        q, k, v = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in self.c_attn(x).chunk(3, dim=-1)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(mixed.transpose(1, 2).flatten(2))


class Feedforward(nn.Module):
    """Two layers with `gelu` or `silu` between."""

    def __init__(self, width: int, bias: bool, activation: str) -> None:
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width, bias=bias)
        self.c_proj = nn.Linear(4 * width, width, bias=bias)
        self.activation = nn.GELU() if activation == "gelu" else nn.SiLU()

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        """Each time by itself."""
        return self.c_proj(self.activation(self.c_fc(x)))


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and beside the stream."""

    def __init__(self, width: int, heads: int, bias: bool, activation: str) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width, bias=bias)
        self.attn = Attention(width, heads, bias)
        self.ln_2 = nn.LayerNorm(width, bias=bias)
        self.mlp = Feedforward(width, bias, activation)

    def forward(self, x: Float[Tensor, "batch time width"]) -> Float[Tensor, "batch time width"]:
        """The stream after the block."""
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


def read_checkpoint(path: str | os.PathLike[str]) -> Any:
    """What a checkpoint of torch holds: tensors, numbers, texts and paths; no other code runs.

    Raises:
        ValueError: if there is none, it is damaged, or it holds anything else.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"there is no checkpoint {path}.")
    # training scripts put their paths beside the weights
    paths = [pathlib.PosixPath, pathlib.PurePosixPath]
    allowed: list[Any] = [*paths, *((kind, f"pathlib._local.{kind.__name__}") for kind in paths)]
    try:
        with torch.serialization.safe_globals(allowed):
            return torch.load(io.BytesIO(file.read_bytes()), map_location="cpu", weights_only=True)
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} is no checkpoint that can be read safely: {reason}") from None


def plain_names(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Weights by the names that the network itself gives them: `torch.compile` and training on
    several devices put `_orig_mod.` and `module.` before."""
    named = {str(name).replace("_orig_mod.", ""): value for name, value in weights.items()}
    while named and all(name.startswith("module.") for name in named):
        named = {name.removeprefix("module."): value for name, value in named.items()}
    return named


def loaded(
    network: nn.Module, weights: Mapping[str, Tensor], path: str | os.PathLike[str]
) -> nn.Module:
    """The network with weights by name; masks that some versions store are left aside.

    Raises:
        ValueError: if names or shapes do not fit.
    """
    named = plain_names(weights)
    named = {name: value for name, value in named.items() if not name.endswith(".attn.bias")}
    try:
        network.load_state_dict(named)
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"the weights of {path} do not fit: {reason}") from None
    return network.eval()
