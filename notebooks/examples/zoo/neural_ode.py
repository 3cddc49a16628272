"""A neural ODE: a network says the acceleration, torchdiffeq moves the body (extra `zoo`)."""

import torch
from torch import Tensor, nn
from zoo_training import trained

from worldmodel import TorchModule

CONTEXT = 2


class Network(nn.Module):
    """x'' = f(x, x'), one step long; time is counted in steps."""

    def __init__(self, width: int = 64) -> None:
        super().__init__()
        self.force = nn.Sequential(
            nn.Linear(4, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 2)
        )

    def acceleration(self, x: Tensor, v: Tensor) -> Tensor:
        """In units of the residual."""
        return self.force(torch.cat((x, 20 * v), dim=-1))

    def forward(self, x: Tensor) -> Tensor:
        """(batch, time, axis) to (batch, axis): what the force adds to going straight on.

        The deviation y from the straight line x + v τ obeys y'' = f(x + v τ, v), τ from 0 to 1;
        that from the last position back to the one before is half the push.
        """
        from torchdiffeq import odeint

        last, v = x[:, -1], x[:, -1] - x[:, -2]

        def motion(t: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            return state[1], self.acceleration(last + t * v, v)

        zero = torch.zeros_like(last)
        times = torch.tensor([0.0, 1.0], dtype=x.dtype, device=x.device)
        moved, _ = odeint(motion, (zero, zero), times, method="rk4")
        return 2 * moved[-1]


def make(data: str, seed: int, folder: str) -> TorchModule:
    """Train it, or read its weights."""
    torch.manual_seed(seed)
    return trained(Network(), data, seed, folder, CONTEXT, "neural ODE")
