"""The default network of several seeds, examined: every gate on far states but the lookups'.

    python tests/benchmarks/examine_seeds.py FOLDER 0 1 2 3 4

trains on the orbits of `symreg run` with that seed, and keeps the networks.
"""

import argparse
from pathlib import Path

import orbits
import worldmodel
from orbits.files import of_json
from symreg.experiments.verdict import far_gates
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.summary import Examination


def examined(folder: Path, seed: int) -> Examination:
    """What an examination with a fresh number finds of one network."""
    paths = {}
    for name, count, own in (("train", 1000, seed), ("held_out", 250, seed + 1_000_003)):
        paths[name] = folder / f"{name}.zarr"
        orbits.generate(paths[name], orbits=count, seed=own, workers=1)
    model = worldmodel.train(paths["train"], out=folder / "model", seed=seed, threads=1)
    reading = worldmodel.probe(model, paths["held_out"], readout="far", orbits=250)
    return of_json(Examination, reading.details["examination"], "far")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("seeds", type=int, nargs="+")
    options = parser.parse_args()
    for seed in options.seeds:
        far = examined(options.folder / str(seed), seed)
        failed = [g.name for g in far_gates(far, None, THRESHOLDS) if g.passed is False]
        print(
            f"seed {seed}, examination {far.seed}: {far.all.right:.1%} (at least "
            f"{far.all.bound():.1%}), median {far.all.error:.2%}, behind the worst past "
            f"{min(each.right or 0.0 for each in far.pasts.values()):.1%}, on own predictions "
            f"{far.rolled.right:.1%}; {', '.join(failed) or 'passes'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
