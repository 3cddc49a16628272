"""Force magnitude by fine-tuning the whole network."""

from base import TRANSFER, Network, Probe


def score(network: Network) -> float:
    """R² of the size of the force near labelled states."""
    reading = network.read(TRANSFER.format(""))
    return reading["r2_size"]


PROBE = Probe(
    "transfer, fine-tuned",
    "Vafa et al., arXiv:2507.06952, `force_magnitude`: 300 and 60 orbits for 9000 and 1000, 80 "
    "steps",
    score,
    threshold=0.9,
)
