"""Far states: eight families that no training orbit is like."""

from base import Network, Probe


def score(network: Network) -> float:
    """The least share of states within 10 %, over the families."""
    families = network.read("far(count=40)")["families"]
    return min(family["right"] for family in families.values())


PROBE = Probe(
    "far states",
    "this project: the states are of the kind on which the truth is measured, though not the same",
    score,
    line=0.9,
)
