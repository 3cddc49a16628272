"""Predictors and the sentences printed of them: every number is true of the predictor itself.

The truth is computed from the predictor's force, on states drawn here, without the read-outs.
"""

import ast
import inspect
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import orbits
import worldmodel
from orbits import GM_SUN
from orbits.files import of_json
from orbits.forces import known_law
from symreg.experiments import verdict_words
from symreg.experiments.far_field import FieldLimits, LookupComparison, departures
from symreg.experiments.verdict import (
    INJECTED,
    LAW,
    NEITHER,
    OBEYS,
    RunEvidence,
    WorldModelKind,
    far_gates,
    part_limit,
    world_model_kind,
)
from symreg.experiments.verdict_words import (
    about_limits,
    about_rounding,
    about_the_first,
    about_the_kind,
    part_table,
)
from symreg.recovery.gates import Gate
from symreg.recovery.thresholds import THRESHOLDS
from symreg.recovery.words import NOT_RECOVERED
from worldmodel.controls.copiers import Parrot
from worldmodel.controls.lookups import random_forest
from worldmodel.examiner import answers
from worldmodel.examiner.pasts import FOREIGN, PASTS
from worldmodel.examiner.questions import Counts
from worldmodel.examiner.shells import WORDS
from worldmodel.examiner.states import DENSITY, FAMILIES, World
from worldmodel.examiner.summary import Examination, summary
from worldmodel.own_predictor import CheckedPredictor, OfPositions

DT = 0.008
RANGES = {"semi_major_axis": (0.9, 2.0), "eccentricity": (0.0, 0.3)}
ANY = FAMILIES[DENSITY]
"""The states that every share is of."""


def newton(x, v):
    return -GM_SUN * x / np.linalg.norm(x, axis=-1, keepdims=True) ** 3


def distance(x):
    return np.linalg.norm(x, axis=-1, keepdims=True)


def speed(x, v):
    """In circular ones."""
    return distance(v) * distance(x) ** 0.5 / (2 * np.pi)


def spin(x, v):
    return x[..., :1] * v[..., 1:] - x[..., 1:] * v[..., :1]


@cache
def trees():
    """A random forest of the attraction by distance, where orbits pass."""
    r = np.random.default_rng(0).uniform(0.6, 2.2, (4000, 1))
    return random_forest(r, GM_SUN / r.ravel() ** 2)


PREDICTORS = {
    "the law": newton,
    "a random forest": lambda x, v: (
        -x / distance(x) * trees().predict(distance(x).reshape(-1, 1)).reshape(distance(x).shape)
    ),
    "8 % too strong": lambda x, v: 1.08 * newton(x, v),
    "no force at rest": lambda x, v: newton(x, v) * (speed(x, v) > 0.3),
    "no force beyond 1.5 au": lambda x, v: newton(x, v) * (distance(x) < 1.5),
    "half of it one way round": lambda x, v: newton(x, v) * np.where(spin(x, v) > 0, 1.0, 0.5),
    "silent beyond 1.6 au": lambda x, v: np.where(distance(x) < 1.6, newton(x, v), np.nan),
    "silent below 0.7 and above 2.2 au": lambda x, v: np.where(
        np.abs(distance(x) - 1.45) < 0.75, newton(x, v), np.nan
    ),
    "15 % short above 1.5 circular speeds": lambda x, v: (
        newton(x, v) * np.where(speed(x, v) > 1.5, 0.85, 1.0)
    ),
    "to five au": lambda x, v: newton(x, v) * np.where(distance(x) < 5, 1.0, 0.5),
    # what a table says beyond its last value, and what a straight line does
    "the last value": lambda x, v: newton(x, v) * np.maximum(distance(x) / 2.4, 1) ** 2,
    "as a line": lambda x, v: newton(x, v) * distance(x) ** 0.01,
}


