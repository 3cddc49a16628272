"""Fine-tuning: a new linear head on the network's stream, with the network or without it."""

import copy
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from worldmodel.model import Network

WARMUP = 20
"""Steps of linear warm-up."""

Batch = tuple[Tensor, Tensor]


class Silent(nn.Module):
    """In the place of the old head: says nothing, and costs nothing."""

    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs

    def forward(self, stream: Tensor) -> Tensor:
        return stream.new_zeros(1).expand(*stream.shape[:-1], self.outputs)


class Tuned(nn.Module):
    """A copy of a network whose stream a new linear head reads.

    Args:
        network: is not changed.
        outputs: numbers that the head gives at each time.
        frozen: keep the network as it is and train the head alone.
    """

    def __init__(self, network: Network, outputs: int, frozen: bool) -> None:
        super().__init__()
        self.backbone = copy.deepcopy(network)
        self.head = nn.Linear(network.config.d_model, outputs)
        self.backbone.head = Silent(network.head.out_features)  # type: ignore[assignment]
        self.backbone.requires_grad_(not frozen)
        self.stream: Tensor | None = None
        self.backbone.norm.register_forward_hook(self._keep)

    def _keep(self, _module: nn.Module, _inputs: object, output: Tensor) -> None:
        self.stream = output

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch time output"]:
        """What the new head says after each time (after its last token, if it has several)."""
        self.backbone(positions)
        assert self.stream is not None  # for the type checker: the hook has run
        each = self.backbone.tokens_per_step
        return self.head(self.stream[:, each - 1 :: each])


def fine_tune(
    network: Network,
    batch: Callable[[int], Batch],
    outputs: int,
    steps: int,
    learning_rate: float,
    head_rate: float,
    frozen: bool,
    seed: int,
) -> Tuned:
    """Train a new head, and the network with it unless it is frozen, on labels.

    AdamW without weight decay, a short warm-up, a cosine to zero, gradients clipped to norm 1.

    Args:
        network: the backbone; it is copied.
        batch: gives (positions, labels) of a step, (batch, time, body, axis) in au and
            (batch, time, output); labels that are NaN do not count.
        outputs: numbers at each time.
        steps: optimiser steps.
        learning_rate: of the network.
        head_rate: of the head.
        frozen: train the head alone.
        seed: of the head's weights.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tuned = Tuned(network, outputs, frozen)
    nn.init.zeros_(tuned.head.bias)
    tuned = tuned.to(device).train()
    groups = [{"params": list(tuned.head.parameters()), "lr": head_rate}]
    if not frozen:
        groups.append({"params": list(tuned.backbone.parameters()), "lr": learning_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / WARMUP) * (1 + math.cos(math.pi * step / steps)) / 2,
    )
    parameters = [p for group in groups for p in group["params"] if p.requires_grad]  # type: ignore[attr-defined]
    for step in range(steps):
        positions, labels = (part.to(device) for part in batch(step))
        error = tuned(positions.float()) - labels.float()
        counted = torch.isfinite(labels)
        loss = error[counted].square().mean() if counted.any() else error.sum() * 0
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
    return tuned.eval()


@torch.no_grad()
def last_outputs(
    tuned: Tuned, contexts: Float[Tensor, "context time body axis"], at_once: int = 65_536
) -> Float[Tensor, "context output"]:
    """What the new head says after the last position of each context, float64."""
    device = next(tuned.parameters()).device
    count = max(1, at_once // (contexts.shape[1] * tuned.backbone.tokens_per_step))
    parts = [tuned(part.to(device).float())[:, -1].double().cpu() for part in contexts.split(count)]
    return torch.cat(parts)
