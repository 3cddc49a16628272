"""Options: what is refused, by its name and with what is allowed."""

import pytest

from worldmodel.config import ModelConfig, TrainConfig
from worldmodel.probes.config import ProbeConfig

IMPOSSIBLE = [
    (ModelConfig, {"attention": "lsar"}, "did you mean 'lssa"),
    (ModelConfig, {"context_length": 0}, "context_length is 0"),
    (ModelConfig, {"d_model": 60, "n_heads": 8}, "give a multiple of 16"),
    (ModelConfig, {"target": "residual", "context_length": 1}, "needs two positions"),
    (ModelConfig, {"head": "tokens", "inputs": "differences"}, "needs --head regression"),
    (TrainConfig, {"held_out": 1.0}, "held_out is 1"),
    (TrainConfig, {"batch_tokens": 4, "accumulate": 3}, "give more batch_tokens"),
    (TrainConfig, {"inputs": "differences", "precision": "bf16-true"}, "8 bits"),
    (ProbeConfig, {"kick_scale": (1.1, 0.85)}, "0 < low <= high"),
    (ProbeConfig, {"readout": "linear", "control": "keplerian"}, "give one of none, injected"),
    (ProbeConfig, {"readout": "lineal"}, "did you mean 'linear'"),
]


@pytest.mark.parametrize(("kind", "options", "words"), IMPOSSIBLE)
def test_what_cannot_be_is_refused(kind, options, words):
    with pytest.raises(ValueError, match=words):
        kind(**options)


def test_options_that_change_no_number_do_not_change_the_identity():
    assert (
        TrainConfig(log_every=1, resume=False, stream=True).identity() == TrainConfig().identity()
    )
    assert TrainConfig(seed=1).identity() != TrainConfig().identity()
    assert TrainConfig(threads=1).identity() != TrainConfig(threads=2).identity()
