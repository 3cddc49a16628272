"""Inductive bias: do answers from a few random labels follow the state?"""

from base import Network, Probe


def score(network: Network) -> float:
    """The smaller of R-IB and D-IB."""
    reading = network.read("inductive_bias(datasets=3, examples=50, tests=150, steps=50)")
    return min(reading["r_ib"], reading["d_ib"])


PROBE = Probe(
    "inductive bias",
    "Vafa et al., arXiv:2507.06952, metric as corrected (the mean over all data sets); 3 data sets "
    "for 100, 50 steps",
    score,
)