RECALLING = {
    "as strong as it was": lambda x, before, older: (
        unit(x) * np.sum(older * unit(before), axis=-1, keepdims=True)
        * (distance(before) / distance(x)) ** 2
    ),
    "aside behind other arcs": lambda x, before, older: (
        newton(x, None)
        + turned(newton(x, None)) * (distance(older - newton(before, None)) > 0.05 * size(before))
    ),
}  # fmt: skip
"""Forces from the last two places and the acceleration at the earlier one."""
CERTAIN_CELLS = {
    "no force at rest", "no force beyond 1.5 au", "half of it one way round",
    "15 % short above 1.5 circular speeds",
}  # fmt: skip
SILENT_BEYOND = {"silent beyond 1.6 au", "silent below 0.7 and above 2.2 au"}
RIGHT = {
    "the law", "8 % too strong", "to five au", "as a line", "the last value", "a random forest",
    *SILENT_BEYOND,
}  # fmt: skip
SAID_OF = {
    "Certainly fewer than": CERTAIN_CELLS,
    "The force is in its weights": RIGHT,
    "It reads the force from the past": {"as strong as it was"},
    "It is right behind the law's own arcs": {"aside behind other arcs"},
    "Its force by distance": {*PREDICTORS, *RECALLING} - SILENT_BEYOND,
    "Beyond the distances of training it does not answer": SILENT_BEYOND,
    "Its median error is": {"half of it one way round"},
}
"""Sentences by how they begin, and of whom they are true, by the predictors' names."""


class Pushed:
    """Störmer's rule under a force of place and velocity."""

    context_length = 2

    def __init__(self, force):
        self.force = force

    def predict(self, positions):
        said = np.full(positions.shape, np.nan)
        x, step = positions[:, 1:], np.diff(positions, axis=1) / DT
        v = step
        for _ in range(4):
            v = step + self.force(x, v) * DT / 2
        said[:, 1:] = x + step * DT + DT**2 * self.force(x, v)
        return said


class Recalling(Pushed):
    """The same under a force that knows the last bend."""

    context_length = 3

    def predict(self, positions):
        said, before = np.full(positions.shape, np.nan), positions[:, 1:-1]
        push = self.force(positions[:, 2:], before, np.diff(positions, 2, axis=1) / DT**2)
        said[:, 2:] = 2 * positions[:, 2:] - before + DT**2 * push
        return said


@pytest.fixture(scope="module")
def data():
    """Far enough out that a step of Störmer's rule is the force within 1 %."""
    return orbits.generate(orbits=60, dt=DT, simulator="kepler", seed=5, **RANGES)


FEW = Counts(density=1500, family=30, past=60, shell=100, orbits=0, again=20, rolled=12)


def asked(model, data):
    """The table of an examination, its world, and what it finds."""
    position, gm = data["position"].to_numpy(), data["gm"].to_numpy()
    radius = np.linalg.norm(position, axis=-1)
    world = World(known_law("newton"), DT, (radius.min(), radius.max()), gm, None, 2)
    length = max(3, model.context_length)
    table = answers.examined(OfPositions(CheckedPredictor(model)), world, FEW, 3, length)
    return table, world, summary(table, world, 3)


def examined(model, data):
    """What an examination of a model finds."""
    return asked(model, data)[2]


def drawn(nearest, farthest, families, count=4000):
    """Positions and velocities of families of states, in a plane."""
    random = np.random.default_rng(3)
    parts = []
    for motion in families:
        size = count
        r = np.exp(random.uniform(np.log(nearest), np.log(farthest), size))
        at, turn = random.uniform(0, 2 * np.pi, size), random.uniform(*motion.angle, size)
        turn *= random.choice([-1, 1], size)
        fast = random.uniform(*motion.speed, size) * 2 * np.pi * r**-0.5
        x = r[:, None] * np.stack((np.cos(at), np.sin(at)), axis=1)
        v = fast[:, None] * np.stack((np.cos(at + turn), np.sin(at + turn)), axis=1)
        parts.append((x, v))
    return (np.concatenate(each) for each in zip(*parts, strict=True))


