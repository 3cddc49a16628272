"""An examination: what it asks, and that each impostor fails where it is wrong."""

import knows_law
import numpy as np
import pytest
import readers

import orbits
import worldmodel
from orbits.forces import known_law
from symreg.experiments.verdict import CLOSED_LOOP, FAR, PAST, far_gates
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.answers import Share, examined, independent
from worldmodel.examiner.pasts import FOREIGN, OWN, PASTS, behind, velocity_through
from worldmodel.examiner.questions import Counts, Questions, answers_to, questions_of
from worldmodel.examiner.states import DENSITY, World, drawn
from worldmodel.examiner.summary import summary
from worldmodel.flow import follow
from worldmodel.own_predictor import CheckedPredictor, OfPositions

DT = 0.008
RADIUS = (0.3, 2.9)
FEW = Counts(density=800, family=30, past=60, shell=20, orbits=0, again=20, rolled=12)


def world(law="newton", axes=2):
    return World(known_law(law), DT, RADIUS, np.array([orbits.GM_SUN]), None, axes)


def found(predictor, counts=FEW, seed=1):
    model = OfPositions(CheckedPredictor(predictor))
    length = max(3, predictor.context_length)
    return summary(examined(model, world(), counts, seed, length), world(), seed)


def failed(predictor):
    return [g.name for g in far_gates(found(predictor), THRESHOLDS) if not g.passed]


@pytest.mark.parametrize("axes", [2, 3])
def test_the_density_is_the_one_that_is_stated(axes):
    states = drawn(world(axes=axes), {DENSITY: 20_000}, np.random.default_rng(0))
    r = np.linalg.norm(states.position, axis=1)
    place = np.log(r / RADIUS[0]) / np.log(RADIUS[1] / RADIUS[0])
    speed = np.linalg.norm(states.velocity, axis=1) / np.sqrt(orbits.GM_SUN / r)
    cosine = np.sum(states.position * states.velocity, axis=1) / (
        r * np.linalg.norm(states.velocity, axis=1)
    )
    # in a plane the angle is uniform, in space its cosine
    turn = np.arccos(cosine) / np.pi if axes == 2 else (1 - cosine) / 2
    for uniform in (place, speed / 2, turn):
        parts = np.histogram(uniform, bins=10, range=(0, 1))[0] / len(r)
        assert parts.sum() == pytest.approx(1)
        assert np.abs(parts - 0.1).max() < 0.01  # five standard errors: sqrt(0.09/20000) = 0.002


@pytest.mark.parametrize("law", ["newton", "hooke", "yukawa(length=1)"])
@pytest.mark.parametrize("past", PASTS)
def test_the_last_two_positions_fix_the_state_whatever_lies_behind(law, past):
    moved, random = world(law), np.random.default_rng(2)
    states = drawn(moved, {DENSITY: 300}, random)
    context, step = behind(moved, states, PASTS[past], 8, random)
    velocity = velocity_through(moved, context[:, -2], context[:, -1], states.gm)
    off = np.linalg.norm(velocity - states.velocity, axis=1)
    off /= np.linalg.norm(states.velocity, axis=1)
    assert np.isfinite(off).mean() > 0.97  # others passed the centre within the last step
    assert np.nanquantile(off, 0.99) < 1e-4
    kicks = PASTS[past].kicks
    assert np.all((step >= 1) & (step <= 6)) if kicks else np.all(step == 0)
    # the oldest positions: on the law's own arc, and only there, they lead to the newest
    older = velocity_through(moved, context[:, 0], context[:, 1], states.gm)
    with np.errstate(all="ignore"):
        there, _ = follow(moved.law, context[:, 1], older, states.gm, 6 * DT)
    off = np.linalg.norm(there - context[:, -1], axis=1) / np.linalg.norm(context[:, -1], axis=1)
    own = PASTS[past].pull is None and not kicks
    assert (np.nanmedian(off) < 1e-4) == (own or (law, past) == ("hooke", "linear"))


def test_an_arc_through_the_neighbourhood_of_the_centre_is_exact():
    """Of Newton's law energy and angular momentum are known everywhere on it."""
    moved, random = world(), np.random.default_rng(3)
    states = drawn(moved, {DENSITY: 3000}, random)
    context, _ = behind(moved, states, PASTS[OWN], 8, random)
    r = np.linalg.norm(context, axis=2)
    speed = np.linalg.norm(states.velocity, axis=1)
    energy = speed**2 / 2 - orbits.GM_SUN / r[:, -1]
    velocity = velocity_through(moved, context[:, 0], context[:, 1], states.gm)
    again = np.linalg.norm(velocity, axis=1) ** 2 / 2 - orbits.GM_SUN / r[:, 1]
    fixed = np.isfinite(again) & (r[:, :2].min(axis=1) > 0.3)  # two positions fix a velocity
    off = np.abs(again - energy) / (orbits.GM_SUN / r[:, -1])
    assert fixed.sum() > 2000
    assert np.quantile(off[fixed], 0.99) < 1e-3  # PART⁵/120 in each of some hundred parts
    assert np.isfinite(context).all()


