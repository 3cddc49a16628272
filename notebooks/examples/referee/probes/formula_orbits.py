"""A formula for what predictions imply along held-out orbits."""

from base import Network, Probe, distance_from_newton


def score(network: Network) -> float:
    """Minus the distance of the fitted power of r from −2."""
    return -distance_from_newton(network.read("implied"))


PROBE = Probe(
    "formula, held-out orbits",
    "Gao, Spratling and Gionfrida, arXiv:2501.13428v5: a formula fitted to predicted orbits; here "
    "the power of r alone is fitted, which flatters the probe",
    score,
    line=-0.05,
)
