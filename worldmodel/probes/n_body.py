"""Implied accelerations of systems of more than two visible bodies, body by body.

`symreg weigh` reads the masses and the law that the model acts by.
"""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from orbits.derivatives.accelerations import planet_rows
from worldmodel.predictors import CONTROLS
from worldmodel.probes.acceleration import read_acceleration
from worldmodel.probes.states import Arcs, ManyBodies

if TYPE_CHECKING:
    from worldmodel.probes.experiment import Experiment


def read_bodies(experiment: "Experiment") -> Arcs:
    """Undisturbed arcs of all bodies, from orbits outside the training set.

    Raises:
        ValueError: for kicked states, a control for one body only, or too few states.
    """
    config, facts = experiment.config, experiment.facts
    if config.states != "orbit":
        raise ValueError(
            f"{facts.path} holds {facts.bodies} bodies in each state; a kick is of one or two. "
            "Take --states orbit."
        )
    if CONTROLS[config.control].most_bodies is not None:
        able = [name for name, control in CONTROLS.items() if control.most_bodies is None]
        raise ValueError(
            f"--control {config.control} knows the motion of one or two bodies; for "
            f"{facts.bodies} take {', '.join(able)}."
        )
    chosen = experiment.trajectories
    start, stop = max(1, experiment.predictor.context_length - 1), facts.samples
    if stop - start < 3:
        raise ValueError(
            f"{facts.path} has {stop} states in each orbit; a model with context "
            f"{experiment.predictor.context_length} can be probed from {start + 3} states on."
        )
    mass = np.asarray(
        experiment.source.dataset["mass"].isel(orbit=chosen.index).values, dtype=np.float64
    )
    seen, velocity = (v.astype(np.float64) for v in (chosen.position, chosen.velocity))
    return Arcs(
        position=seen[:, :, 1] - seen[:, :, 0],
        velocity=velocity[:, :, 1] - velocity[:, :, 0],
        gm=chosen.gm,
        index=chosen.index,
        start=start,
        read=range(start, stop),
        seen=seen,
        many=ManyBodies(mass, velocity),
    )


def table_of_bodies(experiment: "Experiment", arcs: Arcs) -> pd.DataFrame:
    """Force samples of every body relative to the first, as from `orbits forces`.

    Raises:
        ValueError: if no prediction is finite.
    """
    dt, law = experiment.facts.dt, experiment.known_law
    assert arcs.many is not None  # for the type checker: read_bodies made them
    acceleration = read_acceleration(experiment.predictor, arcs, dt, experiment.config.correction)
    times, tables = np.array(arcs.read), []
    for row, number in enumerate(arcs.index):
        found = acceleration[row, times]
        kept = np.isfinite(found).all(axis=(1, 2))
        table = planet_rows(
            times[kept] * dt, arcs.seen[row, times[kept]], found[kept], law, arcs.many.mass[row]
        )
        tables.append(table.assign(orbit=number))
    whole = pd.concat(tables, ignore_index=True)
    if whole.empty:
        raise ValueError("no state can be read: the model's predictions are not finite numbers.")
    return whole
