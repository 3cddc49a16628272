"""Who predicts: the model, the law in its place, or an ellipse; all behind one contract."""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Float

from orbits.choices import require_known
from orbits.forces import ForceLaw
from worldmodel.probes.controls import predict_by_law
from worldmodel.probes.ellipse import FEWEST, predict_by_ellipse
from worldmodel.probes.states import Arcs
from worldmodel.world_model import WorldModel


class Predictor(ABC):
    """Says the next position after every time of some arcs."""

    context_length: int
    """Positions that a prediction is made from."""

    @abstractmethod
    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        """The position one step later, au, float64; NaN where the context is not full."""


class ByModel(Predictor):
    """The network, which sees exactly the last C positions, as in training."""

    def __init__(self, model: WorldModel) -> None:
        self.model = model
        self.context_length = model.context_length

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        return self.model.predict(arcs.seen)


class ByLaw(Predictor):
    """The positive control of Newton: the law moves every state on."""

    def __init__(self, law: ForceLaw, dt: float, context_length: int) -> None:
        self.law = law
        self.dt = dt
        self.context_length = context_length

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        following = predict_by_law(arcs.position, arcs.velocity, arcs.gm, self.law, self.dt)
        return following[:, :, None] * arcs.shares[:, None, :, None]


class ByEllipse(Predictor):
    """The positive control of Kepler: an ellipse through the context, and the area law."""

    def __init__(self, context_length: int) -> None:
        self.context_length = max(context_length, FEWEST)

    def predict(self, arcs: Arcs) -> Float[np.ndarray, "orbit time body axis"]:
        following = predict_by_ellipse(arcs.position, self.context_length)
        return following[:, :, None] * arcs.shares[:, None, :, None]


def make_predictor(control: str, model: WorldModel, law: ForceLaw) -> Predictor:
    """The predictor that a control stands for; `none` and `untrained` are the model itself."""
    require_known("control", control, ("none", "untrained", "injected", "keplerian"))
    if control == "injected":
        return ByLaw(law, model.dt, model.context_length)
    if control == "keplerian":
        return ByEllipse(model.context_length)
    return ByModel(model)
