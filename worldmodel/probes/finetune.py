"""Fine-tuning: a new linear head on the network's stream, with or without the network."""

import math
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from worldmodel.backbone import Backbone
from worldmodel.data import random_crops
from worldmodel.world_model import TOKENS_AT_ONCE

Batch = tuple[Float[np.ndarray | Tensor, "crop time body axis"], np.ndarray | Tensor]
"""Positions, au, and labels (crop, time, output)."""


class LabelledContexts:
    """Endless batches of labelled contexts: any orbit, any time, with replacement.

    Args:
        positions: au.
        labels: NaN where there is none.
        length: positions in a context.
        scored: first time in a context, and in an orbit, whose label counts: nothing of the
            velocity is known before it.
        count: contexts in a batch.
    """

    def __init__(
        self,
        positions: Float[np.ndarray, "orbit time body axis"],
        labels: Float[np.ndarray, "orbit time output"],
        length: int,
        scored: int,
        count: int,
        seed: int,
    ) -> None:
        self.positions = torch.from_numpy(positions.astype(np.float32))
        self.labels = torch.from_numpy(labels)
        self.labels[:, :scored] = torch.nan
        self.length, self.scored, self.count = length, scored, count
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, step: int) -> Batch:
        crops = random_crops(self.labels, self.count, self.length, self.generator)
        labels = self.labels[crops]
        labels[:, : self.scored] = torch.nan
        return self.positions[crops], labels


class Tuned(nn.Module):
    """A backbone with a new linear head; if `frozen` the head alone is trained."""

    def __init__(self, backbone: Backbone, outputs: int, frozen: bool) -> None:
        super().__init__()
        self.backbone = backbone.requires_grad_(not frozen)
        self.head = nn.Linear(backbone.width, outputs)

    def forward(
        self, positions: Float[Tensor, "batch time body axis"]
    ) -> Float[Tensor, "batch said output"]:
        """The new head's output after each time, or after the last ones."""
        return self.head(self.backbone(positions))


def fine_tune(
    backbone: Backbone,
    batch: Callable[[int], Batch],
    outputs: int,
    steps: int,
    frozen: bool,
    seed: int,
    learning_rate: float = 1e-3,
    head_rate: float = 1e-2,
) -> Tuned:
    """Train a new head, and the network unless frozen, on labels.

    AdamW without weight decay, a short warm-up, a cosine to zero, gradients clipped to norm 1.

    Args:
        backbone: of the model; it is changed.
        batch: gives (positions, labels) of a step, (batch, time, body, axis) in au and
            (batch, time, output); NaN labels do not count, nor do those at times without an output
            of the backbone.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tuned = Tuned(backbone, outputs, frozen)
    nn.init.zeros_(tuned.head.bias)
    tuned = tuned.to(device).train()
    groups = [{"params": list(tuned.head.parameters()), "lr": head_rate}]
    if not frozen:
        groups.append({"params": list(tuned.backbone.parameters()), "lr": learning_rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / 20) * (1 + math.cos(math.pi * step / steps)) / 2,
    )
    parameters = [p for group in groups for p in group["params"] if p.requires_grad]  # type: ignore[attr-defined]
    for step in range(steps):
        positions, labels = (torch.as_tensor(part).to(device) for part in batch(step))
        output = tuned(positions.float())
        labels = labels[:, -output.shape[1] :]
        error = output - labels.float()
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
    tuned: Tuned, contexts: Float[np.ndarray, "context time body axis"]
) -> Float[np.ndarray, "context output"]:
    """The new head's output after the last position of each context, float64."""
    device = next(tuned.parameters()).device
    count = max(1, TOKENS_AT_ONCE // (contexts.shape[1] * tuned.backbone.tokens_per_step))
    parts = torch.from_numpy(contexts).split(count)
    answers = [tuned(part.to(device).float())[:, -1].double().cpu() for part in parts]
    return torch.cat(answers).numpy()
