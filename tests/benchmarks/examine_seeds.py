"""The default network of several seeds: which hold the law, how far, and which are recovered.

    python tests/benchmarks/examine_seeds.py FOLDER 0 1 2 3 4

trains on the orbits of `symreg run` with that seed, keeps the networks and writes
`FOLDER/seeds.csv`; an examination has a fresh number. Controls and lookups say nothing of a
network, and take half of a run's time.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

import orbits
import symreg
import worldmodel
from orbits.files import of_json
from symreg.experiments.verdict import RunEvidence, far_gates, model_gates, world_model_kind
from symreg.recovery.gates import passed
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.shells import OUTWARD
from worldmodel.examiner.summary import Examination


def row(folder: Path, seed: int, law: str = "newton", **options: Any) -> dict[str, Any]:
    """What is found of one network."""
    paths = {}
    for name, count, own in (("train", 1000, seed), ("held_out", 250, seed + 1_000_003)):
        paths[name] = folder / f"{name}.zarr"
        if not paths[name].exists():
            orbits.generate(paths[name], law=law, orbits=count, seed=own, workers=1)
    model = worldmodel.train(paths["train"], out=folder / "model", seed=seed, threads=1, **options)
    far, kicks, orbit = (
        worldmodel.probe(model, paths["held_out"], orbits=250, seed=seed, **asked)
        for asked in ({"readout": "far"}, {"states": "kicked"}, {})
    )
    found = of_json(Examination, far.details["examination"], "far")
    found_law = symreg.recover(kicks, seeds=2, seed=seed)
    kick_r2, r2 = kicks.metrics["kick_r2"], orbit.metrics["r2"]
    evidence = RunEvidence(r2, kick_r2, orbit.metrics, {"held-out orbits": r2}, found)
    kind = world_model_kind(found_law, evidence, THRESHOLDS)
    gates = model_gates(found_law, kick_r2, {}, THRESHOLDS, far_gates(found, THRESHOLDS))
    failed = dict.fromkeys(g.name for g in (*kind.inside, *gates) if g.passed is False)
    past, family = (
        min(shares, key=lambda name: shares[name].right or 0.0)
        for shares in (found.pasts, found.families)
    )
    shells = {
        f"{name}_{what}": value
        for name, shell in found.shells.items()
        for what, value in {
            "right": shell.share.right, "error": shell.share.error,
            "exponent": shell.exponent and shell.exponent.value,
        }.items()
    }  # fmt: skip
    return {
        "seed": seed, "examination": found.seed, "kind": kind.kind, "holds_to": kind.holds_to,
        "recovered": passed(gates), "farthest": found.radius[1], "right": found.all.right,
        "least": found.all.bound(), "error": found.all.error, "past": past,
        "past_right": found.pasts[past].right, "family": family,
        "family_right": found.families[family].right, "rolled_right": found.rolled.right,
        **shells, "followed": max(abs(each) for each in found.followed.values()),
        "unevenness": found.unevenness, "kick_r2": min(kick_r2.values()),
        "formula": found_law.expression, "failed": "; ".join(failed),
    }  # fmt: skip


def line(found: Mapping[str, Any]) -> str:
    """A row in words."""
    shells = ", ".join(f"{name} {found[f'{name}_error'] or 1:.2%}" for name in OUTWARD)
    return (
        f"seed {found['seed']}, examination {found['examination']}: {found['kind']} to "
        f"{found['holds_to'] or 0:.3g} au, {'' if found['recovered'] else 'not '}recovered; within "
        f"10 % {found['right']:.1%} (at least {found['least']:.1%}), median {found['error']:.2%}, "
        f"{found['past']} {found['past_right']:.1%}, {found['family']} "
        f"{found['family_right']:.1%}, own predictions {found['rolled_right']:.1%}, beyond "
        f"{shells}, {found['formula']}; {found['failed'] or 'passes'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("seeds", type=int, nargs="+")
    parser.add_argument("--law", default="newton")
    parser.add_argument("--options", nargs="*", default=[], help="of the network: norm=layer ...")
    options = parser.parse_args()
    rows = []
    network = yaml.safe_load("\n".join(each.replace("=", ": ", 1) for each in options.options))
    network = network or {}
    for seed in options.seeds:
        rows.append(row(options.folder / str(seed), seed, options.law, **network))
        print(line(rows[-1]), flush=True)
        pd.DataFrame(rows).to_csv(options.folder / "seeds.csv", index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
