"""Muon for the matrices of the blocks, AdamW for everything else, one schedule for both."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.optim import AdamW, Muon, Optimizer

from worldmodel.config import TrainConfig


class BatchedMuon(Muon):
    """torch's Muon, with one Newton-Schulz iteration for all matrices of one shape.

    A small network has few matrices, and each of the fifteen products of an iteration takes less
    time than starting it. The states are those of `torch.optim.Muon`.
    """

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One step of every matrix; see `torch.optim.Muon`."""
        loss = None if closure is None else torch.enable_grad()(closure)()
        for group in self.param_groups:
            updates: dict[torch.Size, list[tuple[Tensor, Tensor]]] = {}
            for parameter in group["params"]:
                gradient, state = parameter.grad, self.state[parameter]
                if gradient is None:
                    continue
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(gradient)
                buffer = state["momentum_buffer"].lerp_(gradient, 1 - group["momentum"])
                update = gradient.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
                updates.setdefault(parameter.shape, []).append((parameter, update))
            for shape, pairs in updates.items():
                rate = float(group["lr"]) * math.sqrt(max(1.0, shape[0] / shape[1]))
                turned = orthogonalised(
                    torch.stack([update for _, update in pairs]),
                    group["ns_coefficients"],
                    group["ns_steps"],
                    group["eps"],
                )
                for (parameter, _), update in zip(pairs, turned, strict=True):
                    parameter.mul_(1 - float(group["lr"]) * group["weight_decay"])
                    parameter.add_(update.to(parameter.dtype), alpha=-rate)
        return loss


def orthogonalised(
    matrices: Float[Tensor, "matrix row column"],
    coefficients: tuple[float, float, float],
    steps: int,
    eps: float,
) -> Float[Tensor, "matrix row column"]:
    """Matrices with their singular values moved towards one, by a quintic iteration in bfloat16.

    Source: Jordan et al., Muon: An optimizer for hidden layers (2024), as in torch.optim.
    """
    a, b, c = coefficients
    tall = matrices.shape[1] > matrices.shape[2]
    x = (matrices.mT if tall else matrices).bfloat16()
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


def make_optimizers(network: nn.Module, config: TrainConfig) -> list[Optimizer]:
    """The two optimisers, in a fixed order; no weight decay.

    Source of Muon: Jordan et al., Muon: An optimizer for hidden layers (2024), as in torch.optim.
    """
    matrices = [
        p for name, p in network.named_parameters() if name.startswith("blocks.") and p.ndim == 2
    ]
    taken = {id(p) for p in matrices}
    rest = [p for p in network.parameters() if id(p) not in taken]
    muon = BatchedMuon(matrices, lr=config.muon_lr, momentum=config.muon_momentum, weight_decay=0.0)
    adamw = AdamW(
        rest, lr=config.adamw_lr, betas=(0.9, config.adamw_beta2), weight_decay=0.0, foreach=True
    )
    return [muon, adamw]


def set_learning_rates(optimizers: list[Optimizer], config: TrainConfig, step: int) -> float:
    """Set both learning rates for a step (0 is the first); return the factor they share.

    Linear warm-up, times a cosine that ends at `final_lr`.
    """
    cosine = 0.5 * (1 + math.cos(math.pi * step / config.steps))
    warmup = min(1.0, (step + 1) / config.warmup) if config.warmup else 1.0
    factor = warmup * (config.final_lr + (1 - config.final_lr) * cosine)
    for optimizer, lr in zip(optimizers, (config.muon_lr, config.adamw_lr), strict=True):
        for group in optimizer.param_groups:
            group["lr"] = lr * factor
    return factor


def optimizer_tensors(optimizers: list[Optimizer]) -> dict[str, Tensor]:
    """Every tensor of the optimisers' states, by `number.parameter.name`."""
    return {
        f"{number}.{parameter}.{name}": value
        for number, optimizer in enumerate(optimizers)
        for parameter, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def restore_optimizers(optimizers: list[Optimizer], tensors: dict[str, Tensor]) -> None:
    """Put back what `optimizer_tensors` gave."""
    states: list[dict[int, dict[str, Tensor]]] = [{} for _ in optimizers]
    for key, value in tensors.items():
        number, parameter, name = key.split(".", 2)
        states[int(number)].setdefault(int(parameter), {})[name] = value
    for optimizer, state in zip(optimizers, states, strict=True):
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
