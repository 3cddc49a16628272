"""Field: whether the implied force depends on position alone, is curl-free and central."""

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from orbits.options import AtLeast
from worldmodel.config import Count
from worldmodel.probes.readouts.base import Reading, ReadOut

if TYPE_CHECKING:
    from worldmodel.predictors.base import ArcPredictor
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.integrated_arcs import States

SHIFT = 0.01
"""Shift of position for the curl, in units of r: a float32 model's rounding of 1e-7 r is 1e-5 of
it, divided by dt² like the force."""


@dataclass(frozen=True)
class Field(ReadOut):
    """Where the field is sampled."""

    name: ClassVar[str] = "field"
    what: ClassVar[str] = "whether the force is a function of the place, curl-free, central"
    question: ClassVar[str] = (
        "Whether the implied force depends on the place alone, has no curl, and is central."
    )

    states: Count = 200
    """At most this many places on undisturbed orbits."""
    velocities: Annotated[int, AtLeast(2)] = 8
    """Velocities, and pasts, for each place."""

    def read(self, experiment: "Experiment") -> Reading:
        """Dependence of the implied acceleration on more than position, in units of its true size.

        0 is a field, 1 as much as the force itself:

        - `velocity`: spread over velocities (turned and rescaled as by a kick, but reached on
          smooth arcs under the law);
        - `history`: spread over pasts that end in the same two positions after as many different
          kicks one step before the end; 0 by construction for a model that sees two;
        - `curl`: of the field at a fixed velocity, times the distance;
        - `across`: the part perpendicular to the radius.

        The same is given of the law, the ellipse, the parrot and the untrained model.
        """
        from worldmodel.probes.comparison import beside_controls

        measure = functools.partial(field_numbers, count=self.velocities)
        what = "what the force depends on beside the place, in units of itself"
        return beside_controls(experiment, self.states, measure, what)


def field_numbers(
    predictor: "ArcPredictor", states: "States", experiment: "Experiment", count: int
) -> dict[str, float | None]:
    """The numbers of `Field.read`, with so many velocities."""
    from orbits.powers import non_central_part
    from worldmodel.kick import turned_at_random
    from worldmodel.probes.acceleration import true_acceleration
    from worldmodel.probes.integrated_arcs import arcs_through, inside, pushed, rms

    law, dt, random = experiment.law, experiment.facts.dt, experiment.random()
    length = max(predictor.context_length, 2)
    x, v, gm = states
    kick = experiment.config.kick_angle, experiment.config.kick_scale, random
    turned = [v, *(turned_at_random(x, v, *kick) for _ in range(count - 1))]
    by_velocity = [arcs_through((x, u, gm), law, dt, length) for u in turned]
    kept = np.all([inside(arcs, experiment) for arcs in by_velocity], axis=0)
    if not kept.any():
        raise ValueError(
            "no place can be reached by every velocity within the distances of the training "
            "orbits; give more states or a smaller --kick-angle."
        )
    pushes = np.stack([pushed(predictor, arcs.some(kept), dt) for arcs in by_velocity])
    size = rms(true_acceleration(by_velocity[0].some(kept), law)[:, -1, 0])
    flat = pushes.reshape(-1, pushes.shape[2])
    return {
        "velocity": rms(pushes - pushes.mean(axis=0)) / size,
        "history": _histories(predictor, states, turned, kept, experiment) / size,
        "curl": _curl(predictor, (x[kept], v[kept], gm[kept]), experiment) / size,
        "across": float(non_central_part(flat, np.tile(x[kept], (count, 1)))),
    }


def _histories(
    predictor: "ArcPredictor",
    states: "States",
    turned: list[np.ndarray],
    kept: np.ndarray,
    experiment: "Experiment",
) -> float:
    """Spread of the acceleration over pasts of the same last step, au/yr^2."""
    from worldmodel.probes.integrated_arcs import arcs_through, pushed, rms
    from worldmodel.probes.states import Arcs

    law, dt = experiment.law, experiment.facts.dt
    length = max(predictor.context_length, 2)
    end = arcs_through(states, law, dt, 2)
    at, own, gm = end.position[:, 0], end.velocity[:, 0], states[2]
    pushes = []
    for change in turned:
        # the change of direction and speed that the other velocity means, one step earlier
        past = arcs_through((at, own + change - turned[0], gm), law, dt, length - 1)
        position = np.concatenate((past.position, end.position[:, 1:]), axis=1)
        velocity = np.concatenate((past.velocity[:, :-1], end.velocity), axis=1)
        pushes.append(pushed(predictor, Arcs.relative(position, velocity, gm).some(kept), dt))
    spread = np.stack(pushes)
    return rms(spread - spread.mean(axis=0))


def _curl(predictor: "ArcPredictor", states: "States", experiment: "Experiment") -> float:
    """Root mean square of r · curl at fixed velocity, au/yr^2."""
    from worldmodel.probes.integrated_arcs import arcs_through, pushed

    x, v, gm = states
    law, dt, length = experiment.law, experiment.facts.dt, max(predictor.context_length, 2)
    r = np.linalg.norm(x, axis=-1, keepdims=True)
    axes = x.shape[1]
    gradient = np.empty((len(gm), axes, axes))
    for axis in range(axes):
        shift = SHIFT * r * np.eye(axes)[axis]
        ends = [
            pushed(predictor, arcs_through((x + moved, v, gm), law, dt, length), dt)
            for moved in (shift, -shift)
        ]
        gradient[:, :, axis] = (ends[0] - ends[1]) / (2 * SHIFT * r)
    twice = gradient - gradient.swapaxes(1, 2)
    return float(np.sqrt(np.mean(np.sum(twice**2, axis=(1, 2)) / 2 * r[:, 0] ** 2)))
