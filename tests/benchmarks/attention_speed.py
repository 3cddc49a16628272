"""Training steps with each attention, against softmax, side by side in one run.

    python tests/benchmarks/attention_speed.py

The network is the package's own (context 128, d_model 128, 4 layers, 4 heads, 16 sequences a
step); the yardstick for softmax is a GPT written here in the plain style of nanoGPT, with the
same widths and the same MLP embedding. Steps of all contestants alternate, and the medians are
compared, so that whatever else the machine does strikes all of them.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

from worldmodel.config import ModelConfig
from worldmodel.model import Network, Scales

CONTEXT, D_MODEL, N_LAYERS, N_HEADS, BATCH = 128, 128, 4, 4, 16
BOUNDS = {"lssa": ("softmax", 1.4), "lssar": ("softmax", 1.6), "softmax": ("plain GPT", 1.1)}


class PlainBlock(nn.Module):
    """A GPT block as nanoGPT writes it, without biases and dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(D_MODEL)
        self.c_attn = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False)
        self.c_proj = nn.Linear(D_MODEL, D_MODEL, bias=False)
        self.ln_2 = nn.LayerNorm(D_MODEL)
        self.c_fc = nn.Linear(D_MODEL, 4 * D_MODEL, bias=False)
        self.c_proj_2 = nn.Linear(4 * D_MODEL, D_MODEL, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, time_, _ = x.shape
        heads = (
            part.view(batch, time_, N_HEADS, D_MODEL // N_HEADS).transpose(1, 2)
            for part in self.c_attn(self.ln_1(x)).split(D_MODEL, dim=2)
        )
        y = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(batch, time_, D_MODEL))
        return x + self.c_proj_2(functional.gelu(self.c_fc(self.ln_2(x))))


class PlainGPT(nn.Module):
    """MLP embedding, learned positions, blocks, head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(2, D_MODEL), nn.GELU(), nn.Linear(D_MODEL, D_MODEL))
        self.positions = nn.Parameter(torch.zeros(CONTEXT, D_MODEL))
        self.blocks = nn.ModuleList(PlainBlock() for _ in range(N_LAYERS))
        self.norm = nn.LayerNorm(D_MODEL)
        self.head = nn.Linear(D_MODEL, 2)

    def forward(self, positions: torch.Tensor) -> torch.Tensor:
        x = self.embed(positions[:, :, 0]) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))[:, :, None]


def network(attention: str) -> nn.Module:
    """The package's network with this attention."""
    config = ModelConfig(
        attention=attention,
        context_length=CONTEXT,
        d_model=D_MODEL,
        n_layers=N_LAYERS,
        n_heads=N_HEADS,
    )
    return Network(config, Scales(bodies=1, axes=2, position=1.0, target=1.0))


class Contestant:
    """A network, its optimiser, and the seconds that its steps took."""

    def __init__(self, name: str, module: nn.Module):
        self.name = name
        self.module = module
        self.optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
        self.seconds: list[float] = []

    def step(self, positions: torch.Tensor, target: torch.Tensor) -> None:
        """One training step: forward, loss, backward, optimiser."""
        start = time.perf_counter()
        loss = functional.mse_loss(self.module(positions), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.seconds.append(time.perf_counter() - start)


def measure(kinds: list[str], steps: int, threads: int) -> dict[str, float]:
    """Median milliseconds of a training step for the plain GPT and for each attention."""
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    contestants = [Contestant("plain GPT", PlainGPT())]
    contestants += [Contestant(kind, network(kind)) for kind in kinds]
    positions, target = torch.randn(2, BATCH, CONTEXT, 1, 2)
    for number in range(steps + 3):
        # Forwards, then backwards: no contestant always comes first.
        for contestant in contestants[:: -1 if number % 2 else 1]:
            contestant.step(positions, target)
    return {c.name: 1e3 * statistics.median(c.seconds[3:]) for c in contestants}


def main() -> None:
    """Print the medians and their ratios, and which bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=["softmax", "lssa", "lssar", "lssar(p=15)"])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    medians = measure(options.kinds, options.steps, options.threads)
    print(f"{'':12}  ms/step  × softmax  × plain GPT")
    for name, median in medians.items():
        ratios = [median / medians[other] for other in ("softmax", "plain GPT")]
        line = f"{name:12} {median:8.1f} {ratios[0]:10.2f} {ratios[1]:12.2f}"
        if name in BOUNDS:
            other, bound = BOUNDS[name]
            holds = medians[name] <= bound * medians[other]
            line += f"   (≤ {bound} × {other}: {'holds' if holds else 'does not hold'})"
        print(line)


if __name__ == "__main__":
    main()