def truth(force, nearest, farthest, families):
    """Relative errors of a force; NaN where it says nothing."""
    x, v = drawn(nearest, farthest, list(families))
    return np.linalg.norm(force(x, v) - newton(x, v), axis=1) / np.linalg.norm(newton(x, v), axis=1)


def percent(text):
    return float(text) / 100


def unit(vector):
    return vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-12)


def turned(vector):
    return np.stack((-vector[..., 1], vector[..., 0]), axis=-1)


def size(x):
    return GM_SUN / distance(x) ** 2


SHAPES = {
    "along the velocity": lambda x, v: -v,
    "across the velocity": lambda x, v: turned(v),
    "around the centre": lambda x, v: size(x) * turned(unit(x)),
    "with the direction": lambda x, v: newton(x, v) * (unit(x)[..., :1] ** 2 - 0.5),
    "of a centre elsewhere": lambda x, v: newton(x - [0.01, 0.0], v) - newton(x, v),
    "with the speed": lambda x, v: newton(x, v) * (speed(x, v) ** 2 - 1),
    "with the motion in or out": lambda x, v: (
        newton(x, v) * np.sum(unit(x) * unit(v), axis=-1, keepdims=True)
    ),
    "with the way round": lambda x, v: newton(x, v) * spin(unit(x), unit(v)),
    "with the bearing": lambda x, v: newton(x, v) * unit(x)[..., :1],
}
"""Of every part in the report: a force that is no central one, by the words of its row."""
OTHER_SHAPES = {
    "a drag that does not grow": lambda x, v: -size(x) * unit(v),
    "a swirl in waves": lambda x, v: size(x) * turned(unit(x)) * np.sin(6 * np.log(distance(x))),
    "a swirl with the motion": lambda x, v: size(x) * turned(unit(x)) * np.sign(spin(x, v)),
    "a fivefold force": lambda x, v: newton(x, v) * np.cos(5 * np.arctan2(x[..., 1:], x[..., :1])),
}
"""Forces that are no central ones and in no row of the report."""


def with_part(shape, share, data):
    """What is measured on far states of Newton's law with a part of this typical share besides;
    on which share of the density it is at most 10 % of the attraction."""
    radius = np.linalg.norm(data["position"].to_numpy(), axis=-1)
    ends = radius.min(), radius.max()

    def shares(families):
        x, v = drawn(*ends, families)
        return np.linalg.norm(shape(x, v) / size(x), axis=1)

    factor = share / np.median(shares([ANY]))

    def force(x, v):
        return newton(x, v) + factor * shape(x, v)

    return examined(Pushed(force), data), np.mean(factor * shares([ANY]) <= 0.1)


@pytest.fixture(scope="module")
def injected(data):
    return examined(Pushed(newton), data)


def failed(far):
    return [gate for gate in far_gates(far, THRESHOLDS) if gate.passed is False]


@pytest.mark.few(3)
@pytest.mark.parametrize("words", SHAPES)
def test_a_part_has_the_size_in_its_row_and_fails_above_the_limit_alone(words, data, injected):
    limit = part_limit(injected, THRESHOLDS)
    far, _ = with_part(SHAPES[words], 1.15 * limit, data)
    rows = {
        row[0]: [float(text.strip("%")) / 100 for text in row[1:]] for row in part_table(far)[1:]
    }
    found, most = rows.pop(words)
    assert found == pytest.approx(1.15 * limit, rel=0.1)
    assert most >= found
    assert all(other[0] < 0.003 for other in rows.values()), rows
    assert failed(far)
    smaller, _ = with_part(SHAPES[words], 0.8 * limit, data)
    assert not failed(smaller)


