"""Muon for the matrices of the blocks, AdamW for everything else, one schedule for both."""

import math

from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

from worldmodel.config import TrainConfig


def make_optimizers(
    network: nn.Module, config: TrainConfig, fused: bool = False
) -> list[Optimizer]:
    """The two optimisers, in a fixed order; no weight decay. `fused`: AdamW in one kernel.

    Momentum and second-moment decay are the usual ones, but for AdamW's: runs of a thousand steps
    are shorter than the memory of 0.999.

    Source of Muon: Jordan et al., Muon: An optimizer for hidden layers (2024), as in torch.optim.
    """
    matrices = [
        p for name, p in network.named_parameters() if name.startswith("blocks.") and p.ndim == 2
    ]
    taken = {id(p) for p in matrices}
    rest = [p for p in network.parameters() if id(p) not in taken]
    muon = Muon(matrices, lr=config.muon_lr, momentum=0.95, weight_decay=0.0)
    how = {"fused": True} if fused else {"foreach": True}
    adamw = AdamW(rest, lr=config.adamw_lr, betas=(0.9, 0.99), weight_decay=0.0, **how)
    return [muon, adamw]


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
