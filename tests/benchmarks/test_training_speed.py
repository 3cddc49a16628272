"""Where the time of a training run goes: into the model, not into reading or writing.

pytest -s -n 0 -m benchmark tests/benchmarks/test_training_speed.py
"""

import json
import os

import pytest
import torch

from orbits.config import GenerateConfig
from orbits.generation.generate import generate
from worldmodel.config import TrainConfig
from worldmodel.training import train

NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02}


def last_speed(run):
    lines = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
    return [line for line in lines if "fraction_in_model" in line][-1]


@pytest.mark.benchmark
@pytest.mark.parametrize("context_length", [2, 64])
def test_training_spends_its_time_in_the_model_streamed_or_not(tmp_path, context_length):
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    data = tmp_path / "orbits.zarr"
    generate(data, GenerateConfig(simulator="kepler", orbits=4000))
    speed = {}
    # Alternated, so that what else the machine does falls on both alike; the best of each counts.
    for turn in range(3):
        for stream in (False, True):
            run = tmp_path / f"{stream}-{turn}"
            config = TrainConfig(steps=200, context_length=context_length, stream=stream, **NETWORK)
            train(data, config, out=run)
            line = last_speed(run)
            speed.setdefault(stream, []).append(line["tokens_per_second"])
            print(f"stream {stream}: {line}")
            assert line["fraction_in_model"] >= 0.9
    ratio = max(speed[True]) / max(speed[False])
    print(f"context {context_length}: streamed / from memory {ratio:.3f}")
    assert ratio >= 0.9
