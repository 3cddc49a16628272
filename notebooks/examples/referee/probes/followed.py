"""How far the answer hangs on the past: the same states behind pasts of other laws."""

import numpy as np
from base import WORLD, Network, Probe

from worldmodel.examiner.pasts import FOREIGN, OWN, PASTS, behind
from worldmodel.examiner.states import DENSITY, drawn


def score(network: Network) -> float:
    """Minus the change of the implied acceleration by the past, over the law's own: the median over
    100 states, and the largest over the pasts. 0 where nothing but the last two positions counts.
    """
    return network.readings.taken("followed", lambda: -_change(network))


def _change(network: Network) -> float:
    length = max(network.model.context_length, 3)
    states = drawn(WORLD, {DENSITY: 100}, np.random.default_rng(8))
    answers = {}
    for name in (OWN, *FOREIGN):
        past, _ = behind(WORLD, states, PASTS[name], length, np.random.default_rng(9))
        answers[name] = network.model.predict(past.astype(np.float32))[:, -1]
    size = np.linalg.norm(WORLD.law.acceleration(states.position, states.gm), axis=1) * WORLD.dt**2
    changes = [np.linalg.norm(answers[name] - answers[OWN], axis=1) / size for name in FOREIGN]
    return float(max(np.nanmedian(change) for change in changes))


PROBE = Probe("past ignored", "this project", score, threshold=-0.1)
