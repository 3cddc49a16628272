"""The bounds on a training step's time, asserted; `attention_speed.py` prints the numbers."""

import runpy
from pathlib import Path

import pytest


@pytest.mark.benchmark
def test_steps_stay_within_their_bounds():
    benchmark = runpy.run_path(str(Path(__file__).parent / "attention_speed.py"))
    medians = benchmark["measure"](["softmax", "lssa", "lssar"], steps=25, threads=2)
    for name, (other, bound) in benchmark["BOUNDS"].items():
        assert medians[name] <= bound * medians[other], f"{name}: {medians}"
