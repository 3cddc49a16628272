"""Linear probe of the force on frozen layers."""

from base import LINEAR, Network, Probe


def score(network: Network) -> float:
    """Cross-validated R² of the best layer for the force's components, the smaller of both."""
    r2 = network.read(LINEAR)
    return min(r2["trained_force_x"], r2["trained_force_y"])


PROBE = Probe(
    "linear probe, force",
    "PhyIP, arXiv:2602.12218v1 (frozen layers, linear, ρ > 0.9, which is R² > 0.81), and Liu et "
    "al., arXiv:2602.06923 (R² of the force); ridge, 300 states, cross-validated over orbits",
    score,
    threshold=0.9,
)
