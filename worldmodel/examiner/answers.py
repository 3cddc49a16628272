"""The table of an examination: what was asked, what was answered, and what is true.

Everything that a verdict says of a model's force is a number of some of these rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from orbits.estimates import CONFIDENCE
from orbits.statistics import TINY
from worldmodel.examiner.pasts import OWN, PASTS, pull_of
from worldmodel.examiner.questions import (
    AGAIN,
    ORBITS,
    ROLLED,
    Counts,
    Questions,
    answers_to,
    as_in_files,
    implied,
    inside,
    questions_of,
    stepping,
)
from worldmodel.examiner.states import DENSITY, World
from worldmodel.grain import rounding_error
from worldmodel.predictor import ArcPredictor
from worldmodel.rows import Rows

RIGHT = 0.1
"""Relative error up to which an answer counts as right."""
CONTEXTS = 2
"""Own predictions follow for so many contexts, and a few steps more."""


@dataclass(frozen=True)
class Share:
    """How many answers are right; none is wrong.

    Attributes:
        error: median relative error of the acceleration, among those answered.
        right: share of all within 10 %; None if nothing was asked.
        answered: share with an answer.
        states: asked.
        independent: number of independent answers that leave `right` as uncertain.
    """

    error: float | None
    right: float | None
    answered: float | None
    states: int
    independent: float = 0.0

    @property
    def known(self) -> int:
        """States answered."""
        return round(self.states * (self.answered or 0.0))

    def bound(self, upper: bool = False, tests: int = 1) -> float:
        """The lower or upper 95 % bound of the share that is right; of several shares that are
        looked at together, each bound is wider (Bonferroni).

        Clopper & Pearson's (Biometrika 26, 404, 1934).
        """
        from scipy.stats import beta

        if self.right is None:
            return 1.0 if upper else 0.0
        chance, hits = (1 - CONFIDENCE) / tests, self.right * self.independent
        misses = self.independent - hits
        if upper:
            return float(beta.ppf(1 - chance, hits + 1, misses)) if misses > 0 else 1.0
        return float(beta.ppf(chance, hits, misses + 1)) if hits > 0 else 0.0


@dataclass(frozen=True)
class Answers(Rows):
    """Questions and answers, a row each; see `worldmodel.examiner.questions.Questions`.

    acceleration: (row, axis) implied by the answers, au/yr^2; NaN without an answer.
    visitor: (row,) whether the context begins outside the distances of training.
    rounding: (row,) error of the predicted position by the grid that the answers lie on, au; 0 if
        they lie on none.
    stepping: (row,) by how much the law's own acceleration depends on the rule of integration, as a
        share of its size.
    """

    position: Float[np.ndarray, "row axis"]
    velocity: Float[np.ndarray, "row axis"]
    gm: Float[np.ndarray, " row"]
    true: Float[np.ndarray, "row axis"]
    acceleration: Float[np.ndarray, "row axis"]
    family: np.ndarray
    past: np.ndarray
    step: np.ndarray
    orbit: np.ndarray
    visitor: Bool[np.ndarray, " row"]
    rounding: Float[np.ndarray, " row"]
    stepping: Float[np.ndarray, " row"]

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> "Answers":
        """From lists, as `to_lists` makes them."""
        kinds = {"family": str, "past": str, "step": int, "orbit": int, "visitor": bool}
        return cls(**{
            each.name: np.array(columns[each.name], dtype=kinds.get(each.name, float))
            for each in fields(cls)
        })  # fmt: skip

    def to_lists(self) -> dict[str, list[Any]]:
        """For JSON: None where there is no number."""
        columns = {}
        for each in fields(self):
            values = getattr(self, each.name)
            if values.dtype.kind == "f":
                values = np.where(np.isfinite(values), values, None)
            columns[each.name] = values.tolist()
        return columns

    def with_acceleration(self, acceleration: np.ndarray) -> "Answers":
        """The same questions, answered otherwise."""
        return replace(self, acceleration=acceleration)

    def __len__(self) -> int:
        return len(self.gm)

    @cached_property
    def answered(self) -> Bool[np.ndarray, " row"]:
        return np.isfinite(self.acceleration).all(axis=1)

    @cached_property
    def size(self) -> Float[np.ndarray, " row"]:
        """Of the law's acceleration, au/yr^2."""
        return np.asarray(np.linalg.norm(self.true, axis=1))

    @cached_property
    def error(self) -> Float[np.ndarray, " row"]:
        """Relative error of the acceleration vector."""
        return np.asarray(np.linalg.norm(self.acceleration - self.true, axis=1) / self.size)

    @cached_property
    def r(self) -> Float[np.ndarray, " row"]:
        return np.asarray(np.linalg.norm(self.position, axis=1))

    @cached_property
    def speed(self) -> Float[np.ndarray, " row"]:
        """In circular speeds."""
        return np.asarray(np.linalg.norm(self.velocity, axis=1) / np.sqrt(self.size * self.r))

    @cached_property
    def outward(self) -> Float[np.ndarray, " row"]:
        """Cosine of the angle between the velocity and the outward direction."""
        along = np.sum(self.position * self.velocity, axis=1) / self.r
        size = np.linalg.norm(self.velocity, axis=1)
        return np.clip(along / np.maximum(size, TINY), -1, 1)

    @property
    def density(self) -> Bool[np.ndarray, " row"]:
        """Rows of the stated density, each behind its own arc."""
        return np.asarray((self.family == DENSITY) & (self.past == OWN))

    def share(self, of: np.ndarray) -> Share:
        """The share of right answers in some rows."""
        asked, error = int(of.sum()), self.error[of & self.answered]
        if not asked:
            return Share(None, None, None, 0)
        right = self.error[of] <= RIGHT  # which no answer is not
        return Share(
            float(np.median(error)) if len(error) else None, float(right.mean()),
            len(error) / asked, asked, independent(right, self.orbit[of]),
        )  # fmt: skip

    def followed(self, past: str, world: World) -> float | None:
        """By how much the answers follow a past's force: 0 if the past is ignored, 1 if its force
        is obeyed; None without another force."""
        of = (self.past == past) & self.answered
        if PASTS[past].pull is None or not of.any():
            return None
        inward = -self.position[of] / self.r[of, None]
        own = np.sum(self.true[of] * inward, axis=1)
        departs = (pull_of(world, PASTS[past], self.r[of], self.gm[of]) - own) / self.size[of]
        answer = np.sum((self.acceleration - self.true)[of] * inward, axis=1) / self.size[of]
        square = float(departs @ departs)
        return float(departs @ answer / square) if square > 0 else None


