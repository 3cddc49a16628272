"""Muon for the matrices of the blocks, AdamW for everything else, one schedule for both."""

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer
from torch.optim._muon import _adjust_lr

from worldmodel.config import TrainConfig

LARGEST_GRADIENT = 1.0
"""Norm: of order one at the start, the targets being standardised: only an outlier is cut."""


def make_optimizers(
    network: nn.Module, config: TrainConfig, fused: bool = False
) -> list[Optimizer]:
    """The two optimisers, in a fixed order; no weight decay. `fused`: AdamW in one kernel of a GPU.

    Momentum and second-moment decay are the usual ones, but for AdamW's: runs of a thousand steps
    are shorter than the memory of 0.999.

    Source of Muon: Jordan et al., Muon: An optimizer for hidden layers (2024), as in torch.optim.
    """
    matrices = [
        p for name, p in network.named_parameters() if name.startswith("blocks.") and p.ndim == 2
    ]
    taken = {id(p) for p in matrices}
    rest = [p for p in network.parameters() if id(p) not in taken]
    muon = StackedMuon(matrices, lr=config.muon_lr, momentum=0.95, weight_decay=0.0)
    how = {"fused": True} if fused else {"foreach": True}
    adamw = AdamW(rest, lr=config.adamw_lr, betas=(0.9, 0.99), weight_decay=0.0, **how)
    return [muon, adamw]


class StackedMuon(Muon):
    """Muon that makes matrices of one shape orthogonal together; without weight decay.

    A network of a few layers has many small matrices. One by one they cost the host of a GPU some
    hundred launches in a step, which take longer than the whole rest of it.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            weights: list[Tensor] = []
            grads: list[Tensor] = []
            buffers: list[Tensor] = []
            self._init_group(group, weights, grads, buffers)
            torch._foreach_lerp_(buffers, grads, 1 - group["momentum"])
            updates = torch._foreach_lerp(grads, buffers, group["momentum"])  # Nesterov's
            settings = {name: group[name] for name in ("ns_coefficients", "ns_steps", "eps")}
            alike: dict[torch.Size, list[int]] = defaultdict(list)
            for index, weight in enumerate(weights):
                alike[weight.shape].append(index)
            for shape, indices in alike.items():
                stacked = orthogonal(torch.stack([updates[index] for index in indices]), **settings)
                rate = _adjust_lr(group["lr"], group["adjust_lr_fn"], shape)
                changed = [weights[index] for index in indices]
                torch._foreach_add_(changed, list(stacked.to(changed[0].dtype)), alpha=-rate)
        return loss


def orthogonal(
    matrices: Float[Tensor, "matrix row column"],
    ns_coefficients: tuple[float, float, float],
    ns_steps: int,
    eps: float,
) -> Float[Tensor, "matrix row column"]:
    """The nearest orthogonal matrices, roughly: singular values of 0.7 to 1.2, by the iteration of
    Newton and Schulz as in torch.optim.Muon.

    In bfloat16 on a GPU alone: on a CPU its products take ten times as long as those of float32.
    """
    a, b, c = ns_coefficients
    x = matrices.bfloat16() if matrices.is_cuda else matrices
    tall = x.shape[-2] > x.shape[-1]
    x = x.mT if tall else x
    x = x / torch.linalg.matrix_norm(x, keepdim=True).clamp(min=eps)
    for _ in range(ns_steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if tall else x


def set_learning_rates(optimizers: list[Optimizer], config: TrainConfig, step: int) -> float:
    """Set both learning rates for a step (from 0); return their common factor.

    Linear warm-up, times a cosine that ends at a hundredth: there the last steps still move.
    """
    cosine = 0.5 * (1 + math.cos(math.pi * step / config.steps))
    warmup = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    factor = warmup * (0.01 + (1 - 0.01) * cosine)
    for optimizer, lr in zip(optimizers, (config.muon_lr, config.adamw_lr), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = lr * factor
    return factor


def descend(network: nn.Module, config: TrainConfig, loss: Callable[[], Tensor]) -> None:
    """Train a network on any loss, one of each batch, with the optimisers and the schedule of
    `train`."""
    optimizers = make_optimizers(network, config)
    for step in range(config.steps):
        set_learning_rates(optimizers, config, step)
        loss().backward()
        nn.utils.clip_grad_norm_(network.parameters(), LARGEST_GRADIENT)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


def optimizer_tensors(optimizers: list[Optimizer]) -> dict[str, Tensor]:
    """Every tensor in the optimisers' states, by `number.parameter.name`."""
    return {
        f"{number}.{parameter}.{name}": value
        for number, optimizer in enumerate(optimizers)
        for parameter, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def restore_optimizers(optimizers: list[Optimizer], tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave.

    Raises:
        ValueError: for a moment of another shape than its parameter has.
    """
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimizers]
    for key, value in tensors.items():
        number, parameter, name = key.split(".", 2)
        states[int(number)].setdefault(int(parameter), {})[name] = value
    for optimizer, state in zip(optimizers, states, strict=True):
        parameters = [each for group in optimizer.param_groups for each in group["params"]]
        for index, moments in state.items():
            for name, value in moments.items():
                if value.ndim and value.shape != parameters[index].shape:
                    raise ValueError(f"{name} {index} has the shape {tuple(value.shape)}")
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
