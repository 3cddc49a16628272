"""The published recipe whose linear probes were read as Newtonian (arXiv:2602.06923), repeated.

A GPT of two layers of width 32 with one head sees two positions and says the next one: 10 000
orbits with a ~ U(0.5, 2) and e ~ U(0, 0.8), dt = 0.202 at GM = 1, noise of 0.1 on what it sees,
20 000 steps of AdamW at 1e-3, from the half on at 1e-4. `displacement` is the same with the
displacement as target.
"""

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from nanogpt import Block
from torch import Tensor, nn
from zoo_training import WEIGHTS, keep

from worldmodel import TorchModule

CONTEXT, WIDTH, LAYERS = 2, 32, 2
STEPS, BATCH, NOISE = 20_000, 128, 0.1
ORBITS, POINTS = 10_000, 100
DT = 0.202 / (2 * np.pi)
"""yr: 0.202 at GM = 1 is this at GM = 4π²."""


class Network(nn.Module):
    """Two positions in, the next position (or displacement) out."""

    def __init__(self) -> None:
        super().__init__()
        self.input_embedding = nn.Linear(2, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block(WIDTH, 1, True, "silu") for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.output_head = nn.Linear(WIDTH, 2)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)

    def forward(self, x: Float[Tensor, "batch time axis"]) -> Float[Tensor, "batch time axis"]:
        """What follows each position."""
        x = self.input_embedding(x) + self.places(torch.arange(x.shape[1], device=x.device))
        for block in self.blocks:
            x = block(x)
        return self.output_head(self.norm(x))


def position(seed: int, folder: str) -> TorchModule:
    """As published: the absolute position as target."""
    return trained("position", seed, folder)


def displacement(seed: int, folder: str) -> TorchModule:
    """The displacement as target."""
    return trained("displacement", seed, folder)


def untrained_position(seed: int) -> TorchModule:
    """Before training."""
    return _module("position", seed)


def untrained_displacement(seed: int) -> TorchModule:
    """Before training."""
    return _module("displacement", seed)


def trained(
    target: str, seed: int, folder: str, steps: int = STEPS, orbits: int = ORBITS
) -> TorchModule:
    """Train it, or read its weights from the folder."""
    found = _module(target, seed)
    training = {"training": f"{target} {seed} {steps} {orbits}"}

    def train() -> None:
        _fit(found.module, target, seed, steps, training_orbits(orbits, seed))

    keep(found.module, Path(folder) / WEIGHTS, training, train)
    return found


def _fit(
    module: torch.nn.Module,
    target: str,
    seed: int,
    steps: int,
    orbits: Float[np.ndarray, "orbit time axis"],
) -> None:
    x = torch.from_numpy(orbits).float()
    random = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.0)
    module.train()
    for step in range(steps):
        if step == steps // 2:
            optimizer.param_groups[0]["lr"] = 1e-4
        orbit = torch.randint(len(x), (BATCH, 1), generator=random)
        start = torch.randint(POINTS - CONTEXT, (BATCH, 1), generator=random)
        seen = x[orbit, start + torch.arange(CONTEXT)]
        wanted = x[orbit, start + torch.arange(1, CONTEXT + 1)]
        noised = seen + NOISE * torch.randn(seen.shape, generator=random)
        if target == "displacement":
            wanted = wanted - seen
        loss = (module(noised) - wanted).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    module.eval()


def training_orbits(orbits: int, seed: int) -> Float[np.ndarray, "orbit time axis"]:
    """a ~ U(0.5, 2), e ~ U(0, 0.8), any phase and orientation; Kepler's equation by Newton."""
    random = np.random.default_rng(seed)
    a, e = random.uniform(0.5, 2, (orbits, 1)), random.uniform(0, 0.8, (orbits, 1))
    phase, turn = random.uniform(0, 2 * np.pi, (2, orbits, 1))
    mean = phase + 2 * np.pi * a**-1.5 * DT * np.arange(POINTS)
    anomaly = mean + e * np.sin(mean)
    for _ in range(30):
        anomaly -= (anomaly - e * np.sin(anomaly) - mean) / (1 - e * np.cos(anomaly))
    x, y = a * (np.cos(anomaly) - e), a * np.sqrt(1 - e**2) * np.sin(anomaly)
    c, s = np.cos(turn), np.sin(turn)
    return np.stack((c * x - s * y, s * x + c * y), axis=-1)


def _module(target: str, seed: int) -> TorchModule:
    torch.manual_seed(seed)
    layers = [f"blocks.{number}" for number in range(LAYERS)] + ["norm"]
    name = f"published recipe, {target}"
    return TorchModule(Network(), CONTEXT, target, layers=layers, dt=DT, name=name)
