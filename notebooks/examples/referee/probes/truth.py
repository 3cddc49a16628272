"""A control that is told the truth."""

from base import Network, Probe


def score(network: Network) -> float:
    """The truth itself."""
    return network.truth


PROBE = Probe("is told the truth", "control: 1", score, control=True)
