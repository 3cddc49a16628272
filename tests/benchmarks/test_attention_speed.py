"""The bounds on a training step's time, asserted; `attention_speed.py` prints the numbers."""

import attention_speed
import pytest


@pytest.mark.benchmark
def test_steps_stay_within_their_bounds():
    medians = attention_speed.measure(["softmax", "lssa", "lssar"], steps=25, threads=2)
    print(medians)
    for name, (other, bound) in attention_speed.BOUNDS.items():
        assert medians[name] <= bound * medians[other], f"{name}: {medians}"
