"""Locality of the Jacobian: a second-order law needs the last two positions alone."""

from base import JACOBIAN, Network, Probe


def score(network: Network) -> float:
    """Median locality over 100 states: 1 where the prediction hangs on the last two positions."""
    return network.read(JACOBIAN)["locality"]


PROBE = Probe(
    "locality of the Jacobian", "arXiv:2602.06923's short context, as a measure", score, 0.9
)
