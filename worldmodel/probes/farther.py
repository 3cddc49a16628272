"""Orbits at distances that no other orbit of an experiment has."""

import numpy as np

from worldmodel.examiner.pasts import OWN, PASTS, behind
from worldmodel.examiner.questions import as_in_files, ends_of_shells
from worldmodel.examiner.states import drawn
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.states import Arcs


def circular_shells(experiment: Experiment, count: int) -> dict[str, Arcs]:
    """So many arcs in each shell of the examination, closer and farther than all orbits shown, and
    read at their end: there they move across, at 0.75 to 1.25 of the circular speed, as orbits of
    moderate eccentricity do at their nearest and farthest place. Masses are those of the orbits."""
    world, random = experiment.world, experiment.random()
    length = max(2, experiment.predictor.context_length)
    shells = {}
    for name, ends in ends_of_shells(world.radius).items():
        states = drawn(world, {"circular": count}, random, ends)
        context = as_in_files(behind(world, states, PASTS[OWN], length, random)[0])
        velocity = np.repeat(states.velocity[:, None], length, axis=1)  # the last alone counts
        shells[name] = Arcs.relative(context, velocity, states.gm, mass=states.mass)
    return shells
