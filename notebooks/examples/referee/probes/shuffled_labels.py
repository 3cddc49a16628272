"""The linear probe on labels that belong to other states."""

import numpy as np
from base import Network, Probe

from worldmodel.probes import cross_validated_r2


def score(network: Network) -> float:
    """R² for the shuffled accelerations, of the last layer, the smaller of both components."""
    return network.readings.taken("shuffled", lambda: _read(network))


def _read(network: Network) -> float:
    answers = network.examination()
    rows = np.flatnonzero(answers.density)
    length = network.model.context_length
    steps = 0.008 * np.arange(1 - length, 1)[:, None]
    contexts = answers.position[rows, None] + steps * answers.velocity[rows, None]
    features = network.model.features(contexts[:, :, None].astype(np.float32))
    random = np.random.default_rng(network.number)
    labels = answers.true[random.permutation(rows)]
    last = list(features.values())[-1]
    return float(min(cross_validated_r2(last, labels, np.arange(len(rows)), 0)))


PROBE = Probe("shuffled labels", "control: nothing to decode", score, control=True)