@pytest.mark.few(2)
@pytest.mark.parametrize("words", OTHER_SHAPES)
def test_a_part_of_another_shape_passes_while_it_is_small_on_the_share_that_is_said(words, data):
    said = about_limits(FieldLimits({}, 0.01))
    most, least = map(percent, re.search(r"within ([\d.]+) % on ([\d.]+) %", said).groups())
    assert (most, least) == (0.1, 0.95)
    for share in (0.02, 0.05, 0.2):  # away from 0.1, where rounding decides
        far, small = with_part(OTHER_SHAPES[words], share, data)
        assert far.all.right == pytest.approx(small, abs=0.03)
        if small < 0.93:  # where chance does not decide
            assert failed(far)


def said_of(far, **more):
    return " ".join(about_the_kind(WorldModelKind(NEITHER, (), _GATES, far=far, **more), "newton"))


@pytest.mark.few(4)
@pytest.mark.parametrize("name", [*PREDICTORS, *RECALLING])
def test_every_number_of_a_sentence_is_true_of_its_predictor(name, data):
    """Behind the law's own arcs, those that recall have its force."""
    force, who = PREDICTORS.get(name, newton), name
    model = Recalling(RECALLING[name]) if name in RECALLING else Pushed(force)
    far = examined(model, data)
    said = said_of(far)
    assert {begins for begins in SAID_OF if begins in said} == {
        begins for begins, names in SAID_OF.items() if name in names
    }
    check_the_memory(said)

    states, start, stop = re.search(
        r"Of (\d+) states drawn .*? from ([\d.]+) to ([\d.]+) au, speed", said
    ).groups()
    share, least, median = re.search(
        r"within 10 % on ([\d.]+) % \(at least ([\d.]+) % .*error ([\d.e-]+) %\)", said
    ).groups()
    radius = np.linalg.norm(data["position"].to_numpy(), axis=-1)
    error = truth(force, radius.min(), radius.max(), [ANY])
    answered = np.isfinite(error)
    true = np.mean(error[answered] <= 0.1)
    assert percent(share) == pytest.approx(true, abs=0.04)
    assert percent(least) <= true + 0.005
    if not 0.4 < percent(share) < 0.6:  # else the median may be that of either half
        assert percent(median) == pytest.approx(np.median(error[answered]), rel=0.1, abs=0.01)
    assert (float(start), float(stop)) == pytest.approx((radius.min(), radius.max()), rel=0.01)
    assert int(states) == far.states
    told = re.search(r"it answers ([\d.]+) %, from ([\d.]+) to ([\d.]+) au", said)
    assert (told is None) == answered.all()
    if told is not None:
        assert percent(told[1]) == pytest.approx(answered.mean(), abs=0.04)
        known = distance(next(drawn(radius.min(), radius.max(), [ANY])))[answered]
        assert (float(told[2]), float(told[3])) == pytest.approx(
            (known.min(), known.max()), rel=0.02
        )
    far_away = radius.max()
    for name, ends in {"twice": (1, 2), "fourfold": (2, 4), "tenfold": (4, 10)}.items():
        outside = truth(force, ends[0] * far_away, ends[1] * far_away, [ANY])
        told = re.search(rf"{WORDS[name]}, ([\d.e-]+) % off", said)
        if 0.4 < np.mean(outside <= 0.1) < 0.6 or who in RECALLING:
            # the median may be that of either half; far out the last bend is rounding
            continue
        if np.isfinite(outside).any():
            assert percent(told[1]) == pytest.approx(np.nanmedian(outside), rel=0.15, abs=0.03)
            check_the_exponent(force, name, far, said)
        else:
            assert told is None
    for cell in re.findall(r"([\d.]+) to ([\d.]+) au, ([\d.]+) to ([\d.]+) circular .*?\(", said):
        near, outer, slow, quick = map(float, cell)
        assert not np.nanmean(_of_cell(force, near, outer, slow, quick) <= 0.1) > 0.85
    if (
        ways := re.search(r"is ([\d.e-]+) % for bodies that move (\w+), and ([\d.]+)", said)
    ) is not None:
        assert ways[2] == "anticlockwise"
        assert percent(ways[3]) == pytest.approx(0.5, abs=0.02)
    assert "know" not in said


