"""How long a context and how many steps the default model of `symreg run` needs: every pair is
trained with several seeds and read on far states.

    python notebooks/examples/calibration/default_model.py networks default.csv

keeps every network, so that the same command goes on where it was interrupted.
"""

import argparse
import itertools
import time
from pathlib import Path

import pandas as pd
import torch

import orbits
import worldmodel
from orbits.files import read_json, write_json, written_aside
from worldmodel.examiner.states import DENSITY, FAMILIES

PAIRS = (8, 1000), (8, 500), (2, 500), (2, 1000), (16, 500), (32, 500), (16, 1000), (32, 1000)
"""Contexts and steps; with twice the steps each costs more than the default, the first pair."""
NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02}
"""Options of every network."""
SEEDS = range(5)
BOUND = [name for name in FAMILIES if name not in ("unbound", DENSITY)]


def data_of(folder: Path, seed: int, held_out: bool) -> Path:
    """Orbits as those of `symreg run`, made once."""
    path = folder / f"{'held-out' if held_out else 'training'}-{seed}.zarr"
    count, own = (100, seed + 1_000_003) if held_out else (1000, seed)
    orbits.generate(path, orbits=count, seed=own, workers=1)
    return path


def row(folder: Path, steps: int, context: int, seed: int) -> dict[str, float]:
    """What one network cost and how well it does on far states."""
    run = folder / f"{context}-{steps}-{seed}" / "model"
    data, begun = data_of(folder, seed, held_out=False), time.process_time()
    model = worldmodel.train(
        data, out=run, target="residual", context_length=context, steps=steps, seed=seed,
        threads=1, **NETWORK,
    )  # fmt: skip
    seconds = time.process_time() - begun
    held_out = data_of(folder, seed, held_out=True)
    far = worldmodel.probe(model, held_out, readout="far", seed=seed).metrics
    families = far["families"]
    return {
        "context_length": context,
        "steps": steps,
        "seed": seed,
        "seconds": seconds,
        "bound_worst": max(families[name]["error"] for name in BOUND),
        "unbound": families["unbound"]["error"],
        "within_10": far["right"],
        "mean_error": far["mean_error"],
        **{name: each["share"]["error"] for name, each in far["shells"].items()},
    }


def line(rows: pd.DataFrame) -> str:
    """A row of the log's table: the seeds of one pair."""
    worst, least = rows["bound_worst"], rows["within_10"]
    passes = ((worst <= 0.02) & (least >= 0.95)).sum()
    words = [
        f"{rows['context_length'].iloc[0]:.0f}",
        f"{rows['steps'].iloc[0]:.0f}",
        f"{rows['seconds'].median():.0f}",
        f"{100 * worst.min():.2f} to {100 * worst.max():.2f} %",
        f"{100 * rows['unbound'].min():.1f} to {100 * rows['unbound'].max():.1f} %",
        f"{100 * least.min():.1f} to {100 * least.max():.1f} %",
        f"{passes} of {len(rows)}",
    ]
    return "| " + " | ".join(words) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="networks, kept")
    parser.add_argument("table", type=Path, help="CSV of all that are finished")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for (context, steps), seed in itertools.product(PAIRS, SEEDS):
        path = options.folder / f"{context}-{steps}-{seed}" / "row.json"
        if not path.is_file():
            write_json(path, row(options.folder, steps, context, seed))
        rows.append(read_json(path))
        print(rows[-1], flush=True)
        with written_aside(options.table) as aside:
            pd.DataFrame(rows).to_csv(aside, index=False, float_format="%.4g")
    for _, each in pd.read_csv(options.table).groupby(["context_length", "steps"]):
        print(line(each))


if __name__ == "__main__":
    main()
