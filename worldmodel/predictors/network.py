"""The network itself, trained or with fresh weights."""

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from worldmodel.predictors.base import ArcPredictor, Control

if TYPE_CHECKING:
    import torch

    from orbits.forces import ForceLaw
    from worldmodel.model import Network
    from worldmodel.probes.states import Arcs
    from worldmodel.world_model import WorldModel

UNTRAINED_SEED = 1_000_000
"""Added to the probe's seed, so that fresh weights are none that a run began with."""


class ByModel(ArcPredictor):
    """The network, which sees exactly the last C positions, as in training."""

    def __init__(self, model: "WorldModel") -> None:
        self.model = model
        self.context_length = model.context_length

    def predict(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        return self.model.predict(arcs.seen)

    def jacobians(
        self, arcs: "Arcs", orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """By reverse differentiation of a float64 copy of the network."""
        import torch

        config, length = self.model.network.config, self.context_length
        if config.head == "tokens":
            raise ValueError(
                "a model of tokens sees bins, and its predictions have no derivatives by "
                "positions; take --readout kick_response, or a model with --head regression."
            )
        network = copy.deepcopy(self.model.network).double().cpu()
        contexts = torch.from_numpy(arcs.contexts(orbit, time, length))
        found = [self._of(network, part) for part in contexts.split(256)]
        jacobians = torch.cat(found).flatten(4).flatten(2, 3).numpy()
        missing = max(0, 2 - length)
        return np.pad(jacobians, ((0, 0), (missing, 0), (0, 0), (0, 0)))

    @staticmethod
    def _of(network: "Network", contexts: "torch.Tensor") -> "torch.Tensor":
        """(state, context, body, axis, body, axis), the prediction's coordinates first."""
        import torch

        from worldmodel.objective import next_position

        contexts = contexts.clone().requires_grad_()
        output = network(contexts)[:, -2:]
        following = next_position(network.config, network.scales, output, contexts[:, -2:])[:, -1]
        bodies, axes = following.shape[1:]
        rows = [
            torch.autograd.grad(following[:, body, axis].sum(), contexts, retain_graph=True)[0]
            for body in range(bodies)
            for axis in range(axes)
        ]
        return torch.stack(rows, dim=2).unflatten(2, (bodies, axes))


def untrained(model: Any, seed: int) -> Any:
    """The same architecture with fresh weights."""
    return model.untrained(seed + UNTRAINED_SEED)


def _predictor(model: Any, law: "ForceLaw") -> ArcPredictor:
    from worldmodel.outside.model import OutsideModel, OutsidePredictor

    return OutsidePredictor(model) if isinstance(model, OutsideModel) else ByModel(model)


NONE = Control("none", "the model itself", _predictor)
UNTRAINED = Control("untrained", "the same network before training", _predictor, untrained)