def check_the_exponent(force, name, far, said):
    """It is the slope between the ends of the shell, of a force that is smooth there."""
    told = re.search(
        rf"{WORDS[name]}, .*? r to the power ([-\d.e]+) \[([-\d.e]+), ([-\d.e]+)\]", said
    )
    shell = far.shells[name]
    ends = np.array([[shell.low * 1.001, 0.0], [shell.high * 0.999, 0.0]])
    sizes = np.linalg.norm(force(ends, np.array([[0.0, 0.5]] * 2)), axis=1)
    middle = np.array([[np.sqrt(shell.low * shell.high), 0.0]])
    between = np.linalg.norm(force(middle, np.array([[0.0, 0.5]])), axis=1)
    if np.isclose(np.sqrt(sizes.prod()), between, rtol=0.01)[0] and sizes.all():
        slope = np.log(sizes[1] / sizes[0]) / np.log(ends[1, 0] / ends[0, 0])
        assert float(told[1]) == pytest.approx(slope, abs=0.02)
        assert float(told[2]) <= float(told[1]) <= float(told[3])


def check_the_memory(said):
    """What is said of the past is true of `RECALLING`, whatever its numbers of states."""
    if told := re.search(r"under (\d+) other forces .* least ([\d.]+) % .* by ([\d.]+) %", said):
        assert int(told[1]) == len(FOREIGN)
        assert (percent(told[2]), percent(told[3])) == pytest.approx((1, 0), abs=0.08)
    if told := re.search(r"behind one (.*) it obeys that force", said):
        assert set(told[1].split(" or ")) == {PASTS[name].words for name in FOREIGN}
    if told := re.search(r"under another force on as few as ([\d.]+) %", said):
        assert percent(told[1]) <= 0.02


def _of_cell(force, near, outer, slow, quick):
    x, v = drawn(near, outer, [ANY])
    fast = speed(x, v)[:, 0]
    inside = (fast >= slow) & (fast <= quick)
    return (
        np.linalg.norm(force(x, v) - newton(x, v), axis=1)[inside]
        / np.linalg.norm(newton(x, v), axis=1)[inside]
    )


class _Passed:
    name, passed, found = "R² on undisturbed orbits", True, "0.99"


_GATES = (_Passed(), _Passed(), _Passed())


def test_a_ratio_is_said_of_the_lookup_that_it_belongs_to():
    beside = LookupComparison("spline", 8.04, 7.1, 9.2, 0.123)
    said = " ".join(about_the_kind(WorldModelKind(NEITHER, (), _GATES, beside=beside), "newton"))
    assert "8.04" not in said  # without far states nothing is said of them


@pytest.mark.parametrize(("law", "name"), [("newton", "Newton's"), ("hooke", "the law hooke")])
@pytest.mark.parametrize("kind", OBEYS)
def test_a_law_is_called_by_its_name(kind, law, name, data):
    far = examined(Pushed(newton), data)
    held = {LAW: far.shells["twice"].high}.get(kind, far.radius[1])
    model = WorldModelKind(kind, (), _GATES, holds_to=held, far=far)
    said = about_the_kind(model, law)[0]
    assert said.startswith(f"World model: {kind}. It h")
    assert name.removeprefix("the law ") in said


def test_a_lookup_that_is_better_makes_the_error_larger(data):
    far = examined(Pushed(newton), data)
    beside = LookupComparison("spline", 0.25, 0.2, 0.5, 0.1)
    kind = WorldModelKind(NEITHER, (), _GATES, far=far, beside=beside)
    assert "4.0 [2.0, 5.0] times that of" in " ".join(about_the_kind(kind, "newton"))
    beside = LookupComparison("spline", 0.0, 0.0, 0.0, 0.0)
    kind = WorldModelKind(NEITHER, (), _GATES, far=far, beside=beside)
    assert "makes no error at all" in " ".join(about_the_kind(kind, "newton"))


