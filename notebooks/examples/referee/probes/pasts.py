"""Weights or context: the force behind pasts of other laws, which end in the same two positions."""

from base import Network, Probe

from worldmodel.examiner.pasts import FOREIGN, OWN
from worldmodel.examiner.states import DENSITY


def score(network: Network) -> float:
    """The least share of states within 10 % behind a past of another law; with two positions in
    view, which hold no past, behind the law's own."""
    answers = network.examination()
    pasts = [name for name in FOREIGN if (answers.past == name).any()]
    if network.model.context_length < 3:
        pasts = [OWN]
    density = answers.family == DENSITY
    return min(answers.share(density & (answers.past == name)).right for name in pasts)


PROBE = Probe("pasts of other laws", "this project", score, threshold=0.9)
