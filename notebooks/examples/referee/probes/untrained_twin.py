"""The linear probe on the same network with fresh weights."""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """R² for the force, the smaller of both components."""
    r2 = network.read(LINEAR)
    return min(r2["untrained_force_x"], r2["untrained_force_y"])


PROBE = Probe("untrained twin", "control: nothing was learned", score, threshold=0.9, control=True)