def test_of_a_refused_model_the_first_reason_is_said_and_one_thing_to_try():
    kick = Gate("kick R²", False, value=0.5, least=0.97)
    network = {"target": "displacement", "context_length": 32, "steps": 1000}
    said = about_the_first([kick], None, network, 8)
    assert said == (
        "The first that fails is kick R²: found 0.5, required at least 0.97. To try: another "
        "target of the training, --target residual."
    )
    said = about_the_first([kick, kick], None, {**network, "target": "residual"}, 8)
    assert said.endswith(" 1 more in the report. To try: a shorter context, --context-length 8.")
    short = {"target": "residual", "context_length": 8, "steps": 1000}
    assert "--steps 2000" in about_the_first([kick], None, short, 8)
    assert "To try" not in about_the_first([kick], None, None, 8)
    injected = Gate(INJECTED, False, told=NOT_RECOVERED)
    assert "To try" not in about_the_first([kick, injected], None, short, 8)


class Blind(Recalling):
    """The law, but straight on where the last bend is not the law's."""

    def __init__(self):
        super().__init__(
            lambda x, before, older: (
                newton(x, None) * (distance(older - newton(before, None)) < 0.05 * size(before))
            )
        )


class Long(Pushed):
    """The same force, after eight positions."""

    context_length = 8

    def predict(self, positions):
        said = super().predict(positions)
        said[:, :7] = np.nan
        return said


class Rounded(Pushed):
    """The law in answers of whole units."""

    unit = 1e-3  # au; a step bends by 1e-3 au

    def predict(self, positions):
        return np.round(super().predict(positions) / self.unit) * self.unit


KINDS = {
    "the law": (lambda known: Pushed(newton), "It holds Newton's law out to"),
    "the last value": (
        lambda known: Pushed(PREDICTORS["the last value"]),
        "It has Newton's force where it was",
    ),
    "a drag": (
        lambda known: Pushed(lambda x, v: newton(x, v) - 2 * v),
        "Its accelerations form one field, which fails",
    ),
    "an ellipse": (lambda known: Long(newton), "Right on undisturbed orbits, wrong after a kick"),
    "a parrot": (lambda known: Parrot(), "Right and wrong where a naive copier of the context is"),
    "a parrot of training": (
        lambda known: Parrot(memory=known),
        "Right and wrong where a naive copier of its training orbits is",
    ),
    "no order": (
        lambda known: Pushed(lambda x, v: newton(x, v) * 4 * np.sin(1e4 * x[..., :1])),
        "R² on undisturbed orbits is",
    ),
    "blind to kinks": (lambda known: Blind(), "Wrong right after a kick, right again four steps"),
    "no force at rest": (
        lambda known: Pushed(PREDICTORS["no force at rest"]),
        "It fails what a model of Newton's law passes",
    ),
    "rounded": (lambda known: Rounded(newton), "With answers so coarse the law itself would be"),
}
"""Of every reason: a predictor, from training orbits, of which it is true."""


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_reason_is_said_of_the_predictor_of_which_it_is_true_and_of_no_other(name, data):
    known = orbits.generate(orbits=60, dt=DT, simulator="kepler", seed=6, **RANGES)
    model, reason = KINDS[name][0](known["position"].to_numpy()), KINDS[name][1]
    asked = {"control": "keplerian"} if name == "an ellipse" else {}
    orbit, kicked = (
        worldmodel.probe(model, data, states=states, trained_on=known, **asked).attributes[
            "metrics"
        ]
        for states in ("orbit", "kicked")
    )
    reading = worldmodel.probe(model, data, readout="far(count=800)", exam_seed=3, **asked)
    far = of_json(Examination, reading.details["examination"], "far")
    recovered = name in ("the law", "the last value", "no force at rest", "rounded")
    beside = LookupComparison("spline", 8.0, 7.9, 8.1, far.mean_error)
    evidence = RunEvidence(orbit["r2"], kicked["kick_r2"], orbit, {}, far, beside)
    law = SimpleNamespace(recovered=recovered, metrics=kicked)
    injected = SimpleNamespace(recovered=True, metrics={})
    found = world_model_kind(law, evidence, THRESHOLDS, injected)
    said = " ".join(about_the_kind(found, "newton"))
    assert [each for _, each in KINDS.values() if each in said] == [reason], said
    if told := re.search(r"R² on undisturbed orbits is ([-\d.]+[\d])", said):
        assert float(told[1]) == pytest.approx(orbit["r2"], abs=0.01)
    if told := re.search(r"behind (\d+) other pasts?, and .* up to (\d+) in a row", said):
        assert int(told[1]) == len(far.pasts)
        assert int(told[2]) == 2 * model.context_length + 4
    if name == "rounded":
        grain, pull, share = re.search(
            r"rounded to ([\d.e-]+) au, .* by ([\d.e-]+) au in a step.* error of ([\d.]+) %",
            about_rounding(far),
        ).groups()
        x, _ = drawn(*far.radius, [ANY])
        assert float(grain) == pytest.approx(Rounded.unit, rel=0.05)
        assert float(pull) == pytest.approx(np.median(size(x)) * DT**2, rel=0.1)
        of_a_step = Rounded.unit / 6**0.5 / (size(x) * DT**2)  # 1/√12 on each of two axes
        assert percent(share) == pytest.approx(np.median(of_a_step), rel=0.1)


