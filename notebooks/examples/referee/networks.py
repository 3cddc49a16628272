"""Networks of known truth: trained, measured on a grid of states that no probe uses, and put to
every probe.

    python notebooks/examples/referee/networks.py networks scores.csv

keeps a folder for each network and writes a row for each. What was finished before is kept, so
that the command goes on where it was stopped; the networks of one seed come before the next.
"""

import argparse
import dataclasses
import re
import time
import zlib
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from base import Network, all_probes
from grid import KICKED, truth
from lessons import LESSONS, Lesson

import orbits
import worldmodel
from orbits.files import read_json, read_yaml, write_json, written_aside
from orbits.options import with_options
from worldmodel.config import TrainConfig
from worldmodel.data import random_crops
from worldmodel.objective import raw_target
from worldmodel.optimizers import descend

ROOT = Path(__file__).parent
OPTIONS = {
    "d_model": 64, "n_layers": 1, "batch_tokens": 512,
    "inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02,
}  # fmt: skip
"""Of every network."""


def settings() -> list[dict]:
    """Lesson and options of each network; ValueError if one cannot be trained, before any is."""
    path = ROOT / "networks.yaml"
    content = read_yaml(path)
    needed = {"lessons", "settings", "attention", "seed", "steps"}
    if not isinstance(content, dict) or (lacking := needed - content.keys()):
        lacking = needed if not isinstance(content, dict) else lacking
        raise ValueError(f"{path}: {', '.join(sorted(lacking))} is missing.")
    for name in needed - {"steps"}:
        if not isinstance(content[name], list):
            raise ValueError(f"{path}: {name} needs a list of values.")
    if unknown := [name for name in content["lessons"] if name not in LESSONS]:
        raise ValueError(f"{path}: lesson {unknown[0]} is unknown; {', '.join(LESSONS)}.")
    cells, kinds = [], content["attention"]
    for seed in content["seed"]:
        for place, lesson in enumerate(content["lessons"]):
            for number, options in enumerate(content["settings"]):
                if not isinstance(options, dict):
                    raise ValueError(f"{path}: settings need targets and contexts by name.")
                if options.get("context_length") in content.get("without", {}).get(lesson, []):
                    continue
                attention = kinds[(place + number + seed) % len(kinds)]
                cells.append({
                    "lesson": lesson, **options, "attention": attention, "seed": seed,
                    "steps": content["steps"],
                })  # fmt: skip
    for cell in cells:
        with_options(TrainConfig(), {name: cell[name] for name in cell if name != "lesson"})
    # seed by seed, and within a seed in a random order: what is finished at any time is balanced
    shuffled = np.random.default_rng(0).permutation(len(cells))
    return [cells[place] for place in sorted(shuffled, key=lambda place: cells[place]["seed"])]


def name_of(*words: object) -> str:
    """Of the folder of a network or a data set."""
    return re.sub(r"[^a-z0-9.]+", "-", " ".join(map(str, words)))


def generated(folder: Path, law: str, seed: int, count: int) -> Path:
    """A data set, made once."""
    path = folder / f"{name_of(law, count, seed)}.zarr"
    orbits.generate(path, law=law, orbits=count, seed=seed, workers=1)
    return path


@lru_cache(maxsize=12)
def lesson_of(name: str, seed: int) -> Lesson:
    return LESSONS[name](seed)


def taught(cell: dict, folder: Path) -> worldmodel.WorldModel:
    """The network of a setting, from its folder if it was finished before.

    It is trained as `worldmodel.train` does, but on the answers of a teacher, where it gives any.
    """
    run = folder / "model"
    if run.is_dir():
        return worldmodel.WorldModel.load(run)
    options = {name: cell[name] for name in cell if name not in ("lesson", "steps")}
    data = generated(folder.parent, "newton", 0, 1000)
    fresh = worldmodel.train(data, steps=0, threads=1, progress=False, **OPTIONS, **options)
    config = dataclasses.replace(fresh.record.train, steps=cell["steps"])
    record = dataclasses.replace(fresh.record, train=config)
    network, length = fresh.network.train(), config.context_length
    (unit,) = record.scales.outputs
    lesson = lesson_of(cell["lesson"], cell["seed"])
    seen, following = (
        torch.from_numpy(x.astype(np.float32)[:, :, None]) for x in (lesson.seen, lesson.following)
    )
    generator = torch.Generator().manual_seed(cell["seed"])

    def loss() -> torch.Tensor:
        crops = random_crops(seen, config.crops_per_step, length, generator)
        x, target = seen[crops], following[crops]
        wanted = raw_target(config.target, x, target)[:, 1:] / unit.size
        known = torch.isfinite(wanted)
        return (network(x)[:, 1:] - wanted)[known].square().mean()

    descend(network, config, loss)
    model = worldmodel.WorldModel(network, record, cell["steps"])
    model.save(run)
    return model


def row(cell: dict, folder: Path, finished: dict) -> dict:
    """Everything on a network: its setting, its truth, its scores and what each cost; what is
    finished stays, so that a new probe costs its own time alone."""
    began = time.process_time()
    model = taught(cell, folder)
    found = {"training_seconds": time.process_time() - began, **finished, **cell, **truth(model)}
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
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no network after")
    options = parser.parse_args()
    torch.set_num_threads(1)
    if not (found := re.fullmatch(r"(\d+)/(\d+)", options.share)):
        parser.error(f"--share is {options.share}; K/N is needed, as in 0/2 and 1/2.")
    part, of = map(int, found.groups())
    if part >= of:
        parser.error(f"--share is {options.share}; K is 0 to N - 1.")
    try:
        work(options.folder, options.table, part, of, options.minutes)
    except ValueError as error:
        parser.error(str(error))


def work(networks: Path, table: Path, part: int, of: int, minutes: float = np.inf) -> None:
    """Train and put to every probe what is not finished; write all rows.

    Raises:
        ValueError: if the settings are none, or a folder holds what is damaged or another's.
    """
    cells, begun = settings()[part::of], time.monotonic()
    for done, cell in enumerate(cells):
        folder = networks / name_of(*cell.values())
        path = folder / "row.json"
        finished = row_in(path) if path.is_file() else {}
        if {KICKED, *all_probes()} - finished.keys():
            if time.monotonic() - begun > 60 * minutes:
                break
            found = row(cell, folder, finished)
            write_json(path, found)
            spent = time.monotonic() - begun
            print(
                f"{done + 1} of {len(cells)}, {spent / 60:.1f} min: {cell['lesson']} "
                f"{cell['target']} {cell['context_length']} {cell['attention']}: "
                f"{found['within_10']:.3f} {found[KICKED]:.3f}", flush=True,
            )  # fmt: skip
    rows = [row_in(path) for path in sorted(networks.glob("*/row.json"))]
    with written_aside(table) as aside:
        pd.DataFrame(rows).to_csv(aside, index=False, float_format="%.4g")


def row_in(path: Path) -> dict:
    """What is finished of a network; ValueError if the file was damaged."""
    found = read_json(path)
    if not isinstance(found, dict) or "lesson" not in found:
        raise ValueError(f"{path} is damaged; remove it, and the network is measured again.")
    return found


if __name__ == "__main__":
    main()
