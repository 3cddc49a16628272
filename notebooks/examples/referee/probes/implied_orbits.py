"""R² of the implied acceleration along held-out orbits."""

from base import Network, Probe


def score(network: Network) -> float:
    """R² against Newton's acceleration on undisturbed orbits."""
    return network.read("implied")["r2"]


PROBE = Probe(
    "implied, held-out orbits", "no kick, no far state: the field on the data", score, 0.9
)
