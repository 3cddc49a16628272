"""Networks of known truth: trained, measured on a grid of states that no probe uses, and put to
every probe.

    python notebooks/examples/referee/networks.py networks scores.csv

keeps a folder for each network and writes a row for each. What was finished before is kept, so
several of these commands may share the work (`--share 0/2` and `--share 1/2`).
"""

import argparse
import itertools
import re
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from base import Network, all_probes

import orbits
import worldmodel
from orbits.files import read_json, read_yaml, write_json, written_aside
from orbits.forces import ForceLaw
from orbits.options import with_options
from worldmodel.config import TrainConfig
from worldmodel.flow import follow

ROOT = Path(__file__).parent
DT = 0.008
"""yr."""
DISTANCES = np.geomspace(0.4, 2.4, 9)
"""au: the past of most states then lies between the distances of training."""
SPEEDS = np.linspace(0.1, 1.9, 7)
"""Circular speeds."""
ANGLES = np.linspace(0, 2 * np.pi, 12, endpoint=False)
"""From the outward direction to the velocity."""
TURN = 0.5
"""Of a kick, rad: the largest of the probes' kicks."""
KICKED = "kicked_within_10"
"""Share of the grid within 10 % behind kicked arcs: an ellipse through the past has none of it."""


def settings() -> list[dict]:
    """Law and options of each network; ValueError if one cannot be trained, before any is."""
    path, cells = ROOT / "networks.yaml", []
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path} is no mapping of laws to grids of options.")
    for law, grids in content.items():
        orbits.parse_law(law)
        for grid in grids if isinstance(grids, list) else [grids]:
            if not isinstance(grid, dict) or not all(
                isinstance(each, list) and each for each in grid.values()
            ):
                raise ValueError(f"{path}, {law}: lists of values by option are needed.")
            needed = {"target", "context_length", "attention", "seed", "steps"}
            if lacking := needed - grid.keys():
                raise ValueError(f"{path}, {law}: {', '.join(sorted(lacking))} is missing.")
            names, values = zip(*grid.items(), strict=True)
            cells += [
                {"law": law, **dict(zip(names, row, strict=True))}
                for row in itertools.product(*values)
            ]
    for cell in cells:
        with_options(TrainConfig(), {name: cell[name] for name in cell if name != "law"})
    return cells


def name_of(*words: object) -> str:
    """Of the folder of a network or a data set."""
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(map(str, words)))


