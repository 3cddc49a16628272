"""What running cells side by side costs: wall clock of a study over the sum of its cells' times.

    python tests/benchmarks/study_speed.py OUT [--cells 8] [--workers 2] [--steps 300]

Every cell is first run by itself with `symreg run`, on one thread, one after the other; then the
same cells as a study on two workers, one thread each. The aim is wall <= 1.15 x sum / workers, on
a machine that does nothing else; `inside` takes the cells' times from within the study instead,
which leaves only the study's own overhead and the wait for the last cell.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd

BASE = {
    "simulator": "kepler", "orbits": 100, "samples": 64, "search_seeds": 1,
    "sources": ["orbit", "kicked"], "controls": [], "readouts": [],
}  # fmt: skip


def timed(*arguments: str) -> float:
    """Seconds of one `symreg` process."""
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "symreg", *arguments], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--no-alone", action="store_true", help="only `inside`")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True)
    base = BASE | {"steps": options.steps}
    grid = {"seed": list(range(100, 100 + options.cells))}
    study = {"name": "speed", "question": "How fast?", "base": base, "grid": grid}
    (out / "speed.yaml").write_text(json.dumps(study))
    alone = []
    for seed in () if options.no_alone else grid["seed"]:
        (out / "cell.json").write_text(json.dumps(base | {"seed": seed}))
        alone.append(timed("run", "--config", f"{out}/cell.json", "--out", f"{out}/alone/{seed}"))
        print(f"alone, seed {seed}: {alone[-1]:.1f} s", flush=True)
    wall = timed(
        "study", f"{out}/speed.yaml", "--out", f"{out}/study", "--workers", str(options.workers)
    )
    inside = pd.read_csv(out / "study" / "results.csv")["seconds"].sum()
    print(f"load {os.getloadavg()}; study of {options.cells} cells: {wall:.1f} s")
    for name, total in (("alone", sum(alone)), ("inside", inside)):
        if total:
            ratio = wall / (total / options.workers)
            print(f"{name:7s} sum {total:7.1f} s   wall / (sum / workers) = {ratio:.3f}")


if __name__ == "__main__":
    main()
