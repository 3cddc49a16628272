"""Networks of known truth: trained, measured on a grid of states that no probe uses, and put to
every probe.

    python notebooks/examples/referee/networks.py networks scores.csv

keeps a folder for each network and writes a row for each. What was finished before is kept, so
several of these commands may share the work (`--share 0/2` and `--share 1/2`).
"""

import argparse
import itertools
import json
import re
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import yaml
from base import Network, all_probes

import orbits
import worldmodel
from orbits.files import write_json
from orbits.forces import ForceLaw
from worldmodel.flow import follow, followed_back

ROOT = Path(__file__).parent
DT = 0.008
"""yr."""
DISTANCES = np.geomspace(0.4, 2.4, 9)
"""au: the past of most states then lies between the distances of training."""
SPEEDS = np.linspace(0.1, 1.9, 7)
"""Circular speeds."""
ANGLES = np.linspace(0, 2 * np.pi, 12, endpoint=False)
"""From the outward direction to the velocity."""


def settings() -> list[dict]:
    """Law and options of each network."""
    cells = []
    for law, grids in yaml.safe_load((ROOT / "networks.yaml").read_text()).items():
        for grid in grids:
            names, values = zip(*grid.items(), strict=True)
            cells += [
                {"law": law, **dict(zip(names, row, strict=True))}
                for row in itertools.product(*values)
            ]
    return cells


def name_of(*words: object) -> str:
    """Of the folder of a network or a data set."""
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(map(str, words)))


def arcs(law: ForceLaw, steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True arcs of so many positions that end in the states of the grid, the position after each,
    and the acceleration there; arcs that leave the distances of training are left out.

    Returns:
        (state, time, axis), (state, axis) au, (state, axis) au/yr².
    """
    r, speed, angle = (each.ravel() for each in np.meshgrid(DISTANCES, SPEEDS, ANGLES))
    turn = np.random.default_rng(5).uniform(0, 2 * np.pi, len(r))
    gm = np.full(len(r), orbits.GM_SUN)
    outward = np.stack((np.cos(turn), np.sin(turn)), axis=1)
    across = np.stack((-np.sin(turn), np.cos(turn)), axis=1)
    circular = np.sqrt(-law.radial_acceleration(r, gm) * r)
    velocity = (speed * circular)[:, None] * (
        np.cos(angle)[:, None] * outward + np.sin(angle)[:, None] * across
    )
    position = r[:, None] * outward
    past, _ = followed_back(law, position, velocity, gm, DT, max(steps, 2) - 1)
    ahead, _ = follow(law, position, velocity, gm, DT)
    distance = np.linalg.norm(past, axis=-1)
    inside = ((distance > 0.3) & (distance < 2.8)).all(axis=1)
    return past[inside], ahead[inside], law.acceleration(position, gm)[inside]


def errors(model: worldmodel.WorldModel, law: ForceLaw) -> np.ndarray:
    """Relative errors of the acceleration that the model implies on the grid: what its next
    position misses, over dt², over the law's acceleration. (state,)"""
    past, ahead, acceleration = arcs(law, model.context_length)
    predicted = model.predict(past)[:, -1]
    off = np.linalg.norm(predicted - ahead, axis=1) / DT**2
    return off / np.linalg.norm(acceleration, axis=1)


def trained(cell: dict, folder: Path) -> worldmodel.WorldModel:
    """The network of a setting, from its folder if it was finished before."""
    options = {name: value for name, value in cell.items() if name != "law"}
    data = generated(folder.parent, cell["law"], cell["seed"], 1000)
    run = folder / "model"
    return worldmodel.train(
        data, out=run, batch_tokens=512, evaluate_every=10_000, threads=1, **options
    )


def generated(folder: Path, law: str, seed: int, count: int) -> Path:
    """A data set, made once."""
    path = folder / f"{name_of(law, count, seed)}.zarr"
    orbits.generate(path, law=law, orbits=count, seed=seed, workers=1)
    return path


def truth(model: worldmodel.WorldModel, law: str) -> dict[str, float]:
    """How much of the grid the network has right, by Newton's law and by its own."""
    newton, own = orbits.parse_law("newton"), orbits.parse_law(law)
    off = errors(model, newton)
    off_own = off if own == newton else errors(model, own)
    return {
        "within_5": float(np.mean(off <= 0.05)),
        "within_10": float(np.mean(off <= 0.1)),
        "own_within_10": float(np.mean(off_own <= 0.1)),
        "median_error": float(np.median(off)),
        "states": len(off),
    }


def row(cell: dict, folder: Path, finished: dict) -> dict:
    """Everything on a network: its setting, its truth, its scores and what each cost; what is
    finished stays, so that a new probe costs its own time alone."""
    model = trained(cell, folder)
    found = finished or {**cell, **truth(model, cell["law"])}
    held_out = generated(folder.parent, "newton", 77, 600)
    number = zlib.crc32(name_of(*cell.values()).encode())
    network = Network(model, str(held_out), found["within_10"], number)
    for name, probe in all_probes().items():
        if name in finished:
            continue
        network.readings.seconds.clear()
        value = float(probe.score(network))
        found[name] = value if np.isfinite(value) else None
        found[f"{name}_seconds"] = sum(network.readings.seconds)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="networks, kept")
    parser.add_argument("table", type=Path, help="CSV of all networks that are finished")
    parser.add_argument("--share", default="0/1", help="which part of the work: K/N")
    options = parser.parse_args()
    torch.set_num_threads(1)
    part, of = map(int, options.share.split("/"))
    cells = settings()
    # what is finished at any time is a sample of the longest training first
    shuffled = np.random.default_rng(0).permutation(len(cells))
    order = sorted(shuffled, key=lambda place: -(cells[place]["steps"] % 8000))[part::of]
    begun = time.monotonic()
    for done, place in enumerate(order):
        cell = cells[place]
        folder = options.folder / name_of(*cell.values())
        path = folder / "row.json"
        finished = json.loads(path.read_text()) if path.is_file() else {}
        if all_probes().keys() - finished.keys():
            found = row(cell, folder, finished)
            write_json(path, found)
            spent = time.monotonic() - begun
            print(
                f"{done + 1} of {len(order)}, {spent / 60:.1f} min: {cell['target']} "
                f"{cell['context_length']} {cell['attention']} {cell['steps']} {cell['law']}: "
                f"{found['within_10']:.3f}", flush=True,
            )  # fmt: skip
    rows = [json.loads(path.read_text()) for path in sorted(options.folder.glob("*/row.json"))]
    pd.DataFrame(rows).to_csv(options.table, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
