"""Conservation: whoever holds the force keeps energy and angular momentum on a roll-out."""

from base import Network, Probe


def score(network: Network) -> float:
    """Minus the larger median relative drift over 32 steps of its own."""
    drifts = network.read("evaluate(steps=32)")
    return -max(drifts["energy_drift"], drifts["angular_momentum_drift"])


PROBE = Probe("conservation", "drift of energy and angular momentum over 32 steps", score)
