"""Implied accelerations of systems of more than two visible bodies, body by body.

`symreg weigh` reads the masses and the law that the model acts by.
"""

import numpy as np
import pandas as pd

from orbits.derivatives.accelerations import planet_rows
from worldmodel.controls import CONTROLS
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.states import Arcs, times_read


def table_of_bodies(experiment: Experiment) -> pd.DataFrame:
    """Force samples of every body relative to the first, as from `orbits forces`, on undisturbed
    orbits outside the training set.

    Raises:
        ValueError: for kicked states, a control for one body only, too few states, or predictions
            that are not finite.
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
    read = times_read(facts, experiment.predictor.context_length)
    mass = experiment.source.masses(chosen.index)
    seen, velocity = (v.astype(np.float64) for v in (chosen.position, chosen.velocity))
    arcs = Arcs(
        position=seen[:, :, 1] - seen[:, :, 0],
        velocity=velocity[:, :, 1] - velocity[:, :, 0],
        gm=chosen.gm,
        index=chosen.index,
        start=read.start,
        read=read,
        seen=seen,
        many=(mass, velocity),
    )
    acceleration, law = experiment.acceleration(arcs), experiment.known_law
    times, tables = np.array(read), []
    for row, number in enumerate(arcs.index):
        accelerations = acceleration[row, times]
        kept = np.isfinite(accelerations).all(axis=(1, 2))
        at = times[kept]
        table = planet_rows(at * facts.dt, seen[row, at], accelerations[kept], law, mass[row])
        tables.append(table.assign(orbit=number))
    whole = pd.concat(tables, ignore_index=True)
    if whole.empty:
        raise ValueError("no state can be read: the model's predictions are not finite numbers.")
    return whole
