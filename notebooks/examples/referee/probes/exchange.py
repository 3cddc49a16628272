"""Exchange in the probed subspace: is what a probe decodes what the prediction follows?"""

from base import Network, Probe


def score(network: Network) -> float:
    """Share of the exchanged force that the implied acceleration follows, at the best site."""
    return network.read("causal(states=300, steps=0)")["trained_probe"]


PROBE = Probe(
    "exchange in a probed subspace",
    "causal probing as for language models, without subspaces learned by gradient; 300 states",
    score,
    threshold=0.5,
)
