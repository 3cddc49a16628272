"""Shells of distance, inside and outside those of training: where a law differs from its table.

Inside, a regression of the training steps answers as well as a law. Outside nobody interpolates.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from orbits.estimates import Estimate
from worldmodel.examiner.answers import RIGHT, Answers, Share
from worldmodel.examiner.questions import FARTHER, HALF, ends_of_shells
from worldmodel.examiner.states import World

TRAINED = "trained"
OUTWARD = tuple(FARTHER)
"""Shells beyond the farthest distance of training, in order."""
WORDS = {
    HALF: "down to half the nearest",
    TRAINED: "where it was trained",
    **{
        name: f"up to {'twice' if times == 2 else f'{times:g} times'} the farthest"
        for name, times in FARTHER.items()
    },
}
"""Of every shell, from the innermost."""
FEWEST = 20
"""Of states with an answer, for an exponent."""


@dataclass(frozen=True)
class Shell:
    """States between two distances, drawn from the examination's density.

    Attributes:
        low, high: au.
        share: how many answers are right.
        readable: share of the states at which the law itself is right at this time step, whichever
            rule of integration it is taken for, and rounded as the answers are.
        exponent: d log |F| / d log r of the accelerations answered; None without enough of them.
        true_exponent: that of the law at the same states.
    """

    low: float
    high: float
    share: Share
    readable: float | None = None
    exponent: Estimate | None = None
    true_exponent: float | None = None


def shells_of(answers: Answers, world: World) -> dict[str, Shell]:
    """Every shell of which states were asked, from the innermost."""
    ends = {**ends_of_shells(world.radius), TRAINED: world.radius}
    found = {}
    for name in WORDS:
        of = answers.density if name == TRAINED else answers.family == name
        if of.any():
            rows = answers.some(of)
            # off by the step's rule and by rounding: what no model of the law is right within
            off = rows.stepping + rows.rounding / rows.size / world.dt**2
            share = answers.share(of)
            readable = float(np.mean(off <= RIGHT))
            found[name] = Shell(*ends[name], share, readable, *_exponents(rows))
    return found


def of_shells(answers: Answers, names: Iterable[str] = WORDS) -> Bool[np.ndarray, " row"]:
    """Rows of the density, and of these shells outside the distances of training."""
    return np.asarray(answers.density | np.isin(answers.family, list(names)))


def _exponents(rows: Answers) -> tuple[Estimate | None, float | None]:
    """Slopes of log |F| by log r, of the answers and of the law.

    By Theil and Sen (Sen, J. Am. Stat. Assoc. 63, 1379, 1968): the median slope of all pairs, which
    a third of wild answers does not move. The answers are taken relative to the law, so that
    differing strengths do not count.
    """
    from scipy.stats import theilslopes

    size = np.linalg.norm(rows.acceleration, axis=1)
    known = np.isfinite(size) & (size > 0)
    if known.sum() < FEWEST:
        return None, None
    rows, size = rows.some(known), size[known]
    some = slice(None, None, -(-len(size) // 500))  # pairs grow with the square
    distance = np.log(rows.r)[some]
    own = theilslopes(np.log(size / rows.size)[some], distance)
    law = float(theilslopes(np.log(rows.size / rows.gm)[some], distance).slope)
    return Estimate(law + own.slope, law + own.low_slope, law + own.high_slope), law
