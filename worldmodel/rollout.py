"""Going on from given positions, each prediction becoming the next position.

While the positions so far fit into the context, keys and values are kept and a step costs one
token. Beyond it the model is shown the last C positions afresh at every step: kept keys would
carry what earlier layers saw of older positions, which a context of C does not hold.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from worldmodel.model import Cache, Network
from worldmodel.objective import next_position


@torch.no_grad()
def roll_out(
    network: Network,
    start: Float[Tensor, "orbit time body axis"],
    steps: int,
    context_length: int | None = None,
    decode: str = "expectation",
) -> Float[Tensor, "orbit step body axis"]:
    """Predicted positions after the given ones, au, float64.

    Args:
        network: in evaluation mode.
        start: given positions, au, float64.
        steps: number of positions to predict.
        context_length: positions that the model may see; None: all of them, however many, with
            all keys kept.
        decode: for the head `tokens`: `expectation` or `centre`.
    """
    parameter = next(network.parameters())
    cache: Cache | None = Cache(network.config.n_layers)
    positions, fresh = start, start.shape[1]
    for _ in range(steps):
        if context_length is not None and positions.shape[1] > context_length:
            cache, fresh = None, context_length
        seen = positions[:, -fresh:].to(parameter.device, parameter.dtype)
        output = network(seen, cache)[:, -1:].cpu()
        before = positions[:, -2:]
        padded = output.expand(-1, before.shape[1], *output.shape[2:])
        following = next_position(network.config, network.scales, padded, before, decode)[:, -1:]
        positions = torch.cat((positions, following), dim=1)
        fresh = 1
    return positions[:, start.shape[1] :]
