"""Symmetry: whether the predicted motion has the symmetries of the law. No kick."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from worldmodel.config import Count
from worldmodel.predictors.law import follow
from worldmodel.probes.readouts.base import Reading, ReadOut

if TYPE_CHECKING:
    from orbits.forces import ForceLaw
    from worldmodel.predictors.base import ArcPredictor
    from worldmodel.probes.experiment import Experiment
    from worldmodel.probes.integrated_arcs import States

LARGEST_SCALE = 1.25
"""Largest factor by which states grow or shrink."""
SAME_POWER = 1e-6
"""A law whose local exponent varies by more has no scaling."""


@dataclass(frozen=True)
class Symmetry(ReadOut):
    """Where symmetries are tested."""

    name: ClassVar[str] = "symmetry"
    what: ClassVar[str] = "whether it commutes with rotation, reflection, reversal and scaling"
    question: ClassVar[str] = (
        "The error of predictions under rotation, reflection, time reversal and scaling of their "
        "inputs."
    )

    states: Count = 300
    """At most this many states on undisturbed orbits."""

    def read(self, experiment: "Experiment") -> Reading:
        """By how much the implied acceleration breaks each symmetry, in units of its true size.

        0 is exact, 1 as much as the force itself:

        - `rotation`, `reflection`: of the whole context, by a random angle, in a random axis;
        - `reversal`: the reversed context, prediction first, must lead to its first position;
        - `scaling`: the law's own, r → λr and t → λ^((n+1)/2) t: the corresponding state, reached
          on its own orbit, must have λ^−n times the acceleration. None where the law has none.

        Every context is a smooth arc under the law. The same is given for the law, the ellipse, the
        parrot and the untrained model (`rotation_injected`, ...), to see which numbers tell them
        apart.
        """
        from worldmodel.probes.comparison import beside_controls

        what = "symmetries broken, in units of the force"
        return beside_controls(experiment, self.states, violations, what)


def violations(
    predictor: "ArcPredictor", states: "States", experiment: "Experiment"
) -> dict[str, float | None]:
    """Root mean square violations of each symmetry, over that of the true acceleration."""
    from worldmodel.probes.acceleration import true_acceleration
    from worldmodel.probes.integrated_arcs import arcs_through, inside, pushed, rms
    from worldmodel.probes.states import Arcs

    law, dt, random = experiment.law, experiment.facts.dt, experiment.random()
    length = max(predictor.context_length, 2)
    arcs = arcs_through(states, law, dt, length)
    arcs = arcs.some(inside(arcs, experiment))
    if not len(arcs.gm):
        raise ValueError(
            "no smooth arc stays within the distances of the training orbits; give more states."
        )
    found, size = pushed(predictor, arcs, dt), rms(true_acceleration(arcs, law)[:, -1, 0])
    result: dict[str, float | None] = {}
    for name, mirrored in (("rotation", False), ("reflection", True)):
        turn = turns(len(arcs.gm), arcs.position.shape[2], mirrored, random)
        moved = Arcs.relative(arcs.position @ turn, arcs.velocity @ turn, arcs.gm)
        expected = (found[:, None] @ turn)[:, 0]
        result[name] = rms(pushed(predictor, moved, dt) - expected) / size
    said = predictor.predict(arcs)[:, -1:, 0]
    back = np.concatenate((arcs.position, said), axis=1)[:, ::-1]
    _, ahead = follow(law, arcs.position[:, -1:], arcs.velocity[:, -1:], arcs.gm, dt)
    speeds = -np.concatenate((arcs.velocity, ahead), axis=1)[:, ::-1]
    reverse = Arcs.relative(back[:, :length], speeds[:, :length], arcs.gm)
    missed = predictor.predict(reverse)[:, -1, 0] - back[:, length]
    result["reversal"] = rms(missed / dt**2) / size
    result["scaling"] = scaling(predictor, states, experiment, random)
    return result


def scaling(
    predictor: "ArcPredictor",
    states: "States",
    experiment: "Experiment",
    random: np.random.Generator,
) -> float | None:
    """Deviation of corresponding accelerations from the law's ratio."""
    from worldmodel.probes.acceleration import true_acceleration
    from worldmodel.probes.integrated_arcs import arcs_through, inside, pushed, rms

    law, dt = experiment.law, experiment.facts.dt
    n = own_power(law, experiment.radius)
    if n is None:
        return None
    x, v, gm = states
    factor = np.exp(random.uniform(-1, 1, len(gm)) * np.log(LARGEST_SCALE))[:, None]
    length = max(predictor.context_length, 2)
    pair = [
        arcs_through(at, law, dt, length)
        for at in (states, (factor * x, factor ** ((1 - n) / 2) * v, gm))
    ]
    kept = np.all([inside(arcs, experiment) for arcs in pair], axis=0)
    if not kept.any():
        return None
    one, other = (pushed(predictor, arcs.some(kept), dt) for arcs in pair)
    size = rms(true_acceleration(pair[0].some(kept), law)[:, -1, 0])
    return rms(other * factor[kept] ** n - one) / size


def own_power(law: "ForceLaw", radius: tuple[float, float]) -> float | None:
    """n of a force r^−n; None for a law that is not a power."""
    from orbits.units import GM_SUN

    r = np.geomspace(*radius, 9)
    force = -law.radial_acceleration(r, np.full(len(r), GM_SUN))
    if not (force > 0).all():
        return None
    n = -np.diff(np.log(force)) / np.diff(np.log(r))
    return float(n.mean()) if np.ptp(n) < SAME_POWER else None


def turns(
    count: int, axes: int, mirrored: bool, random: np.random.Generator
) -> Float[np.ndarray, "state axis axis"]:
    """Random rotations, or reflections."""
    found, triangle = np.linalg.qr(random.normal(size=(count, axes, axes)))
    found = found * np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None]
    wrong = (np.linalg.det(found) < 0) != mirrored
    found[wrong, :, 0] *= -1
    return found
