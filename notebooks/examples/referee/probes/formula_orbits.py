"""A formula for what predictions imply along held-out orbits."""

from base import Network, Probe, distance_from_newton


def score(network: Network) -> float:
    """Minus the distance of the fitted power of r from −2."""
    return -distance_from_newton(network.read("implied"))


PROBE = Probe(
    "formula, held-out orbits",
    "this project: the trap of its first edition; the power of r alone is fitted",
    score,
    threshold=-0.05,
)