def followed_back(
    law: ForceLaw, position: np.ndarray, velocity: np.ndarray, gm: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """(state, time, axis) positions and velocities over so many steps that end in the states."""
    states = [(position, velocity)]
    for _ in range(steps):
        states.append(follow(law, *states[-1], gm, -DT))
    x, v = (np.stack(parts[::-1], axis=1) for parts in zip(*states, strict=True))
    return x, v


def kicked_past(
    law: ForceLaw,
    position: np.ndarray,
    velocity: np.ndarray,
    gm: np.ndarray,
    length: int,
    turn: float,
) -> np.ndarray:
    """(state, time, axis) so many positions that end in the given states; half-way through, the
    velocity was turned by so many radians."""
    kick = length // 2
    past, speeds = followed_back(law, position, velocity, gm, kick)
    c, s = np.cos(turn), np.sin(turn)
    turned = speeds[:, 0] @ [[c, s], [-s, c]]
    before, _ = followed_back(law, past[:, 0], turned, gm, length - 1 - kick)
    return np.concatenate((before[:, :-1], past), axis=1)


def arcs(law: ForceLaw, steps: int, turn: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True arcs of so many positions that end in the states of the grid, the position after each,
    and the acceleration there; arcs that leave the distances of training are left out. Half-way
    through each the velocity was turned by so many radians.

    Returns:
        (state, time, axis), (state, axis) au, (state, axis) au/yr².
    """
    r, speed, angle = (each.ravel() for each in np.meshgrid(DISTANCES, SPEEDS, ANGLES))
    bearing = np.random.default_rng(5).uniform(0, 2 * np.pi, len(r))
    gm = np.full(len(r), orbits.GM_SUN)
    outward = np.stack((np.cos(bearing), np.sin(bearing)), axis=1)
    across = np.stack((-np.sin(bearing), np.cos(bearing)), axis=1)
    circular = np.sqrt(-law.radial_acceleration(r, gm) * r)
    velocity = (speed * circular)[:, None] * (
        np.cos(angle)[:, None] * outward + np.sin(angle)[:, None] * across
    )
    position = r[:, None] * outward
    past = kicked_past(law, position, velocity, gm, max(steps, 2), turn)
    ahead, _ = follow(law, position, velocity, gm, DT)
    distance = np.linalg.norm(past, axis=-1)
    inside = ((distance > 0.3) & (distance < 2.8)).all(axis=1)
    return past[inside], ahead[inside], law.acceleration(position, gm)[inside]


def errors(model: worldmodel.WorldModel, law: ForceLaw, turn: float = 0.0) -> np.ndarray:
    """Relative errors of the acceleration that the model implies on the grid: what its next
    position misses, over dt², over the law's acceleration. (state,)"""
    past, ahead, acceleration = arcs(law, model.context_length, turn)
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
    """How much of the grid the network has right, by Newton's law (behind smooth arcs, and behind
    arcs that were kicked: `KICKED`) and by its own."""
    newton, own = orbits.parse_law("newton"), orbits.parse_law(law)
    off = errors(model, newton)
    off_own = off if own == newton else errors(model, own)
    kicked = errors(model, newton, TURN)
    return {
        "within_5": float(np.mean(off <= 0.05)),
        "within_10": float(np.mean(off <= 0.1)),
        KICKED: float(np.mean(kicked <= 0.1)),
        "own_within_10": float(np.mean(off_own <= 0.1)),
        "median_error": float(np.median(off)),
        "states": len(off),
    }


def row(cell: dict, folder: Path, finished: dict) -> dict:
    """Everything on a network: its setting, its truth, its scores and what each cost; what is
    finished stays, so that a new probe costs its own time alone."""
    model = trained(cell, folder)
    found = {**finished, **cell, **truth(model, cell["law"])}
    held_out = generated(folder.parent, "newton", 77, 600)
    number = zlib.crc32(name_of(*cell.values()).encode())
    network = Network(model, str(held_out), min(found["within_10"], found[KICKED]), number)
    for name, probe in all_probes().items():
        if name in finished and name != "truth":
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
    if not (found := re.fullmatch(r"(\d+)/(\d+)", options.share)):
        parser.error(f"--share is {options.share}; K/N is needed, as in 0/2 and 1/2.")
    part, of = map(int, found.groups())
    if part >= of:
        parser.error(f"--share is {options.share}; K is 0 to N - 1.")
    try:
        work(options.folder, options.table, part, of)
    except ValueError as error:
        parser.error(str(error))


def work(networks: Path, table: Path, part: int, of: int) -> None:
    """Train and put to every probe what is not finished; write all rows.

    Raises:
        ValueError: if the settings are none, or a folder holds what is damaged or another's.
    """
    cells = settings()
    # what is finished at any time is a sample of the longest training first
    shuffled = np.random.default_rng(0).permutation(len(cells))
    order = sorted(shuffled, key=lambda place: -cells[place]["steps"])[part::of]
    begun = time.monotonic()
    for done, place in enumerate(order):
        cell = cells[place]
        folder = networks / name_of(*cell.values())
        path = folder / "row.json"
        finished = row_in(path) if path.is_file() else {}
        if {KICKED, *all_probes()} - finished.keys():
            found = row(cell, folder, finished)
            write_json(path, found)
            spent = time.monotonic() - begun
            print(
                f"{done + 1} of {len(order)}, {spent / 60:.1f} min: {cell['target']} "
                f"{cell['context_length']} {cell['attention']} {cell['steps']} {cell['law']}: "
                f"{found['within_10']:.3f}", flush=True,
            )  # fmt: skip
    rows = [row_in(path) for path in sorted(networks.glob("*/row.json"))]
    with written_aside(table) as aside:
        pd.DataFrame(rows).to_csv(aside, index=False, float_format="%.4g")


def row_in(path: Path) -> dict:
    """What is finished of a network; ValueError if the file was damaged."""
    found = read_json(path)
    if not isinstance(found, dict) or "law" not in found:
        raise ValueError(f"{path} is damaged; remove it, and the network is measured again.")
    return found


if __name__ == "__main__":
    main()
