"""The positive control for Newton: the law itself in place of the model."""

import functools
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from orbits.palette import COLORS
from orbits.units import G
from worldmodel.controls.base import Control
from worldmodel.flow import advanced, follow
from worldmodel.predictor import ArcPredictor, central_differences, of_bodies

if TYPE_CHECKING:
    from orbits.forces import ForceLaw
    from worldmodel.probes.states import Arcs


class ByLaw(ArcPredictor):
    """Positive control for Newton: the law advances every state."""

    def __init__(self, law: "ForceLaw", dt: float, context_length: int) -> None:
        self.law = law
        self.dt = dt
        self.context_length = context_length

    def predict(self, arcs: "Arcs") -> Float[np.ndarray, "orbit time body axis"]:
        if arcs.many is not None:
            mass, velocity = arcs.many
            if not np.isfinite(mass).all():
                raise ValueError(
                    "the masses of the bodies are not known, so that no law can move them."
                )
            pull = functools.partial(self.law.mutual_acceleration, gm=G * mass[:, None])
            return advanced(pull, arcs.seen, velocity, self.dt)[0]
        following, _ = follow(self.law, arcs.position, arcs.velocity, arcs.gm, self.dt)
        return following[:, :, None] * arcs.shares[:, None, :, None]

    def jacobians(
        self, arcs: "Arcs", orbit: np.ndarray, time: np.ndarray
    ) -> tuple[Float[np.ndarray, "state context out in"], None]:
        """From the law's flow; older positions do not matter."""
        relative = law_jacobians(*arcs.at(orbit, time), self.law, self.dt)
        older = max(0, self.context_length - 2)
        return of_bodies(np.pad(relative, ((0, 0), (older, 0), (0, 0), (0, 0))), arcs, orbit), None


def law_jacobians(
    position: Float[np.ndarray, "state axis"],
    velocity: Float[np.ndarray, "state axis"],
    gm: Float[np.ndarray, " state"],
    law: "ForceLaw",
    dt: float,
) -> Float[np.ndarray, "state 2 axis axis"]:
    """Derivatives of the next position by the previous and the present, under the law.

    Two positions fix a state. With P± and Q± the derivatives of x(t ± dt) by x(t) and v(t), the
    velocity follows from δx(t−dt) = P₋δx + Q₋δv, so that
    J(t−1) = Q₊ Q₋⁻¹ and J(t) = P₊ − Q₊ Q₋⁻¹ P₋. For small dt they are −I and 2I + dt² ∂a/∂x.

    Returns:
        J(t−1), then J(t); rows are coordinates of the next position.
    """
    ahead_x, ahead_v = _flow_derivatives(position, velocity, gm, law, dt)
    back_x, back_v = _flow_derivatives(position, velocity, gm, law, -dt)
    last = ahead_v @ np.linalg.inv(back_v)
    return np.stack((last, ahead_x - last @ back_x), axis=1)


def _flow_derivatives(
    position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, law: "ForceLaw", dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """(state, axis, axis) of x(t + dt) by x(t) and by v(t), by central differences."""
    state = np.stack((position, velocity), axis=1).astype(np.float64)

    def moved(states: np.ndarray) -> np.ndarray:
        each = np.repeat(gm, len(states) // len(gm))
        return follow(law, states[:, 0], states[:, 1], each, dt)[0]

    # only dt² a is nonlinear: a step of 1e-4 of the state errs by 1e-8 of that part
    derivatives = central_differences(moved, state, 1e-4 * np.linalg.norm(state, axis=-1))
    return derivatives[:, 0], derivatives[:, 1]


INJECTED = Control(
    "injected",
    "the law in its place",
    label="true law injected",
    color=COLORS["injected"],
    must="The law must be found: else the method fails, whatever the model.",
    predictor=lambda model, law, memory: ByLaw(law, model.dt, model.context_length),
    needs_law=True,
)
