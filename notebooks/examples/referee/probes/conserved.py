"""Conservation: whoever obeys the force keeps energy and angular momentum on a roll-out."""

from base import ROLLOUT, Network, Probe


def score(network: Network) -> float:
    """Minus the larger median relative drift over 32 steps of its own."""
    drifts = network.read(ROLLOUT)
    return -max(drifts["energy_drift"], drifts["angular_momentum_drift"])


PROBE = Probe("conservation", "drift of energy and angular momentum over 32 steps", score)
