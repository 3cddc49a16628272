"""A formula for the force vectors that a fine-tuned network gives."""

from base import TRANSFER, Network, Probe, distance_from_newton


def score(network: Network) -> float:
    """Minus the distance of the fitted power of r from −2."""
    reading = network.read(TRANSFER.format(", target=vector"))
    return -distance_from_newton(reading)


PROBE = Probe(
    "formula, fine-tuned vectors",
    "Vafa et al., arXiv:2507.06952, and Gao, Spratling and Gionfrida, arXiv:2501.13428v5: symbolic "
    "regression of fine-tuned forces; here the power of r alone is fitted, which flatters it",
    score,
    threshold=-0.05,
)