def independent(right: Bool[np.ndarray, " row"], orbit: np.ndarray) -> float:
    """How many independent rows would leave a share as uncertain as these, of which those of one
    orbit are not: their number over the design effect (Kish, Survey Sampling, 1965, section 5.4).
    """
    n, share = len(right), float(right.mean())
    _, cluster = np.unique(orbit, return_inverse=True)
    clusters = int(cluster.max()) + 1
    if clusters in (1, n) or share in (0, 1):
        return float(clusters)
    off = np.bincount(cluster, right - share)
    variance = np.sum(off**2) / n**2 * clusters / (clusters - 1)
    return float(np.clip(share * (1 - share) / variance, clusters, n))


def examined(
    predictor: ArcPredictor,
    world: World,
    counts: Counts,
    seed: int,
    length: int,
    orbits: Mapping[str, np.ndarray] | None = None,
) -> Answers:
    """Examine a predictor.

    Args:
        predictor: is shown its last positions of each context.
        world: what moves the states.
        counts: how many questions.
        seed: of the examination: the same gives the same questions, in the same order.
        length: positions of a context, at least the predictor's own and two.
        orbits: positions and GM of data files.
    """
    random = np.random.default_rng([seed, 90])
    questions = questions_of(world, length, counts, seed, orbits)
    answers = answers_to(predictor, questions, random)
    # one reading of the step for all rows: the one by which the density is less wrong
    readings = {way: _rows(world, questions, answers, way) for way in (True, False)}
    wrong = {way: np.minimum(rows.error, 1)[rows.density] for way, rows in readings.items()}
    as_flow = bool(np.nansum(wrong[True]) <= np.nansum(wrong[False]))
    parts = [readings[as_flow]]
    if counts.rolled:
        parts += _rolled(predictor, world, questions, answers, counts.rolled, random, as_flow)
    if counts.again:
        again = questions.some(np.flatnonzero(questions.family == DENSITY)[: counts.again])
        again = replace(again, family=np.full(len(again), AGAIN))
        parts.append(_rows(world, again, answers_to(predictor, again, random), as_flow))
    return Answers(**{
        each.name: np.concatenate([getattr(part, each.name) for part in parts])
        for each in fields(Answers)
    })  # fmt: skip