def test_questions_are_fresh_and_repeatable_and_written_as_in_files():
    one, same, other = (questions_of(world(), 8, FEW, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.context, same.context)
    assert not np.isin(one.context[:, -1], other.context[:, -1]).any()
    assert np.array_equal(one.context, one.context.astype(np.float32))


def test_batches_are_of_random_sizes_and_mix_all_kinds_of_states():
    sizes, kinds = [], []
    questions = questions_of(world(), 8, FEW, 1)

    class Noting(OfPositions):
        def bare(self, arcs):
            sizes.append(len(arcs.gm))
            here = {tuple(x) for x in arcs.position[:, -1]}
            kinds.append(len({p for x, p in zip(questions.context[:, -1], questions.past,
                                                strict=True) if tuple(x) in here}))  # fmt: skip
            return super().bare(arcs)

    answers_to(
        Noting(CheckedPredictor(knows_law.stoermer(DT))), questions, np.random.default_rng(0)
    )
    assert sum(sizes) == len(questions)
    shares = np.histogram(sizes, [1, 4, 16, 64, 2000], weights=sizes)[0] / len(questions)
    assert shares == pytest.approx([0.1, 0.1, 0.1, 0.7], abs=0.03)
    assert max(kinds) > 3


READERS = ("power_reader", "strength_reader", "precise", "later", "silent_later")
PASTS_READ = ("two_kinks", "five_kinks", "power_reader", "strength_reader")


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["stoermer", "exact", "bounded", "half", "noisy"])
def test_who_knows_the_law_passes(name):
    assert failed(getattr(knows_law, name)(DT)) == []


@pytest.mark.few(6)
@pytest.mark.parametrize("name", [*readers.FAMILIES, *readers.FAILURES, *READERS])
def test_who_read_the_last_edition_fails(name):
    """By the share of the density, by the pasts, or on its own predictions."""
    predictor = getattr(readers, name)(DT)
    fails = failed(predictor)
    assert set(fails) & {FAR, PAST, CLOSED_LOOP}
    assert FAR in fails or name in (*PASTS_READ, "its_own", "its_own_arc", "later", "silent_later")


def test_a_share_is_that_of_the_density_whatever_else_is_asked():
    exact = found(knows_law.exact(DT))
    ring = found(readers.ring(DT))
    true = 0.18 / np.log(RADIUS[1] / RADIUS[0])
    assert exact.all.right == 1
    assert ring.all.right == pytest.approx(1 - true, abs=0.03)
    assert ring.all.bound() < 1 - true < ring.all.bound(upper=True)


def test_the_force_is_in_the_weights_or_read_from_the_past():
    law, reader = found(knows_law.patient(DT)), found(readers.power_reader(DT))
    for past in FOREIGN:
        assert law.pasts[past].right == 1
        assert abs(law.followed[past]) < 0.05
    assert min(reader.followed[name] for name in ("linear", "none")) > 0.8


def test_bounds_hold_their_chance_and_clusters_widen_them():
    random = np.random.default_rng(0)
    below = 0
    for _ in range(400):
        right = random.random(200) < 0.95
        share = Share(0.0, float(right.mean()), 1.0, 200, independent(right, np.arange(200)))
        below += share.bound() > 0.95
    assert below <= 32  # 5 % of 400, and 2.7 standard errors
    right = np.repeat(random.random(20) < 0.5, 10)
    assert independent(right, np.repeat(np.arange(20), 10)) == pytest.approx(20, abs=1)
    assert independent(right, np.arange(200)) == 200


def test_a_model_that_falls_silent_on_its_own_predictions_is_not_passed():
    class Silent(knows_law.Stepping):
        def __init__(self):
            super().__init__(knows_law.newton, DT)
            self.memory = set()

        def predict(self, positions):
            said = super().predict(positions)
            own = np.array([[x.tobytes() in self.memory for x in orbit] for orbit in positions])
            self.memory |= {x.tobytes() for x in said.reshape(-1, 2)}
            return np.where(own[..., None], np.nan, said)

    assert failed(Silent()) == [CLOSED_LOOP]


def test_questions_of_data_are_contexts_of_its_orbits():
    data = orbits.generate(orbits=12, samples=40, simulator="kepler", seed=3)
    position = data["position"].values
    shown = {"position": position, "gm": data["gm"].values}
    asked = questions_of(world(), 5, Counts(50, 0, 0, 0, 30, 0, 0), 1, shown)
    own = asked.some(asked.family == "orbits of data")
    assert len(own) == 30
    rows = {orbit.tobytes() for orbit in np.lib.stride_tricks.sliding_window_view(
        position, (5, 2), axis=(1, 2))[:, :, 0].reshape(-1, 5, 2).astype(np.float64)}  # fmt: skip
    assert all(np.ascontiguousarray(context).tobytes() in rows for context in own.context)


def test_a_second_examination_with_its_number_is_equal_to_the_digit():
    data = orbits.generate(orbits=20, samples=40, simulator="kepler", seed=3)
    model = knows_law.noisy(DT)
    first, fresh = (worldmodel.probe(knows_law.stoermer(DT), data, readout="far(count=200)")
                    for _ in range(2))  # fmt: skip
    seed = first.metrics["seed"]
    again = worldmodel.probe(knows_law.stoermer(DT), data, readout="far(count=200)", exam_seed=seed)
    assert again.metrics == first.metrics
    assert fresh.metrics["seed"] != seed
    assert model.context_length == 2


def test_a_question_that_the_law_cannot_continue_is_left_out():
    context = np.zeros((2, 3, 2))
    context[1] = [[1.0, 0.0], [1.0, 0.05], [1.0, 0.1]]
    with np.errstate(all="ignore"):
        asked = Questions.of(world(), context, np.full(2, orbits.GM_SUN), None, DENSITY)
    assert len(asked) == 1
