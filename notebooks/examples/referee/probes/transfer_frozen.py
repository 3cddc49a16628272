"""Force magnitude by a new head on the frozen network."""

from base import TRANSFER, Network, Probe


def score(network: Network) -> float:
    """R² of the size of the force near labelled states, by the head alone."""
    reading = network.read(TRANSFER.format(", learner=head"))
    return reading["r2_size"]


PROBE = Probe(
    "transfer, frozen",
    "PhyIP, arXiv:2602.12218: adaptation corrupts, so the network stays as it is; otherwise as "
    "`transfer_tuned`",
    score,
    threshold=0.9,
)
