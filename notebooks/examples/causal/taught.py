"""What a probe decodes against what the prediction follows, in networks of known truth.

    python notebooks/examples/causal/taught.py taught.csv
    python notebooks/examples/causal/taught.py taught.csv --published studies/published

The first are the students of the study `calibration`: taught the law, or another force, by a
teacher, and checked against it. The second are networks trained by the published recipe
(`symreg study published`), asked on their own held-out orbits. A row for each network and site; no
subspace is learned by gradient. Half a minute a student; what was finished before is kept.
"""

import argparse
import runpy
import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

import orbits
import worldmodel
from orbits.files import read_json, written_aside

HERE = Path(__file__).parent
STUDENTS = HERE.parent / "calibration" / "students.py"
LAW = [f"newton_{length}" for length in (2, 3, 8, 32)]
OTHER = ["exponent_2", "exponent_32", "drag_2", "drag_8", "squeezed_3", "squeezed_32"]
SEEDS = (0, 1)
DT = 0.008
"""yr."""
HELD_OUT = 7_000_003
"""Seed of the orbits that students are shown."""


def rows_of(model, shown, **options):
    """A row for each site of a network: decoded, followed, and all of it exchanged."""
    reading = worldmodel.probe(model, shown, readout="causal(steps=0)", **options)
    for site, row in reading.details["trained"].items():
        values = {
            name: row[name] for name in ("decoded", "probe", "probe_slope", "random", "whole")
        }
        yield {"site": site, "own": reading.metrics["own"], **values}


def students():
    """Names of students, with what makes their rows."""
    sys.path.insert(0, str(STUDENTS.parent))
    made = runpy.run_path(str(STUDENTS))
    shown = orbits.generate(orbits=100, dt=DT, engine="kepler", seed=HELD_OUT)

    def read(name, seed):
        student = made[name](DT, seed)
        blank = made["Student"](student.context_length, DT)
        return list(rows_of(student, shown, untrained=lambda seed: blank))

    for name in (*LAW, *OTHER):
        for seed in SEEDS:
            yield f"{name}, seed {seed}", lambda name=name, seed=seed: read(name, seed)


def published(study):
    """Cells of a study with a trained model, with what makes their rows."""
    for folder in sorted(verdict.parent for verdict in Path(study).glob("cells/*/verdict.json")):
        kind = read_json(folder / "verdict.json")["world_model"]["kind"]
        shown = folder / "data" / "held_out.zarr"
        yield f"{folder.name} ({kind})", lambda at=folder, of=shown: list(rows_of(at / "model", of))


def gather(networks, path):
    """The table, a network at a time."""
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["network"])
    for name, rows in tqdm(networks, desc="networks"):
        if name in set(table["network"]):
            continue
        found = pd.DataFrame(rows())
        found.insert(0, "network", name)
        table = pd.concat([table, found], ignore_index=True)
        with written_aside(path) as aside:
            table.to_csv(aside, index=False, float_format="%.4g")
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path, help="the table, a CSV file")
    parser.add_argument("--published", help="folder of a finished study of the published recipe")
    options = parser.parse_args()
    chosen = published(options.published) if options.published else students()
    print(gather(list(chosen), options.out).to_string(index=False))


if __name__ == "__main__":
    main()
