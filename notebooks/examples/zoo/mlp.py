"""A multilayer perceptron on a window of two positions."""

import torch
from torch import Tensor, nn
from zoo_training import trained

from worldmodel import TorchModule

CONTEXT = 2


class Network(nn.Module):
    """The last position and the last displacement through two hidden layers."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 2)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, axis) to (batch, axis)."""
        return self.layers(torch.cat((x[:, -1], 20 * (x[:, -1] - x[:, -2])), dim=-1))


def make(data: str, seed: int, folder: str) -> TorchModule:
    """Train it, or read its weights."""
    torch.manual_seed(seed)
    return trained(Network(), data, seed, folder, CONTEXT, "MLP on a window")
