"""Implied accelerations as a table of force samples, and their quality."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from orbits.printing import plural
from worldmodel import probes
from worldmodel.grain import rounding_error
from worldmodel.probes.readouts.base import Reading, ReadOut, side_by_side

Places = Float[np.ndarray, "orbit time body axis"]


@dataclass(frozen=True)
class Implied(ReadOut):
    """The accelerations that the predictions imply."""

    name: ClassVar[str] = "implied"
    what: ClassVar[str] = "accelerations, as a table"
    question: ClassVar[str] = "The accelerations that the model's predictions imply."
    labels: ClassVar[Mapping[str, str]] = {
        "r2": "R² of the acceleration",
        "exponent": "n in c GM / rⁿ",
        "scale": "c",
        "gm_exponent": "q in c GM^q / rⁿ",
        "own_mass_exponent": "p in c GM^q m^p / rⁿ",
        "non_central": "non-central part",
        "third_law": "|m1 a1 + m2 a2| / |m1 a1|",
        "rounding": "rounding of the answers / acceleration",
    }
    writes_table: ClassVar[bool] = True

    def read(self, experiment: "probes.Experiment") -> Reading:
        """The accelerations that the predictions imply.

        Kicked states are read from the first step after the kick on, if their distance from the
        centre is within the training orbits': outside, any model extrapolates. Of more than two
        bodies each is read relative to the first, on undisturbed orbits. Where masses differ
        between orbits they are read from the second step on: the force then takes three positions
        (place, velocity and mass), and one step after a kick only two lie on the new orbit. Orbits
        that fall into the centre within those steps give no rows.
        """
        config, beside = experiment.config, {}
        if experiment.facts.bodies > 2:
            table = probes.table_of_bodies(experiment)
        else:
            arcs = experiment.arcs()
            predicted = experiment.predictor.predict(arcs)
            acceleration = experiment.acceleration_of(predicted, arcs)
            kept = np.ones(arcs.position.shape[:2], dtype=bool)
            if arcs.kick is not None:
                kept = experiment.within(arcs)
            law, dt = experiment.known_law, experiment.facts.dt
            table = probes.force_table(arcs, acceleration, law, dt, kept)
            beside = probes.against_known(experiment, arcs, acceleration, kept)
            beside["rounding"] = rounding(predicted, arcs.seen, acceleration * dt**2)
        metrics = probes.measure(table, config.seed)
        metrics |= {"correction": config.correction, **beside}
        return Reading(metrics, experiment.states, report(metrics, experiment), table)


def rounding(predicted: Places, position: Places, moved: Places) -> float | None:
    """Median error by which next positions (au) are rounded, beside what the acceleration moves in
    a step (au); None where it moves nothing."""
    known = np.isfinite(moved).all(axis=-1) & moved.any(axis=-1)
    if not known.any():
        return None
    coarse = rounding_error(predicted[known], position[known])
    return float(np.median(coarse / np.linalg.norm(moved[known], axis=1)))


def report(metrics: dict[str, Any], experiment: "probes.Experiment") -> str:
    """The metrics as a small table."""
    copiers = {"copier": "a naive copier", "training_copier": "one of training orbits"}
    names = ("r2", "median_relative_error")
    shown: dict[str, Any] = {name: metrics[name] for name in names if name in metrics}
    shown |= {
        f"R² {plural(int(k), 'step')} after a kick": v
        for k, v in metrics.get("kick_r2", {}).items()
    }
    shown |= {name: metrics[name] for name in Implied.labels if name in metrics}
    for name, words in copiers.items():
        for what in ("gain", "likeness") if name in metrics else ():
            shown[f"{what} beside {words}"] = metrics[name][what]
    title = (
        f"{experiment.who}, {experiment.states} states: {metrics['rows']} rows of "
        f"{metrics['orbits']} orbits, correction {metrics['correction']}"
    )
    if "r2" not in metrics:
        title += "; the law of the data is not known: no true accelerations to compare with"
    return side_by_side(title, {"": shown}, Implied.labels)
