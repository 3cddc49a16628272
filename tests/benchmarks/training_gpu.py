"""Milliseconds of a training step on a GPU: on the clock, and those in which the GPU is busy.

    python tests/benchmarks/training_gpu.py

12.5 million parameters and 16 384 positions a step, 1 024 in view, in mixed precision; the mean of
a hundred steps after compilation. Where the clock says more than the GPU is busy, its host is what
a step waits for. What takes longest goes to `--profile FILE`.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

import orbits
import worldmodel
from worldmodel import training

FIRST, LAST, PROFILED = 40, 140, 6
NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02}


class MeasuredError(Exception):
    """Enough steps were made."""


def measured(data, kind: str) -> tuple[float, float, str]:
    """Milliseconds by the clock and of the busy GPU, and a table."""
    marks, profiler = {}, profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    plain = training.Trainer._step

    def step(self, *crops):
        number = self.state.step
        if number in (FIRST, LAST, LAST + PROFILED):
            torch.cuda.synchronize()
            marks[number] = time.perf_counter()
        if number == LAST:
            profiler.start()
        if number == LAST + PROFILED:
            profiler.stop()
            raise MeasuredError
        return plain(self, *crops)

    training.Trainer._step = step
    try:
        worldmodel.train(
            data, attention=kind, steps=10_000, context_length=1024, d_model=384, n_layers=7,
            n_heads=6, batch_tokens=16_384, precision="bf16-mixed", evaluate_every=10_000,
            progress=False, **NETWORK,
        )  # fmt: skip
    except MeasuredError:
        pass
    finally:
        training.Trainer._step = plain
    events = profiler.key_averages()
    busy = sum(event.self_device_time_total for event in events if event.self_cpu_time_total == 0)
    table = events.table(sort_by="self_cuda_time_total", row_limit=40)
    each = (marks[LAST] - marks[FIRST]) / (LAST - FIRST)
    return 1e3 * each, busy / 1e3 / PROFILED, table


def main() -> None:
    """Print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kinds", nargs="+", default=["softmax", "lssar"])
    parser.add_argument("--profile", type=Path, help="file for what takes longest")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(2, "training_gpu: this benchmark needs a CUDA device.\n")
    data = orbits.generate(orbits=1000, samples=2048, simulator="kepler", seed=0)
    for kind in options.kinds:
        clock, busy, table = measured(data, kind)
        row = {"kind": kind, "milliseconds": clock, "gpu busy": busy}
        row |= {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
        print(json.dumps(row), flush=True)
        if options.profile:
            with options.profile.open("a", encoding="utf-8") as file:
                file.write(f"{kind}\n{table}\n")


if __name__ == "__main__":
    main()
