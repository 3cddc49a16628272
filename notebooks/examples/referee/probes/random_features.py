"""What a linear probe decodes from features that nobody trained."""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """R² for the force from tanh of random combinations of the positions, the smaller of both."""
    r2 = network.read(LINEAR)
    return min(r2["random_force_x"], r2["random_force_y"])


PROBE = Probe("random features", "control: no network at all", score, threshold=0.9, control=True)
