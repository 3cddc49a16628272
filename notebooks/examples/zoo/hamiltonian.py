"""A Hamiltonian network: a potential is learned, Störmer's rule moves the body."""

import torch
from torch import Tensor, nn
from zoo_training import trained

from worldmodel import TorchModule

CONTEXT = 2


class Network(nn.Module):
    """H = p²/2 + V(q): the push is minus the gradient of V, whatever the velocity."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.potential = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, axis) to (batch, axis)."""
        with torch.enable_grad():
            last = x[:, -1] if x.requires_grad else x[:, -1].detach().requires_grad_()
            potential = self.potential(last).sum()
            return -torch.autograd.grad(potential, last, create_graph=True)[0]


def make(data: str, seed: int, folder: str) -> TorchModule:
    """Train it, or read its weights."""
    torch.manual_seed(seed)
    return trained(Network(), data, seed, folder, CONTEXT, "Hamiltonian network")
