"""Smooth arcs that end in given states: what a model would have seen on the way."""

import numpy as np
from jaxtyping import Bool, Float

from orbits.forces import ForceLaw
from worldmodel.predictors.base import ArcPredictor
from worldmodel.predictors.law import followed_back
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.states import Arcs

States = tuple[
    Float[np.ndarray, "state axis"], Float[np.ndarray, "state axis"], Float[np.ndarray, " state"]
]
"""Positions, velocities and GM."""


def drawn_states(experiment: Experiment, count: int) -> States:
    """At most so many states of undisturbed orbits; ValueError for two visible bodies."""
    orbits = experiment.orbits
    if orbits.mass is not None:
        raise ValueError(
            f"{experiment.facts.path} shows two bodies; the read-outs symmetry and field read one "
            "body around a centre."
        )
    random = experiment.random()
    total = orbits.position.shape[0] * orbits.position.shape[1]
    chosen = np.sort(random.choice(total, min(count, total), replace=False))
    orbit, time = np.unravel_index(chosen, orbits.position.shape[:2])
    position, velocity = (
        states[orbit, time].astype(np.float64) for states in (orbits.position, orbits.velocity)
    )
    return position, velocity, orbits.trajectories.gm[orbit]


def arcs_through(states: States, law: ForceLaw, dt: float, length: int) -> Arcs:
    """Arcs of so many times under the law that end in the given states."""
    return Arcs.relative(*followed_back(law, *states, dt, length - 1), states[2])


def pushed(predictor: ArcPredictor, arcs: Arcs, dt: float) -> Float[np.ndarray, "orbit axis"]:
    """The second difference of the prediction at the last time, au/yr^2."""
    said = predictor.predict(arcs)[:, -1, 0]
    return (said - 2 * arcs.position[:, -1] + arcs.position[:, -2]) / dt**2


def inside(arcs: Arcs, experiment: Experiment) -> Bool[np.ndarray, " orbit"]:
    """Whether an arc stays within the training orbits' distances throughout."""
    return np.isfinite(arcs.position).all(axis=(1, 2)) & experiment.within(arcs).all(axis=1)


def rms(vectors: Float[np.ndarray, "*rest axis"]) -> float:
    """Root mean square length."""
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=-1))))
