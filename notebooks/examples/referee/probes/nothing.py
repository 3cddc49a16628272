"""A control that looks at nothing."""

import numpy as np
from base import Network, Probe


def score(network: Network) -> float:
    """A random number."""
    return float(np.random.default_rng(network.number).random())


PROBE = Probe("looks at nothing", "control: 0.5", score, control=True)
