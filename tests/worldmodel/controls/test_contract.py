"""A prediction follows from the last positions of its own orbit, within the model's precision."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import worldmodel
from worldmodel.own_predictor import CheckedPredictor
from worldmodel.predictor import circles

EXAMPLES = Path(__file__).parents[3] / "notebooks" / "examples" / "calibration"
sys.path.append(str(EXAMPLES))
import frozen  # noqa: E402
import impostors  # noqa: E402
import knows_law  # noqa: E402

DT = 0.008
BROKEN = {
    "peek": "what comes after it",
    "looks_ahead": "what comes after it",
    "forgets": "its place in the array",
    "tires": "its place in the array",
    "short_arrays": "its place in the array",
    "company": "the other orbits",
    "first_orbit": "the other orbits",
    "nondeterministic": "two answers to the same positions differ",
    "moody": "two answers to the same positions differ",
}


def loaded(predictor):
    return worldmodel.load_predictor(predictor, dt=DT, axes=2, bodies=1)


@pytest.mark.parametrize("name", BROKEN)
def test_what_breaks_the_contract_is_refused_in_one_line(name):
    with pytest.raises(ValueError, match=BROKEN[name]) as refused:
        loaded(getattr(impostors, name)(DT))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["stoermer", "exact", "small", "half", "elsewhere", "long", "table", "bounded", "frozen_noise"],
)
def test_what_keeps_it_is_accepted(name):
    assert loaded(getattr(knows_law, name)(DT)).noise == 0


@pytest.mark.parametrize("size", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize(
    "mix", [lambda x: x.mean(axis=(0, 1)), lambda x: x[:1, -1:], lambda x: x[::-1]]
)
def test_other_orbits_that_change_an_answer_by_more_than_rounding_break_the_contract(mix, size):
    law = knows_law.stoermer(DT)
    with pytest.raises(ValueError, match="the other orbits"):
        worldmodel.load_predictor(
            lambda x: law.predict(x) + size * mix(x), model_context=2, dt=DT, axes=2, bodies=1
        )


def test_single_precision_within_that_says_double_is_accepted():
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Linear(4, 256), torch.nn.GELU(), torch.nn.Linear(256, 256), torch.nn.GELU(),
        torch.nn.Linear(256, 2),
    )  # fmt: skip

    def following(x):
        pairs = np.concatenate((x[:, :-1], x[:, 1:]), axis=-1)
        with torch.no_grad():
            step = layers(torch.from_numpy(pairs).float()).double().numpy()
        return np.concatenate((x[:, :1] * np.nan, x[:, 1:] + 0.01 * step), axis=1)

    model = worldmodel.load_predictor(following, model_context=2, dt=DT, axes=2, bodies=1)
    random = np.random.default_rng(0).normal(size=(300, 9, 2))
    assert np.isfinite(model.predict(random)[:, 1:]).all()
    assert model.noise == 0


def test_small_noise_is_accepted_and_said():
    model = loaded(knows_law.noisy(DT))
    assert 3e-6 < model.noise < 3e-5
    assert "answers differently each time" in model.about()["remark"]
    assert model.fingerprint == model.fingerprint  # it is no part of what the model is


def test_a_model_is_tested_on_what_it_is_shown_and_not_only_on_circles():
    """One that is honest on circles, as a test shows them, and peeks elsewhere."""

    class Actor:
        context_length = 2

        def predict(self, positions):
            said = knows_law.stoermer(DT).predict(positions)
            r = np.linalg.norm(positions, axis=-1)
            if np.ptp(r, axis=1).max() > 1e-6:
                said[:, 1:-1] = positions[:, 2:] + 1e-4
            return said

    model = loaded(Actor())
    data = circles(40)
    data = data * np.linspace(1, 1.5, 40)[:, None, None]
    with pytest.raises(ValueError, match="what comes after it"):
        model.predict(data)


def test_a_mean_over_all_orbits_is_seen_although_any_draw_of_them_has_it():
    circle = circles(40)[:1]
    several = np.concatenate([size * circle for size in np.geomspace(0.3, 3, 200)])
    with pytest.raises(ValueError, match="the other orbits"):
        loaded(frozen.crowd(DT)).predict(several)


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float64])
def test_a_module_is_judged_by_the_precision_of_its_weights(kind):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 2)
    )
    module = worldmodel.TorchModule(layers.to(kind), 8, target="residual")
    model = CheckedPredictor(module)
    assert np.isfinite(
        model.predict(np.random.default_rng(0).normal(size=(300, 9, 2)))[:, 7:]
    ).all()
    assert model.precision == torch.finfo(kind).eps


def test_no_answer_in_some_places_is_an_answer_and_none_at_all_is_refused():
    bounded = loaded(knows_law.bounded(DT))
    far_out = 3 * circles(12)
    assert np.isnan(bounded.predict(far_out)).all()
    with pytest.raises(ValueError, match="gives no number on circles"):
        worldmodel.load_predictor(lambda x: x * np.nan, model_context=2, dt=DT)
