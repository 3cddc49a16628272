"""One step after a kick."""

from base import KICK, Network, Probe


def score(network: Network) -> float:
    """R² of the implied acceleration one step after the velocity was turned."""
    return network.read(KICK)["r2_1"]


PROBE = Probe("kick, one step", "this project, first edition", score, threshold=0.9)
