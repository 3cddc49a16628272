"""Training steps with each attention, against softmax, side by side in one run.

    python tests/benchmarks/attention_speed.py
    python tests/benchmarks/attention_speed.py --contexts 128 1024 8192 --steps 6 --threads 1

The network is the package's own (d_model 128, 4 layers, 4 heads; 2048 positions a step, or one
sequence). Steps of all contestants alternate, and the medians are compared, so that whatever else
the machine does strikes all of them.
"""

import argparse
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

from worldmodel.config import ModelConfig
from worldmodel.model import Network, Scales

D_MODEL, N_LAYERS, N_HEADS, POSITIONS = 128, 4, 4, 2048
BOUNDS = {"lssa": ("softmax", 1.1), "lssar": ("softmax", 1.3)}


def network(attention: str, context: int) -> nn.Module:
    """The package's network with this attention."""
    config = ModelConfig(
        attention=attention,
        context_length=context,
        d_model=D_MODEL,
        n_layers=N_LAYERS,
        n_heads=N_HEADS,
        inputs="coordinates",
        outputs="coordinates",
        norm="layer",
    )
    return Network(config, Scales.of_one(config))


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


def measure(kinds: list[str], context: int, steps: int, threads: int) -> dict[str, float]:
    """Median milliseconds of a training step for each attention."""
    torch.manual_seed(0)
    torch.set_num_threads(threads)
    contestants = [Contestant(kind, network(kind, context)) for kind in kinds]
    positions, target = torch.randn(2, max(1, POSITIONS // context), context, 1, 2)
    for number in range(steps + 3):
        # Forwards, then backwards: no contestant always comes first.
        for contestant in contestants[:: -1 if number % 2 else 1]:
            contestant.step(positions, target)
    return {c.name: 1e3 * statistics.median(c.seconds[3:]) for c in contestants}


def main() -> None:
    """Print the medians and their ratios, and which bounds hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=["softmax", "lssa", "lssar", "lssar(p=15)"])
    parser.add_argument("--contexts", nargs="+", type=int, default=[128])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for context in options.contexts:
        medians = measure(options.kinds, context, options.steps, options.threads)
        print(f"{f'context {context}':14}  ms/step  × softmax")
        for name, median in medians.items():
            line = f"{name:14} {median:8.1f} {median / medians['softmax']:10.2f}"
            if name in BOUNDS:
                other, bound = BOUNDS[name]
                holds = medians[name] <= bound * medians[other]
                line += f"   (≤ {bound} × {other}: {'holds' if holds else 'does not hold'})"
            print(line)


if __name__ == "__main__":
    main()
