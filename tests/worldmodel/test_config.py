"""Options: what is refused, and in which words."""

import pytest

from worldmodel.config import ModelConfig, TrainConfig
from worldmodel.probes.config import ProbeConfig


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attention": "lsar"}, "did you mean 'lssa"),
        ({"target": "displacment"}, "one of displacement, residual, position is needed"),
        ({"context_length": 0}, "context_length is 0; a whole number of at least 1"),
        ({"window": 0}, "window is 0; a whole number of at least 1"),
        ({"d_model": 60, "n_heads": 8}, "give a multiple of 16"),
        ({"target": "residual", "context_length": 1}, "needs two positions"),
        ({"head": "tokens", "bins": 1}, "of at least 2"),
        ({"inputs": "diferences"}, "one of positions, differences is needed"),
        ({"head": "tokens", "inputs": "differences"}, "needs --head regression"),
        ({"bin_range": float("nan")}, "a number above 0 is needed"),
    ],
)
def test_an_impossible_architecture_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ModelConfig(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps": -1}, "steps is -1; a whole number of at least 0"),
        ({"muon_lr": 0.0}, "a number above 0 is needed"),
        ({"held_out": 1.0}, "of at least 0 and below 1 is needed"),
        ({"batch_tokens": 4, "accumulate": 3}, "give more batch_tokens"),
        ({"precision": "bf17"}, "precision is 'bf17'; one of 32-true"),
        ({"inputs": "differences", "precision": "bf16-true"}, "8 bits"),
        ({"context_noise": -1.0}, "of at least 0"),
    ],
)
def test_an_impossible_training_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        TrainConfig(**options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kick_scale": (1.1, 0.85)}, "0 < low <= high"),
        ({"kick_scale": (0.0, 1.0)}, "a list of 2, each item a number above 0"),
        ({"kick_scale": (1.0,)}, "a list of 2"),
        ({"bootstrap": 1}, "of at least 2"),
        ({"readout": "linear", "control": "keplerian"}, "give one of none, injected"),
    ],
)
def test_an_impossible_probe_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        ProbeConfig(**options)


def test_every_step_has_the_same_number_of_contexts_on_every_device_and_pass():
    config = TrainConfig(batch_tokens=2048, context_length=3, devices=2, accumulate=5)
    assert config.crops_per_step % 10 == 0
    assert 2048 - 30 < config.crops_per_step * 3 <= 2048


def test_options_that_change_no_number_do_not_change_the_identity():
    assert TrainConfig(log_every=1, resume=False).identity() == TrainConfig().identity()
    assert TrainConfig(seed=1).identity() != TrainConfig().identity()
    assert TrainConfig(threads=1).identity() != TrainConfig(threads=2).identity()
