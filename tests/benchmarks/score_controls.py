"""Measure the score on models of a known kind: law, ellipse, parrot and an untrained network.

    python tests/benchmarks/score_controls.py --contexts 8 32 64 --seeds 5 --out scores.json

Each is put in the place of a transformer and gets the evidence that `symreg run` gives. Parrots
that copy in another way than the one that is compared with (other stretches, unturned, from
training orbits) stand beside, and count for nothing.
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orbits
import worldmodel
from orbits.records.files import write_json
from symreg.recovery.config import RecoverConfig, Thresholds
from symreg.recovery.judge import world_model_kind
from symreg.recovery.recover import recover
from worldmodel.predictors.autoregression import Autoregression
from worldmodel.predictors.parrot import Parrot
from worldmodel.predictors.straight_line import StraightLine

EXPECTED = {
    "injected": "Newtonian",
    "keplerian": "Keplerian",
    "parrot": "parrot",
    "untrained": "neither",
}
SEARCH = {"seeds": 1, "null": False, "individuals": 100, "generations": 8, "engine": "operon"}


def score(probe: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The word for what `probe(states=..., readout=...)` reads, and its evidence."""
    found, options = {}, RecoverConfig(**SEARCH, law="newton")
    with tempfile.TemporaryDirectory() as folder:
        for states in ("orbit", "kicked"):
            forces = probe(states=states, bootstrap=20)
            path = Path(folder) / f"{states}.parquet"
            forces.write(path)
            found[states] = recover(path, options)
    jacobian = probe(readout="jacobian", jacobian={"states": 50}).metrics
    orbit, kicked = found["orbit"], found["kicked"]
    kind = world_model_kind(
        orbit.metrics["r2"],
        kicked,
        kicked.metrics["kick_r2"],
        Thresholds(),
        jacobian["locality"],
        copier=orbit.metrics.get("copier"),
    )
    evidence = {
        "orbit_r2": orbit.metrics["r2"],
        "kick_r2": kicked.metrics["kick_r2"],
        "copier": orbit.metrics.get("copier"),
        "kick_gain": kicked.metrics.get("copier", {}).get("kick_gain"),
        "locality": jacobian["locality"],
    }
    return kind.kind, evidence


def world(context: int, seed: int, samples: int = 0) -> tuple[Any, Any]:
    """A transformer after one step, and orbits that it has not seen."""
    samples = samples or max(80, 2 * context)
    made = {"samples": samples, "law": "newton", "engine": "kepler"}
    train = orbits.generate(orbits=40, seed=seed, **made)
    held_out = orbits.generate(orbits=60, seed=seed + 1_000_003, **made)
    small = {"steps": 1, "d_model": 16, "n_heads": 2, "batch_tokens": 256}
    return worldmodel.train(train, context_length=context, seed=seed, **small), held_out


def others(context: int, seed: int) -> dict[str, Any]:
    """Other copiers and simple predictors, for which no word is asked."""
    memory = orbits.generate(orbits=400, seed=seed + 77, engine="kepler").position.values
    return {
        "parrot, 4 positions": Parrot(context, stretch=4),
        "parrot, 5 positions": Parrot(context, stretch=5),
        "parrot, 8 positions": Parrot(context, stretch=8),
        "parrot, not fitted": Parrot(context, fitted=False),
        "parrot of training orbits": Parrot(context, memory=memory),
        "straight line": StraightLine(),
        "autoregression": Autoregression(context),
    }


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contexts", type=int, nargs="+", default=[8, 32, 64])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = []
    for context in options.contexts:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            model, data = world(context, seed)
            subjects = {name: (model, name) for name in EXPECTED}
            if options.others:
                subjects |= {name: (p, "none") for name, p in others(context, seed).items()}
            for name, (subject, control) in subjects.items():
                ask = partial(worldmodel.probe, subject, data, control=control, seed=seed)
                word, evidence = score(ask)
                expected = EXPECTED.get(name)
                rows.append({"context": context, "seed": seed, "who": name, "word": word}
                            | evidence)  # fmt: skip
                mark = "" if expected is None else "  as it must" if word == expected else "  WRONG"
                print(f"{context:>3} {seed:>3}  {name:<28}{word}{mark}  {json.dumps(evidence)}",
                      flush=True)  # fmt: skip
    asked = [row for row in rows if row["who"] in EXPECTED]
    right = sum(row["word"] == EXPECTED[row["who"]] for row in asked)
    print(f"{right} of {len(asked)} as they must be")
    if options.out:
        write_json(options.out, {"rows": rows})


if __name__ == "__main__":
    main()