def _rows(world: World, questions: Questions, answers: np.ndarray, as_flow: bool) -> Answers:
    r = np.linalg.norm(questions.context, axis=2)
    visitor = ((r < world.radius[0]) | (r > world.radius[1])).any(axis=1)
    columns = (questions.gm, questions.true, implied(world, questions, answers, as_flow))
    named = (questions.family, questions.past, questions.step, questions.orbit, visitor)
    coarse = rounding_error(answers, questions.context[:, -1]), stepping(world, questions)
    return Answers(questions.context[:, -1], questions.velocity, *columns, *named, *coarse)


def _rolled(
    predictor: ArcPredictor,
    world: World,
    questions: Questions,
    answers: np.ndarray,
    count: int,
    random: np.random.Generator,
    as_flow: bool,
) -> list[Answers]:
    """Questions whose contexts fill with the model's own predictions, step by step.

    Half of them are its predictions as they are; half are moved by as much as the model errs, and
    rounded as in data files: states of its own still, and no longer numbers that it may have
    remembered. Who falls silent has no answer at all later steps either.
    """
    r = np.linalg.norm(questions.context, axis=2)
    own = np.isin(questions.family, (DENSITY, ORBITS)) & (questions.past == OWN)
    own &= np.isfinite(answers).all(axis=1)
    own &= ((world.radius[0] <= r) & (r <= world.radius[1])).all(axis=1)
    if not own.any():
        return []
    miss = np.linalg.norm(answers[own] - questions.following[own], axis=1)
    typical = float(np.median(miss)) / np.sqrt(world.axes)
    of_each = [np.flatnonzero(own & (questions.family == f)) for f in (ORBITS, DENSITY)]
    chosen = np.concatenate([each[: 2 * count] for each in of_each])
    orbit = chosen + len(questions)
    now, said, parts = replace(questions.some(chosen), orbit=orbit), answers[chosen], []
    for step in range(1, CONTEXTS * predictor.context_length + 5):
        silent, moved = ~np.isfinite(said).all(axis=1), np.isin(now.orbit, orbit[::2])
        finest = np.finfo(np.float32).eps * np.linalg.norm(said, axis=1, keepdims=True)
        noise = np.maximum(typical, finest) * random.standard_normal(said.shape)
        said = np.where(moved[:, None], as_in_files(said + noise), said)
        context = np.concatenate((now.context[:, 1:], said[:, None]), axis=1)
        context[silent], lost = now.context[silent], now.orbit[silent]
        own_states = (now.gm, now.mass, ROLLED, OWN, step, now.orbit)
        now = Questions.of(world, context, *own_states)
        now = now.some(inside(world, now))
        if not len(now):
            break
        said = answers_to(predictor, now, random)
        said[np.isin(now.orbit, lost)] = np.nan
        parts.append(_rows(world, now, said, as_flow))
    return parts
