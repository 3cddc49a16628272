"""Who predicts: the model, the law in its place, or an ellipse; all behind one contract."""

import copy
from abc import ABC, abstractmethod

import numpy as np
import torch
from jaxtyping import Float

from orbits.command.near_misses import require_known
from orbits.forces import ForceLaw
from worldmodel.model import Network
from worldmodel.objective import next_position
from worldmodel.predictors.ellipse import FEWEST, ellipse_jacobians, predict_by_ellipse
from worldmodel.predictors.law import law_jacobians, predict_by_law
from worldmodel.probes.config import CONTROLS
from worldmodel.probes.states import Arcs
from worldmodel.world_model import WorldModel


class Predictor(ABC):
    """Says the next position after every time of some arcs."""

    context_length: int
    """Positions that a prediction is made from."""

    @abstractmethod
    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        """The position one step later, au, float64; NaN where the context is not full."""

    @abstractmethod
    def jacobians(
        self, arcs: Arcs, orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """Derivatives of some predictions by every position that they were made from.

        Args:
            arcs: the states.
            orbit: (state,) indices of orbits.
            time: (state,) indices of times, each with a full context.

        Returns:
            The present position last; at least two positions. Coordinates are body by body.

        Raises:
            ValueError: for a model whose predictions have no derivatives.
        """


class ByModel(Predictor):
    """The network, which sees exactly the last C positions, as in training."""

    def __init__(self, model: WorldModel) -> None:
        self.model = model
        self.context_length = model.context_length

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        return self.model.predict(arcs.seen)

    def jacobians(
        self, arcs: Arcs, orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """By reverse differentiation of a float64 copy of the network."""
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
    def _of(network: Network, contexts: torch.Tensor) -> torch.Tensor:
        """(state, context, body, axis, body, axis), the prediction's coordinates first."""
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


class ByLaw(Predictor):
    """The positive control of Newton: the law moves every state on."""

    def __init__(self, law: ForceLaw, dt: float, context_length: int) -> None:
        self.law = law
        self.dt = dt
        self.context_length = context_length

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        following = predict_by_law(arcs.position, arcs.velocity, arcs.gm, self.law, self.dt)
        return following[:, :, None] * arcs.shares[:, None, :, None]

    def jacobians(
        self, arcs: Arcs, orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """By the law's flow; older positions do not matter to it."""
        relative = law_jacobians(
            arcs.position[orbit, time],
            arcs.velocity[orbit, time],
            arcs.gm[orbit],
            self.law,
            self.dt,
        )
        older = max(0, self.context_length - 2)
        return of_bodies(np.pad(relative, ((0, 0), (older, 0), (0, 0), (0, 0))), arcs, orbit)


class ByEllipse(Predictor):
    """The positive control of Kepler: an ellipse through the context, and the area law."""

    def __init__(self, context_length: int) -> None:
        self.context_length = max(context_length, FEWEST)

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        following = predict_by_ellipse(arcs.position, self.context_length)
        return following[:, :, None] * arcs.shares[:, None, :, None]

    def jacobians(
        self, arcs: Arcs, orbit: np.ndarray, time: np.ndarray
    ) -> Float[np.ndarray, "state context out in"]:
        """By differences."""
        steps = time[:, None] + np.arange(1 - self.context_length, 1)
        return of_bodies(ellipse_jacobians(arcs.position[orbit[:, None], steps]), arcs, orbit)


def of_bodies(
    relative: Float[np.ndarray, "state context axis axis"], arcs: Arcs, orbit: np.ndarray
) -> Float[np.ndarray, "state context out in"]:
    """Derivatives for every visible body, from those of the relative motion.

    The barycentre of two bodies goes on in a straight line: 2 X(t) − X(t−1).
    """
    if arcs.mass is None:
        return relative
    share, axes = arcs.shares[orbit], relative.shape[-1]
    weight = arcs.mass[orbit] / arcs.mass[orbit].sum(axis=1, keepdims=True)
    found = np.einsum("nb,c,nsij->nsbicj", share, np.array([1.0, -1.0]), relative)
    straight = np.einsum("nc,ij->nicj", weight, np.eye(axes))[:, None]
    found[:, -1] += 2 * straight
    found[:, -2] -= straight
    return found.reshape(*relative.shape[:2], 2 * axes, 2 * axes)


def make_predictor(control: str, model: WorldModel, law: ForceLaw) -> Predictor:
    """The predictor that a control stands for; `none` and `untrained` are the model itself."""
    require_known("control", control, CONTROLS)
    if control == "injected":
        return ByLaw(law, model.dt, model.context_length)
    if control == "keplerian":
        return ByEllipse(model.context_length)
    return ByModel(model)