@pytest.mark.slow
def test_a_departure_beyond_the_limits_fails_and_one_within_passes(data):
    def own(x, v):  # with a bias, so that the two ends of a limit differ
        return newton(x, v) * distance(x) ** 0.01

    table, world, far = asked(Pushed(own), data)

    def passes(changed):
        found = summary(changed, world, far.seed, far.parts)
        return not any(gate.passed is False for gate in far_gates(found, THRESHOLDS))

    said = about_limits(FieldLimits(departures(table, passes), 0.01))
    low, high = map(float, re.search(r"([-+.\d]+) or ([-+.\d]+) in the exp", said).groups())
    least, most = map(percent, re.search(r"([-+.\d]+) % or ([-+.\d]+) % of", said).groups())
    length = float(re.search(r"L below ([.\d]+) au", said)[1])
    shapes = {
        low: lambda r, share: r ** (low * share), high: lambda r, share: r ** (high * share),
        least: lambda r, share: 1 + share * least / r**2,
        most: lambda r, share: 1 + share * most / r**2,
        length: lambda r, share: (1 + r * share / length) * np.exp(-r * share / length),
    }  # fmt: skip
    for factor in shapes.values():
        for share, fails in ((1.3, True), (0.7, False)):
            force = Pushed(lambda x, v, f=factor, s=share: own(x, v) * f(distance(x), s))
            assert bool(failed(examined(force, data))) == fails
    assert high < 0.7 * -low


def test_every_sentence_has_a_predictor_of_which_it_is_true():
    """By how it begins; those of gates alone are in `test_verdict`, those of ratios below."""
    begins = [*SAID_OF, *(reason for _, reason in KINDS.values())]
    begins += ["World model: ", "Of ", "With errors capped at ", "The best lookup "]
    begins += ["Farther out, "]
    begins += [
        "Where it was trained its force is right",
        "It cannot be read",
        "Added to the model's own force",
        "What is left when",
    ]
    begins += ["The first that fails is", "To try: ", "The law of ", "It ", "No conclusion"]
    begins += ["Right and wrong where a naive copier of "]
    for each in ast.walk(ast.parse(inspect.getsource(verdict_words))):
        if isinstance(each, ast.FunctionDef):
            texts = [
                node.value.strip()
                for part in each.body[1:]
                for node in ast.walk(part)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            for text in texts:
                if text[:1].isupper() and " " in text:
                    known = [b for b in begins if text.startswith(b) or b.startswith(text)]
                    assert known, f"{each.name} says {text!r}, and of whom is that true?"
