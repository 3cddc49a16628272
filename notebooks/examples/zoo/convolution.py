"""A temporal convolution that sees 32 positions."""

from itertools import pairwise

import torch
from torch import Tensor, nn
from zoo_training import trained

from worldmodel import TorchModule

CONTEXT = 32


class Network(nn.Module):
    """Causal convolutions, each looking twice as far back as the last (Bai et al. 2018)."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        sizes = [4, width, width, width, width, width]
        self.layers = nn.ModuleList(
            nn.Conv1d(a, b, kernel_size=2, dilation=2**i)
            for i, (a, b) in enumerate(pairwise(sizes))
        )
        self.head = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, axis) to (batch, axis)."""
        steps = 20 * torch.diff(x, dim=1, prepend=x[:, :1])  # of order one
        y = torch.cat((x, steps), dim=-1).swapaxes(1, 2)
        for layer in self.layers:
            y = nn.functional.gelu(layer(y))
        return self.head(y[:, :, -1])


def make(data: str, seed: int, folder: str) -> TorchModule:
    """Train it, or read its weights."""
    torch.manual_seed(seed)
    return trained(Network(), data, seed, folder, CONTEXT, "temporal convolution")
