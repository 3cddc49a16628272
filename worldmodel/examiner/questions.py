"""What a predictor is asked: bare contexts of known states, and what the law says of each."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from worldmodel.examiner.pasts import FOREIGN, OWN, PASTS, behind, velocity_through
from worldmodel.examiner.states import DENSITY, FAMILIES, States, World, drawn
from worldmodel.flow import follow
from worldmodel.predictor import ArcPredictor
from worldmodel.probes.states import Arcs
from worldmodel.rows import Rows

BAND, WIDTH = 0.1, 4
"""Share of the questions asked in batches of one size within a factor of four, from one on; the
rest are asked in one large batch. Who fails in one such range fails on more than 5 % of states."""
CLOSER = 0.5
"""The innermost shell begins at so much of the nearest distance of training."""
FARTHER = {"twice": 2.0, "fourfold": 4.0, "tenfold": 10.0}
"""Shells beyond the farthest end at so many times of it, each where the next begins."""
HALF = "half"
ORBITS, AGAIN, ROLLED = "orbits of data", "asked again at the end", "own predictions"


@dataclass(frozen=True)
class Questions(Rows):
    """Bare contexts; rows of every array belong together.

    context: (question, time, axis) relative positions, au, in the numbers of a data file (float32)
        unless they are a model's own predictions.
    velocity: (question, axis) at the last of them, au/yr.
    following: (question, axis) where the law takes it next, au.
    true: (question, axis) the law's acceleration at the last position, au/yr^2.
    family, past: (question,) names: which states, and what lies behind them.
    step: (question,) since the last kick, or of a model's own predictions; 0 otherwise.
    orbit: (question,) questions with the same number are not independent.
    """

    context: Float[np.ndarray, "question time axis"]
    velocity: Float[np.ndarray, "question axis"]
    gm: Float[np.ndarray, " question"]
    mass: Float[np.ndarray, "question body"] | None
    following: Float[np.ndarray, "question axis"]
    true: Float[np.ndarray, "question axis"]
    family: np.ndarray
    past: np.ndarray
    step: np.ndarray
    orbit: np.ndarray

    @classmethod
    def of(
        cls,
        world: World,
        context: np.ndarray,
        gm: np.ndarray,
        mass: np.ndarray | None,
        family: str | np.ndarray,
        past: str = OWN,
        step: np.ndarray | int = 0,
        orbit: np.ndarray | None = None,
    ) -> "Questions":
        """Questions from contexts; those that the law cannot continue are left out."""
        here = context[:, -1]
        with np.errstate(all="ignore"):
            velocity = velocity_through(world, context[:, -2], here, gm)
            following, _ = follow(world.law, here, velocity, gm, world.dt)
        true = world.law.acceleration(here, gm)
        names, pasts, steps = (np.broadcast_to(each, len(gm)) for each in (family, past, step))
        own = np.arange(len(gm)) if orbit is None else orbit
        questions = cls(context, velocity, gm, mass, following, true, names, pasts, steps, own)
        known = np.isfinite(context).all(axis=(1, 2)) & np.isfinite(following).all(axis=1)
        return questions.some(known)

    def __len__(self) -> int:
        return len(self.gm)


def as_in_files(positions: np.ndarray) -> np.ndarray:
    """Rounded as a data file does."""
    return positions.astype(np.float32).astype(np.float64)


def joined(parts: Sequence[Questions]) -> Questions:
    """All of them, with orbits numbered anew."""
    offsets = np.cumsum([0, *(int(part.orbit.max(initial=-1)) + 1 for part in parts)])
    columns: dict[str, Any] = {}
    for each in fields(Questions):
        values = [getattr(part, each.name) for part in parts]
        if each.name == "orbit":
            values = [v + offset for v, offset in zip(values, offsets, strict=False)]
        columns[each.name] = None if values[0] is None else np.concatenate(values)
    return Questions(**columns)


@dataclass(frozen=True)
class Counts:
    """How many questions of each kind."""

    density: int = 2000
    """States of the density, each behind its own arc."""
    family: int = 60
    """Of every other family."""
    past: int = 300
    """Behind every other past."""
    shell: int = 400
    """In every shell closer, and farther, than any training orbit."""
    orbits: int = 200
    """Of orbits as in the data file."""
    again: int = 64
    """Of the density, asked once more at the end."""
    rolled: int = 40
    """Starts of predictions that go on from themselves, from the density and from orbits as in the
    data file each."""

    @classmethod
    def of_states(cls, states: int) -> "Counts":
        """States of the density and of the shells alone."""
        return cls(states, family=0, past=0, orbits=0, again=0, rolled=0)


def ends_of_shells(radius: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """Distances between which the shells outside those of training lie, au."""
    near, far = radius
    outward = itertools.pairwise([far, *(times * far for times in FARTHER.values())])
    return {HALF: (CLOSER * near, near), **dict(zip(FARTHER, outward, strict=True))}


def questions_of(
    world: World,
    length: int,
    counts: Counts,
    seed: int,
    orbits: Mapping[str, np.ndarray] | None = None,
) -> Questions:
    """All contexts of an examination but those of a model's own predictions.

    Args:
        world: what moves the states.
        length: positions of each context.
        counts: how many of each kind.
        seed: the examination's.
        orbits: `position` (orbit, time, axis) and `gm` (orbit,) of data files, if one body is seen.
    """

    def random(part: int) -> np.random.Generator:
        return np.random.default_rng([seed, part])

    def behind_of(states: States, past: str, part: int) -> Questions:
        context, step = behind(world, states, PASTS[past], length, random(part))
        context = as_in_files(context)
        return Questions.of(world, context, states.gm, states.mass, states.family, past, step)

    density = drawn(world, {DENSITY: counts.density}, random(0))
    parts = [behind_of(density, OWN, 1)]
    if counts.family:
        others = drawn(world, {n: counts.family for n in FAMILIES if n != DENSITY}, random(2))
        parts.append(_inside(world, behind_of(others, OWN, 3)))
    if counts.past and length > 2:
        # a strength that differs between orbits is told by the past alone
        pasts = [n for n in PASTS if n != OWN and not (world.gm_varies and n in FOREIGN)]
        for number, past in enumerate(pasts):
            if PASTS[past].kicks <= length - 2:
                states = drawn(world, {DENSITY: counts.past}, random(10 + number))
                parts.append(behind_of(states, past, 30 + number))
    for number, (name, ends) in enumerate(ends_of_shells(world.radius).items()):
        if counts.shell:
            states = drawn(world, {DENSITY: counts.shell}, random(50 + number), ends)
            beyond = behind_of(states.called(name), OWN, 60 + number)
            if name == HALF:  # from farther in it would be yet another question
                r = np.linalg.norm(beyond.context, axis=2)
                beyond = beyond.some((r >= ends[0]).all(axis=1))
            parts.append(beyond)
    if counts.orbits and orbits:
        parts.append(_of_data(world, orbits, length, counts.orbits, random(70)))
    return joined([part for part in parts if len(part)])


def _inside(world: World, questions: Questions) -> Questions:
    """Those whose arcs stay within the distances of training: of radial motion the others come
    through the centre."""
    r = np.linalg.norm(questions.context, axis=2)
    low, high = world.radius
    return questions.some(((low <= r) & (r <= high)).all(axis=1))


def _of_data(
    world: World,
    orbits: Mapping[str, np.ndarray],
    length: int,
    count: int,
    random: np.random.Generator,
) -> Questions:
    """Contexts of orbits as a data file holds them."""
    position, gm = orbits["position"], orbits["gm"]
    row = random.integers(len(gm), size=count)
    time = random.integers(length - 1, position.shape[1], size=count)
    context = position[row[:, None], time[:, None] + np.arange(1 - length, 1)]
    context, own = as_in_files(context), gm[row].astype(np.float64)
    return Questions.of(world, context, own, None, ORBITS, orbit=row)


def answers_to(
    predictor: ArcPredictor, questions: Questions, random: np.random.Generator
) -> Float[np.ndarray, "question axis"]:
    """The next relative position after each context, au; NaN without an answer.

    Contexts are asked in a random order, in batches of all sizes, so that states of all kinds share
    a batch.
    """
    answers = np.full(questions.following.shape, np.nan)
    order = random.permutation(len(questions))
    for rows in np.split(order, np.cumsum(_sizes(len(order), random))[:-1]):
        answers[rows] = _asked(predictor, questions.some(rows))
    return answers


def _sizes(count: int, random: np.random.Generator) -> list[int]:
    """Of batches, in a random order."""
    each, least, sizes = int(BAND * count), 1, [count]
    while least <= each and sizes[0] >= 2 * each:
        left = each
        while left > 0:
            sizes.append(min(left, int(random.integers(least, WIDTH * least))))
            left -= sizes[-1]
            sizes[0] -= sizes[-1]
        least *= WIDTH
    return [int(size) for size in random.permutation([n for n in sizes if n > 0])]


def _asked(predictor: ArcPredictor, questions: Questions) -> np.ndarray:
    length = predictor.context_length
    context = questions.context[:, -length:]
    velocity = np.repeat(questions.velocity[:, None], length, axis=1)
    arcs = Arcs.relative(context, velocity, questions.gm, mass=questions.mass)
    return np.asarray(predictor.bare(arcs)[:, -1, 0] / arcs.shares[:, :1], dtype=np.float64)


def implied(
    world: World, questions: Questions, answers: np.ndarray, as_flow: bool = True
) -> Float[np.ndarray, "question axis"]:
    """Accelerations, au/yr^2.

    A prediction that misses the law's next position by δ implies an acceleration that misses the
    law's by δ/dt², whatever the finite step does to either of the two second differences. A
    predictor may as well take the force at the present position for the second difference itself
    (Störmer's rule): the two differ by (ω dt)²/12 of the force on a circle, and more on the way to
    the centre.
    """
    if as_flow:
        return np.asarray(questions.true + (answers - questions.following) / world.dt**2)
    here, before = questions.context[:, -1], questions.context[:, -2]
    return np.asarray((answers - 2 * here + before) / world.dt**2)


def stepping(world: World, questions: Questions) -> Float[np.ndarray, " question"]:
    """By how much the law's acceleration is off where Störmer's rule stands for its flow, or the
    reverse, as a share of its size."""
    as_rule = implied(world, questions, questions.following, as_flow=False)
    return np.asarray(
        np.linalg.norm(as_rule - questions.true, axis=1) / np.linalg.norm(questions.true, axis=1)
    )


def inside(world: World, questions: Questions) -> Bool[np.ndarray, " question"]:
    """Whether the state lies within the distances of training."""
    r = np.linalg.norm(questions.context[:, -1], axis=1)
    return np.asarray((world.radius[0] <= r) & (r <= world.radius[1]))
