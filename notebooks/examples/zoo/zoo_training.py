"""The training loop that the families share: plain torch, contexts of C positions, AdamW."""

import hashlib
import os
from pathlib import Path

import torch
from jaxtyping import Float
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

import orbits
from worldmodel import TorchModule

WEIGHTS = "weights.safetensors"
STEPS_PER_ORBIT = 3
"""Optimiser steps for every training orbit: 1200 for 400."""
BATCH = 256
LEARNING_RATE = 3e-3


class InUnits(nn.Module):
    """A network that sees and says numbers of order one: positions in au in, residuals in au out.

    Args:
        network: (batch, time, axis) to (batch, axis).
        length: rms distance of the training orbits, au.
        residual: rms of x(t+1) − 2 x(t) + x(t−1) there, au.
    """

    length: Tensor
    residual: Tensor

    def __init__(self, network: nn.Module, length: float, residual: float) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("length", torch.tensor(length))
        self.register_buffer("residual", torch.tensor(residual))

    def forward(self, x: Float[Tensor, "batch time axis"]) -> Float[Tensor, "batch axis"]:
        """The residual after the last position, au."""
        return self.network(x / self.length) * self.residual


def trained(
    network: nn.Module,
    data: str,
    seed: int,
    folder: str | os.PathLike[str],
    context_length: int,
    name: str,
) -> TorchModule:
    """A network trained to say the next residual; with its weights in the folder, read from there.

    Args:
        network: (batch, time, axis) to (batch, axis), numbers of order one.
        data: path of the training orbits.
        seed: of the batches.
        folder: keeps the weights.
        context_length: positions seen.
        name: for reports.

    Raises:
        ValueError: if the folder holds weights of other data or another seed.
    """
    x = torch.from_numpy(orbits.open_dataset(data)["position"].values).double()
    if x.ndim != 3:
        raise ValueError(f"{data} shows {x.shape[2]} bodies; the families of the zoo know one.")
    bend = x[:, 2:] - 2 * x[:, 1:-1] + x[:, :-2]
    length, residual = (float(v.square().sum(-1).mean().sqrt()) for v in (x, bend))
    module = InUnits(network, length, residual).float()
    digest = hashlib.sha256(x.numpy().tobytes() + f"{seed} {module}".encode())
    training = {"training": digest.hexdigest()}

    def train() -> None:
        fit(module, x.float(), bend.float(), seed, context_length, residual)

    keep(module, Path(folder) / WEIGHTS, training, train)
    return TorchModule(module, context_length, target="residual", name=name)


def keep(module: nn.Module, path: Path, training: dict[str, str], train) -> None:
    """Read a module's weights, or train it on one thread and write them, whole or not at all.

    Raises:
        ValueError: if the file holds the weights of another training.
    """
    if path.is_file():
        with safe_open(path, framework="pt") as file:
            found = file.metadata()
        if found != training:
            raise ValueError(f"{path} holds weights of other data or another seed; remove it.")
        module.load_state_dict(load_file(path))
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # as `worldmodel train` has it for a network this small
    try:
        train()
    finally:
        torch.set_num_threads(before)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(module.state_dict(), path.with_suffix(".part"), training)
    os.replace(path.with_suffix(".part"), path)


def fit(
    module: nn.Module,
    x: Float[Tensor, "orbit time axis"],
    bend: Float[Tensor, "orbit time axis"],
    seed: int,
    context_length: int,
    residual: float,
) -> None:
    """Lower the mean square error of the residual, AdamW with a cosine to zero."""
    random = torch.Generator().manual_seed(seed)
    steps = STEPS_PER_ORBIT * len(x)
    optimizer = torch.optim.AdamW(module.parameters(), lr=LEARNING_RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    first, stop = max(context_length, 2), x.shape[1]
    module.train()
    for _ in range(steps):
        orbit = torch.randint(len(x), (BATCH, 1), generator=random)
        end = torch.randint(first, stop, (BATCH, 1), generator=random)
        context = x[orbit, end + torch.arange(-context_length, 0)]
        target = bend[orbit[:, 0], end[:, 0] - 2]
        loss = ((module(context) - target) / residual).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    module.eval()
