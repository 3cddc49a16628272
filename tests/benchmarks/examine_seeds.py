"""The default network of several seeds: which are Newtonian and recovered, lookups left out.

    python tests/benchmarks/examine_seeds.py FOLDER 0 1 2 3 4

trains on the orbits of `symreg run` with that seed and keeps the networks; an examination has a
fresh number. Controls and lookups say nothing of a network, and take half of a run's time.
"""

import argparse
from pathlib import Path

import orbits
import symreg
import worldmodel
from orbits.files import of_json
from symreg.experiments.verdict import RunEvidence, far_gates, model_gates, world_model_kind
from symreg.recovery.gates import passed
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.summary import Examination


def line(folder: Path, seed: int) -> str:
    """What is found of one network."""
    paths = {}
    for name, count, own in (("train", 1000, seed), ("held_out", 250, seed + 1_000_003)):
        paths[name] = folder / f"{name}.zarr"
        if not paths[name].exists():
            orbits.generate(paths[name], orbits=count, seed=own, workers=1)
    model = worldmodel.train(paths["train"], out=folder / "model", seed=seed, threads=1)
    far, kicks, orbit = (
        worldmodel.probe(model, paths["held_out"], orbits=250, seed=seed, **asked)
        for asked in ({"readout": "far"}, {"states": "kicked"}, {})
    )
    found = of_json(Examination, far.details["examination"], "far")
    law = symreg.recover(kicks, seeds=2, seed=seed)
    kick_r2, r2 = kicks.metrics["kick_r2"], orbit.metrics["r2"]
    evidence = RunEvidence(r2, kick_r2, orbit.metrics, {"held-out orbits": r2}, found)
    kind = world_model_kind(law, evidence, THRESHOLDS)
    gates = model_gates(law, kick_r2, {}, THRESHOLDS, far_gates(found, None, THRESHOLDS))
    failed = dict.fromkeys(g.name for g in (*kind.newtonian, *gates) if g.passed is False)
    past, family = (
        min(shares, key=lambda name: shares[name].right or 0.0)
        for shares in (found.pasts, found.families)
    )
    most = max(abs(each) for each in found.followed.values())
    return (
        f"seed {seed}, examination {found.seed}: {kind.kind}, "
        f"{'recovered' if passed(gates) else 'not recovered'}; within 10 % {found.all.right:.1%} "
        f"(at least {found.all.bound():.1%}), median {found.all.error:.2%}, {past} "
        f"{found.pasts[past].right:.1%}, {family} {found.families[family].right:.1%}, own "
        f"predictions {found.rolled.right:.1%}, followed {most:.2%}, uneven "
        f"{found.unevenness:.2%}, kick {min(kick_r2.values()):.4f}, {law.expression}; "
        f"{', '.join(failed) or 'passes'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("seeds", type=int, nargs="+")
    options = parser.parse_args()
    for seed in options.seeds:
        print(line(options.folder / str(seed), seed), flush=True)


if __name__ == "__main__":
    main()
