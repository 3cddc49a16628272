"""Far states: eight families that no training orbit is like."""

from base import Network, Probe

from worldmodel.examiner.pasts import OWN


def score(network: Network) -> float:
    """The least share of states within 10 %, over the families."""
    answers = network.examination()
    own = answers.past == OWN
    families = sorted(set(answers.family[own]))
    return min(answers.share(own & (answers.family == name)).right for name in families)


PROBE = Probe(
    "far states",
    "this project: the states are of the kind on which the truth is measured, though not the same",
    score,
    threshold=0.9,
)
