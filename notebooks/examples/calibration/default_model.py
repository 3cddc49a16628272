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
from worldmodel.probes.states import FAR, UNPLANNED

CONTEXTS = 8, 2, 16, 32
STEPS = 1000, 500, 2000
SEEDS = range(5)
BOUND = [name for name in FAR if name not in ("unbound", UNPLANNED)]


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
        data, out=run, target="residual", context_length=context, steps=steps, seed=seed, threads=1
    )
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
        "closer": far["outside"]["closer"]["error"],
        "farther": far["outside"]["farther"]["error"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="networks, kept")
    parser.add_argument("table", type=Path, help="CSV of all that are finished")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for steps, context, seed in itertools.product(STEPS, CONTEXTS, SEEDS):
        path = options.folder / f"{context}-{steps}-{seed}" / "row.json"
        if not path.is_file():
            write_json(path, row(options.folder, steps, context, seed))
        rows.append(read_json(path))
        print(rows[-1], flush=True)
        with written_aside(options.table) as aside:
            pd.DataFrame(rows).to_csv(aside, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
