"""Roll-outs: whoever obeys the force predicts far ahead."""

from base import ROLLOUT, Network, Probe


def score(network: Network) -> float:
    """Minus the median distance from the true position after 16 steps of its own, over r."""
    return -network.read(ROLLOUT)["error_16"]


PROBE = Probe("roll-out", "the measure of most papers on sequence models; 16 steps", score)
