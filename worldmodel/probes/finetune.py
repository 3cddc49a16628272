"""Fine-tuning: a new linear head on the network's stream, and as much of the network as is asked.

Beside it a forest, which learns the same labels from the same contexts without any network.
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from worldmodel.backbone import Backbone
from worldmodel.controls.lookups import MOST, in_frame, random_forest
from worldmodel.data import random_crops
from worldmodel.world_model import TOKENS_AT_ONCE

Batch = tuple[Float[np.ndarray | Tensor, "crop time body axis"], np.ndarray | Tensor]
"""Positions, au, and labels (crop, time, output)."""
Said = Callable[[Float[np.ndarray, "context time body axis"]], Float[np.ndarray, "context output"]]
"""What is said at the end of each context (au)."""
Part = Literal["network", "last_block", "head"]
"""What is trained: the network and its new head, its last block and the head, the head alone."""


def labelled_contexts(
    positions: Float[np.ndarray, "orbit time body axis"],
    labels: Float[np.ndarray, "orbit time output"],
    length: int,
) -> tuple[Float[np.ndarray, "context time body axis"], Float[np.ndarray, "context output"]]:
    """Every full context whose last time has a label, au, and its label."""
    known = np.isfinite(labels).all(axis=-1)
    known[:, : length - 1] = False
    orbit, time = np.nonzero(known)
    steps = time[:, None] + np.arange(1 - length, 1)
    return positions[orbit[:, None], steps].astype(np.float64), labels[orbit, time]


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
    """A backbone with a new linear head, of which a part is trained."""

    def __init__(self, backbone: Backbone, outputs: int, part: Part) -> None:
        super().__init__()
        self.backbone = backbone.requires_grad_(part == "network")
        if part == "last_block":
            backbone.last_block.requires_grad_(True)
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
    part: Part,
    seed: int,
    learning_rate: float = 1e-3,
    head_rate: float = 1e-2,
) -> Tuned:
    """Train a new head, and a part of the network or none, on labels.

    AdamW without weight decay, a short warm-up, a cosine to zero, gradients clipped to norm 1.

    Args:
        backbone: of the model; it is changed.
        batch: gives (positions, labels) of a step, (batch, time, body, axis) in au and
            (batch, time, output); NaN labels do not count, nor do those at times without an output
            of the backbone.

    Raises:
        ValueError: if the part is the last block, and the backbone does not know it.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tuned = Tuned(backbone, outputs, part)
    nn.init.zeros_(tuned.head.bias)
    tuned = tuned.to(device).train()
    own = [weight for weight in tuned.backbone.parameters() if weight.requires_grad]
    head = list(tuned.head.parameters())
    groups = [{"params": head, "lr": head_rate}, {"params": own, "lr": learning_rate}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: min(1, (step + 1) / 20) * (1 + math.cos(math.pi * step / steps)) / 2,
    )
    for step in range(steps):
        positions, labels = (torch.as_tensor(part).to(device) for part in batch(step))
        output = tuned(positions.float())
        labels = labels[:, -output.shape[1] :]
        error = output - labels.float()
        counted = torch.isfinite(labels)
        loss = error[counted].square().mean() if counted.any() else error.sum() * 0
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(head + own, 1.0)
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


def forest(
    contexts: Float[np.ndarray, "context time body axis"],
    labels: Float[np.ndarray, "context output"],
    seed: int,
) -> Said:
    """A random forest like the control of that name, of the last three positions of each context,
    in the frame that turns with the body, in which labels that are vectors are learned too.

    Three positions hold the place, the velocity and, by the second difference, the acceleration; of
    two bodies those of the first from the second, and its share of their distance, which the masses
    set.

    Raises:
        ValueError: for contexts of one position.
    """
    if contexts.shape[1] < 2:
        raise ValueError("a forest reads the last step, and contexts of one position hold none.")
    some = np.random.default_rng(seed).permutation(len(contexts))[:MOST]
    places, frame = _in_frame(contexts[some])
    vectors = labels.shape[1] > 1
    own = np.einsum("dna,na->nd", frame, labels[some]) if vectors else labels[some, 0]
    fitted = random_forest(places, own, seed)

    def said(contexts: np.ndarray) -> np.ndarray:
        places, frame = _in_frame(contexts)
        values = fitted.predict(places)
        return np.einsum("dna,nd->na", frame, values) if vectors else values[:, None]

    return said


def _in_frame(contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features of contexts, and the frame that turns with the body."""
    last = contexts[:, -3:]
    apart = last[:, :, 0] - last[:, :, 1] if last.shape[2] > 1 else last[:, :, 0]
    places, frame = in_frame(apart[:, -2:])
    bend = np.einsum("dna,na->nd", frame, np.diff(apart, n=2, axis=1).sum(axis=1))
    share = np.linalg.norm(last[:, -1, :1], axis=-1) / places[:, :1]
    return np.concatenate((places, bend, share), axis=1), frame
