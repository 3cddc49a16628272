"""The gradient of the force, from the Jacobian."""

from base import JACOBIAN, Network, Probe


def score(network: Network) -> float:
    """Minus the median relative error of ∂a/∂x, the larger of along and across the radius."""
    reading = network.read(JACOBIAN)
    return -max(reading["radial_error"], reading["tangential_error"])


PROBE = Probe("gradient of the Jacobian", "this project", score, threshold=-0.1)
