"""Inductive bias: do answers from a few random labels follow the state?"""

from pathlib import Path

from base import Network, Probe

from worldmodel.probes import readouts

FOLDER = str(Path(__file__).parents[1] / "readouts")


def score(network: Network) -> float:
    """Minus the mean distance of the model's curve from the linear oracle's, over 20 bins."""
    if FOLDER not in readouts.__path__:
        readouts.__path__.append(FOLDER)
    reading = network.read("inductive_bias(datasets=3, examples=50, tests=150, steps=30)")
    return -reading["off_oracle"]


PROBE = Probe(
    "inductive bias",
    "Vafa et al., arXiv:2507.06952; the mean absolute error that their code reports for orbits "
    "(keyonvafa/inductive-bias-probes, commit 69d294f, physics), corrected as in its issue 8: the "
    "mean over all data sets; 3 data sets for 100, 30 steps for 100",
    score,
)
