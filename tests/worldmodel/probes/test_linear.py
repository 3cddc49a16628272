"""Linear probes find what is there, and say what an untrained network already has."""

import numpy as np
import pytest

from worldmodel.probes.readouts.linear import Linear, in_words
from worldmodel.probes.ridge import cross_validated_r2

FEW = {"states": 300}


def test_a_linear_target_is_found_and_noise_is_not():
    random = np.random.default_rng(0)
    features = random.normal(size=(300, 10)) * np.geomspace(1e-3, 1e3, 10) + 5
    linear = features @ random.normal(size=10)
    targets = np.stack((linear, random.normal(size=300)), axis=1)
    found = cross_validated_r2(features, targets, np.repeat(np.arange(30), 10), 0)
    assert found[0] == pytest.approx(1, abs=1e-6)
    assert found[1] < 0.1


def test_a_group_is_never_predicted_from_itself():
    """Features that name the orbit say nothing of the next orbit's own constant."""
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(20), 10)
    features = np.eye(20)[groups] + 1e-3 * random.normal(size=(200, 20))
    constant = random.normal(size=20)[groups][:, None]
    assert cross_validated_r2(features, constant, groups, 0)[0] < 0.2


def test_the_targets_are_found_where_they_are(trained, newton_orbits, read_json_of):
    found = read_json_of(trained, newton_orbits, Linear(**FEW), control="injected")
    for target in found["targets"]:
        assert found["metrics"][f"trained_{target}"] == pytest.approx(1, abs=1e-3)
    # the untrained network beside it stays a network: it does not hold the shape of the orbit
    for target in ("eccentricity", "lrl_y"):
        assert found["metrics"][f"untrained_{target}"] < 0.9


def test_trained_and_untrained_stand_side_by_side(
    trained_on_coordinates, newton_orbits, read_json_of
):
    found = read_json_of(trained_on_coordinates, newton_orbits, Linear(**FEW))
    assert found["layers"] == ["embed", "blocks.0", "blocks.1", "norm"]
    assert set(found["trained"]) == set(found["untrained"]) == set(found["layers"])
    assert {"force", "force_x", "r", "eccentricity", "lrl_y"} < set(found["targets"])
    metrics = found["metrics"]
    assert metrics["trained_force"] > 0.95
    assert metrics["trained_force"] > metrics["untrained_force"] > metrics["positions_force"]
    assert metrics["positions_force"] < 0.2, "|F| is even in the positions"
    best = max(row["force"] for row in found["trained"].values())
    assert metrics["trained_force"] == best


def test_a_target_far_from_zero_is_no_easier():
    """R² counts from the mean: noise about 100 is still noise."""
    random = np.random.default_rng(2)
    features, noise = random.normal(size=(300, 3)), 100 + random.normal(size=(300, 1))
    assert cross_validated_r2(features, noise, np.repeat(np.arange(30), 10), 0)[0] < 0.1


@pytest.mark.slow
def test_the_result_says_what_features_that_nobody_trained_decode(
    trained, newton_orbits, read_json_of
):
    found = read_json_of(trained, newton_orbits, Linear(**FEW))
    metrics, sentence = found["metrics"], found["sentence"]
    assert metrics["random_force"] > metrics["positions_force"] + 0.2, (
        "|F| is even in the positions"
    )
    for who in ("trained", "untrained", "random"):
        assert f"{metrics[f'{who}_force']:.3f}" in sentence
    injected = read_json_of(trained, newton_orbits, Linear(**FEW), control="injected")
    assert "sentence" not in injected


@pytest.mark.parametrize(
    ("trained_r2", "untrained_r2", "chance", "words"),
    [
        (0.81, 0.75, 0.6, "decode it too, if less well."),
        (0.81, 0.63, 0.24, "decode it too, if less well."),
        (0.75, 0.81, 0.6, "decode it as well, or better."),
        (0.81, 0.2, 0.75, "decode it too, if less well."),
        (0.99, 0.75, 0.6, "training left 25 times less of it unexplained."),
        (1.0, 1.0, 1.0, "decode it as well, or better."),
    ],
)
def test_decoding_is_compared_with_the_better_twin(trained_r2, untrained_r2, chance, words):
    named = {"trained": trained_r2, "untrained": untrained_r2, "random": chance}
    assert in_words({who: {"force": r2} for who, r2 in named.items()}).endswith(words)
