"""What an examination found, as numbers: all of them computed from the table of answers."""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from orbits.estimates import Estimate
from orbits.printing import interval, number, percent
from orbits.whole_field import FieldPart, Terms, WholeField, fitted_field
from worldmodel.examiner.answers import RIGHT, Answers, Share
from worldmodel.examiner.pasts import FOREIGN, OWN, PASTS
from worldmodel.examiner.questions import AGAIN, ORBITS, ROLLED
from worldmodel.examiner.shells import WORDS, Shell, shells_of
from worldmodel.examiner.states import DENSITY, FAMILIES, World

SPEEDS = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Ends of the cells in circular speeds."""
DIRECTIONS = {"inward": (-1.0, -0.5), "across": (-0.5, 0.5), "outward": (0.5, 1.0)}
"""Cells by the cosine of the angle between velocity and the outward direction."""
CELL_PLACES = 3
"""Cells in distance."""
LEAST_STATES = 40
"""Of the density, with an answer: for the parts of a field, of which there are about ten."""
NAMED = {
    ORBITS: "orbits as in the data files", AGAIN: "the first states, asked again at the end",
}  # fmt: skip
"""Kinds of states whose name needs more words in a table."""
VISITORS = "from outside"
"""States of the density whose context begins outside the distances of training."""


@dataclass(frozen=True)
class StateCell:
    """A range of distance (au) and of speed (in circular ones), in one direction."""

    start: float
    stop: float
    slow: float
    fast: float
    direction: str
    share: Share

    def __str__(self) -> str:
        """`1.62 to 2.91 au, 0.5 to 1 circular speeds, outward`."""
        return (
            f"{self.start:.3g} to {self.stop:.3g} au, {self.slow:g} to {self.fast:g} circular "
            f"speeds, {self.direction}"
        )


@dataclass(frozen=True)
class Examination:
    """What was found.

    Attributes:
        seed: that drew the questions; the same gives them again.
        states: of the stated density, each behind its own arc.
        answered: share of these with an answer.
        radius: distances of training, au.
        closest, farthest: distances of the states with an answer, au. All that follows is of states
            between these alone, where no answer is a wrong one.
        all: of the density.
        mean_error: of those with an answer, in which no state counts above 1.
        size: median acceleration, as a fraction of the law's.
        anticlockwise, clockwise: median errors by the sense of rotation.
        families: states of other families, orbits as data files hold them, and the first states
            asked again at the end.
        pasts: the density behind other pasts, and states that came from outside.
        followed: by how much the answers follow the force of each foreign past.
        rolled: on the model's own predictions.
        horizon: the most of these in a row.
        shells: by name (`shells.WORDS`), from half the nearest distance to ten times the farthest.
        cells: the density by place, speed and direction.
        field_error: median error against the field's own fit.
        field_right: share of states within 10 % of it.
        kick_field_error: median error against it after a kick.
        remainder: error against it, at most, on 90 % of the states: what no part explains.
        unevenness: largest difference of the departure from the law between groups of states.
        parts: of the field, by name (`orbits.whole_field`).
        grain: spacing of the numbers that the answers are chosen from, au.
        pull: how far the law moves a body in a step, dt²·a, au.
        rounding: error of that by the spacing alone; all three medians over the density.
    """

    seed: int
    states: int
    answered: float
    radius: tuple[float, float]
    closest: float
    farthest: float
    all: Share
    mean_error: float
    size: float
    anticlockwise: float | None
    clockwise: float | None
    families: dict[str, Share]
    pasts: dict[str, Share]
    followed: dict[str, float | None]
    rolled: Share
    horizon: int
    shells: dict[str, Shell]
    cells: tuple[StateCell, ...]
    field_error: float
    field_right: float
    kick_field_error: float | None
    remainder: float
    unevenness: float
    parts: dict[str, FieldPart]
    grain: float = 0.0
    pull: float = 0.0
    rounding: float = 0.0

    @property
    def behind(self) -> dict[str, Share]:
        """`pasts` in words, as in `behind a past under a force of 1/r³`."""
        words = {name: past.words for name, past in PASTS.items()}
        return {f"behind a past {words.get(name, name)}": each for name, each in self.pasts.items()}

    def table(self) -> list[tuple[str, ...]]:
        """Errors on the density and beside it, and outside the distances of training; header
        first."""
        ends = f"{self.radius[0]:.3g} to {self.radius[1]:.3g} au"
        shares = {
            "all of the density": self.all,
            **{NAMED.get(name, name): each for name, each in self.families.items()},
            **self.behind,
            f"own predictions, {self.horizon} in a row": self.rolled,
        }
        rows = [(name, *_in_words(each)) for name, each in shares.items()]
        head = (f"far states, {ends}", "states", "median error", f"within {RIGHT:.0%}", "at least")
        return [head, *rows]

    def shell_table(self) -> list[tuple[str, ...]]:
        """Errors and exponents by distance, header first."""
        head = ("distances", "au", "states", "median error", f"within {RIGHT:.0%}", "at least",
                "exponent [95 %]", "the law's")  # fmt: skip
        rows = [
            (
                WORDS[name], f"{shell.low:.3g} to {shell.high:.3g}", *_in_words(shell.share),
                interval(shell.exponent or Estimate()), number(shell.true_exponent, 3),
            )
            for name, shell in self.shells.items()
        ]  # fmt: skip
        return [head, *rows]


def _in_words(share: Share) -> tuple[str, ...]:
    """States, median error, share within 10 % and its lower bound."""
    return (
        str(share.states), percent(share.error, 1, ""), percent(share.right, 1, ""),
        percent(share.bound(), 1) if share.known else "no answer",
    )  # fmt: skip


def summary(
    answers: Answers, world: World, seed: int, parts: Mapping[str, FieldPart] | None = None
) -> Examination:
    """The numbers of a table.

    Args:
        answers: the table.
        world: what moved the states.
        seed: of the examination.
        parts: the parts of the model's own field, whose uncertainty is taken in place of drawing
            again, for answers that were changed on purpose.

    Raises:
        ValueError: if too few states of the density have an answer.
    """
    asked = answers.some(answers.density)
    known = asked.some(asked.answered)
    if len(known) < LEAST_STATES:
        raise ValueError(
            f"{len(known)} of {len(asked)} far states can be read; {LEAST_STATES} are needed."
        )
    inside = (known.r.min() <= answers.r) & (answers.r <= known.r.max())
    answers = answers.some(inside | np.isin(answers.family, list(WORDS)))
    density = answers.some(answers.density)
    terms = Terms(known.position, known.velocity, known.gm, world.law)
    if parts is None:
        field = fitted_field(terms, known.acceleration, np.random.default_rng(seed))
    else:
        own = terms.coefficients(known.acceleration)
        found = {n: FieldPart(size, parts[n].half_width) for n, size in terms.sizes(own).items()}
        field = WholeField(found, world.law, own, terms.scale)
    left = _against(known, field)
    spin = known.position[:, 0] * known.velocity[:, 1] - known.position[:, 1] * known.velocity[:, 0]
    named = {name for name in FAMILIES if name != DENSITY} | {ORBITS, AGAIN}
    pasts = {name: answers.share(answers.past == name) for name in PASTS if name != OWN}
    kicked = answers.some((answers.past == "one kick") & answers.answered)
    return Examination(
        seed=seed,
        states=len(asked),
        answered=len(known) / len(asked),
        radius=world.radius,
        closest=float(known.r.min()),
        farthest=float(known.r.max()),
        all=density.share(np.ones(len(density), dtype=bool)),
        mean_error=float(np.mean(np.minimum(known.error, 1))),
        size=float(np.median(np.linalg.norm(known.acceleration, axis=1) / known.size)),
        anticlockwise=_median(known.error[spin > 0]),
        clockwise=_median(known.error[spin < 0]),
        families=_asked({n: answers.share(answers.family == n) for n in sorted(named)}),
        pasts=_asked({**pasts, VISITORS: answers.share(answers.density & answers.visitor)}),
        followed={name: answers.followed(name, world) for name in FOREIGN},
        rolled=answers.share(answers.family == ROLLED),
        horizon=int(answers.step[answers.family == ROLLED].max(initial=0)),
        shells=shells_of(answers, world),
        cells=tuple(cells(density)),
        field_error=float(np.median(left)),
        field_right=float(np.mean(left <= RIGHT)),
        kick_field_error=_median(_against(kicked, field)) if len(kicked) else None,
        remainder=float(np.quantile(left, 0.9)),  # of nine states in ten
        unevenness=terms.unevenness(known.acceleration),
        parts=field.parts,
        grain=float(np.median(known.rounding)) * np.sqrt(12 / world.axes),
        pull=float(np.median(known.size)) * world.dt**2,
        rounding=float(np.median(known.rounding / known.size)) / world.dt**2,
    )


def _against(states: Answers, field: WholeField) -> np.ndarray:
    """(state,) distance of the accelerations from a field, in shares of the law's or of the
    field's, the larger: Hooke's force is many times Newton's far out, and nothing beside it near.
    """
    own = field.at(states.position, states.velocity, states.gm)
    size, apart = (np.linalg.norm(each, axis=1) for each in (own, states.acceleration - own))
    return np.asarray(apart / np.maximum(states.size, size))


def _asked(shares: Mapping[str, Share]) -> dict[str, Share]:
    return {name: share for name, share in shares.items() if share.states}


def cells(states: Answers) -> Iterator[StateCell]:
    """Distance, speed and direction together."""
    ends = np.quantile(states.r, np.linspace(0, 1, CELL_PLACES + 1))
    place = np.searchsorted(ends[1:-1], states.r)
    speed, outward = np.minimum(states.speed, np.nextafter(SPEEDS[-1], 0)), states.outward
    for cell, (slow, fast), name in itertools.product(
        range(CELL_PLACES), itertools.pairwise(SPEEDS), DIRECTIONS
    ):
        inner, outer = DIRECTIONS[name]
        of = (place == cell) & (slow <= speed) & (speed < fast)
        of &= (inner <= outward) & (outward <= outer)
        if of.any():
            ranges = float(ends[cell]), float(ends[cell + 1]), slow, fast, name
            yield StateCell(*ranges, states.share(of))


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None
