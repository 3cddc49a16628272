"""Checkpoints of `newton-kepler`: a GPT over continuous positions."""

import os
from typing import Any

import torch
from nanogpt import Block, loaded, plain_names, read_checkpoint
from torch import nn

from worldmodel import TorchModule

WRAPPINGS = ("model", "model_state_dict", "state_dict")
"""Names under which training scripts keep the weights."""


class NewtonKepler(TorchModule):
    """A trained `GPTCV`: its state, or a dictionary that holds it.

    Sizes are those of the tensors. The number of heads is in no tensor: the paper has one.

    Args:
        path: checkpoint (`torch.save` of the state), read with `weights_only=True`.
        context_length: positions that it sees; its block size if left out.
        heads: of attention.
        scale: au in its unit of length.
        dt: the step that it was trained with, yr at GM = 4π²; at its own GM = 1 the published 0.202
            is 0.202 / 2π yr.

    Raises:
        ValueError: if it is no such checkpoint.

    Source: Liu et al., arXiv:2602.06923; github.com/KindXiaoming/newton-kepler, `model_cv.py`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        context_length: int | None = None,
        heads: int = 1,
        scale: float = 1.0,
        dt: float | None = None,
    ) -> None:
        network, block = _network(path, heads)
        length = block if context_length is None else context_length
        if not 1 <= length <= block:
            raise ValueError(f"context_length is {length}; {path} knows 1 to {block} positions.")
        super().__init__(network, length, "position", scale, None, dt, "newton-kepler")


def _network(path: str | os.PathLike[str], heads: int) -> tuple[nn.Module, int]:
    class Continuous(nn.Module):
        """Positions in, positions out."""

        def __init__(self, axes: int, width: int, block: int, layers: int, bias: bool) -> None:
            super().__init__()
            blocks = [Block(width, heads, bias, "silu") for _ in range(layers)]
            self.transformer = nn.ModuleDict(
                {
                    "wpe": nn.Embedding(block, width),
                    "h": nn.ModuleList(blocks),
                    "ln_f": nn.LayerNorm(width, bias=bias),
                }
            )
            self.input_embedding = nn.Linear(axes, width, bias=bias)
            self.output_head = nn.Linear(width, axes, bias=bias)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            """The next position after each."""
            times = torch.arange(x.shape[1], device=x.device)
            parts: Any = self.transformer
            x = self.input_embedding(x) + parts["wpe"](times)
            for block in parts["h"]:
                x = block(x)
            return self.output_head(parts["ln_f"](x))

    state = read_checkpoint(path)
    for name in WRAPPINGS:
        if isinstance(state, dict) and isinstance(state.get(name), dict):
            state = state[name]
    try:
        state = plain_names(state)
        width, axes = state["input_embedding.weight"].shape
        block = len(state["transformer.wpe.weight"])
        layers = sum(name.endswith(".ln_1.weight") for name in state)
        bias = "input_embedding.bias" in state
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no GPTCV of newton-kepler (it lacks {error}).") from None
    if width % heads:
        raise ValueError(f"width {width} does not divide into {heads} heads.")
    return loaded(Continuous(axes, width, block, layers, bias), state, path), block
