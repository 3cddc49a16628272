"""An LSTM that sees 32 positions."""

import torch
from torch import Tensor, nn
from zoo_training import trained

from worldmodel import TorchModule

CONTEXT = 32


class Network(nn.Module):
    """Positions and displacements through an LSTM; its last state says the residual."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, axis) to (batch, axis)."""
        steps = 20 * torch.diff(x, dim=1, prepend=x[:, :1])  # of order one
        return self.head(self.lstm(torch.cat((x, steps), dim=-1))[0][:, -1])


def make(data: str, seed: int, folder: str) -> TorchModule:
    """Train it, or read its weights."""
    torch.manual_seed(seed)
    return trained(Network(), data, seed, folder, CONTEXT, "LSTM")
