"""The extrapolation table: every attention kind, several seeds, orbits whose central mass varies.

    python tests/benchmarks/extrapolation_table.py OUT

Trains each kind at context 64 to predict displacements, on orbits of 128 states around 0.5 to 2
solar masses, and measures the loss at 1 to 16 times that context on fresh orbits. What is already
in OUT is kept: the same command goes on where it stopped.
"""

import argparse
from pathlib import Path

import torch

from orbits.config import GenerateConfig
from orbits.generate import generate
from worldmodel.attention import attention_kinds
from worldmodel.config import TrainConfig
from worldmodel.extrapolation import extrapolate
from worldmodel.studies import ExtrapolateConfig
from worldmodel.train import train

CONTEXT = 64
MASSES = (0.5, 2.0)


def main() -> None:
    """Make the data, train, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--kinds", nargs="+", default=[*attention_kinds(), "lssar(p=15)"])
    parser.add_argument("--windows", nargs="+", type=int, default=[3], help="of softmax, besides")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--orbits", type=int, default=100, help="evaluated")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    if options.threads:
        torch.set_num_threads(options.threads)
    short, long = str(options.out / "short.zarr"), str(options.out / "long.zarr")
    generate(short, GenerateConfig(mass=MASSES, engine="kepler"))
    generate(
        long,
        GenerateConfig(
            mass=MASSES,
            engine="kepler",
            orbits=options.orbits,
            samples=16 * CONTEXT + 1,
            seed=1,
        ),
    )
    runs = []
    contestants = [(kind, 0) for kind in options.kinds]
    contestants += [("softmax", window) for window in options.windows]
    for seed in options.seeds:
        for kind, window in contestants:
            runs.append(str(options.out / f"{kind}-window{window}-seed{seed}"))
            config = TrainConfig(
                attention=kind,
                window=window or None,
                context_length=CONTEXT,
                steps=options.steps,
                seed=seed,
                evaluate_every=max(1, options.steps // 5),
                accelerator="cpu",
            )
            train(short, runs[-1], config)
    config = ExtrapolateConfig(out=str(options.out), orbits=options.orbits, threads=options.threads)
    extrapolate(runs, long, config)


if __name__ == "__main__":
    main()
