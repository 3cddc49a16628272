"""Measure the score on models of a known kind: law, ellipse, parrot and an untrained network.

    python tests/benchmarks/score_controls.py --contexts 8 32 64 --seeds 5 --out scores.json

Each is put in the place of a transformer and gets the evidence that `symreg run` gives, which knows
the training orbits.
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
from orbits.files import of_json, write_json
from symreg.experiments.verdict import COPIERS, RunEvidence, world_model_kind
from symreg.recovery.config import RecoverConfig
from symreg.recovery.recover import recover
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.controls.copiers import Parrot
from worldmodel.examiner.summary import Examination

MEMORY = "parrot of the training orbits"
EXPECTED = {
    "injected": "law",
    "keplerian": "Keplerian",
    "parrot": "parrot",
    "untrained": "neither",
    MEMORY: "parrot",
}
SEARCH = {"seeds": 1, "null": False, "engine": "rational"}


def score(probe: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The word for what `probe(states=..., readout=...)` reads, and its evidence."""
    found, options = {}, RecoverConfig(**SEARCH, law="newton")
    with tempfile.TemporaryDirectory() as folder:
        for states in ("orbit", "kicked"):
            forces = probe(states=states)
            path = Path(folder) / f"{states}.parquet"
            forces.write(path)
            found[states] = recover(path, options)
    far = probe(readout="far").to_dict()["examination"]
    orbit, kicked = found["orbit"], found["kicked"]
    evidence_of_kind = RunEvidence(
        orbit.metrics["r2"], kicked.metrics["kick_r2"], orbit.metrics,
        far=of_json(Examination, far, "far"),
    )  # fmt: skip
    kind = world_model_kind(kicked, evidence_of_kind, THRESHOLDS)
    evidence = {
        "orbit_r2": orbit.metrics["r2"],
        "kick_r2": kicked.metrics["kick_r2"],
        **{name: orbit.metrics.get(name) for name in COPIERS},
        **{f"{name}_kicked": kicked.metrics.get(name, {}).get("kick_gain") for name in COPIERS},
        "right": far["all"]["right"],
    }
    return kind.kind, evidence


def world(context: int, seed: int, samples: int = 0) -> tuple[Any, Any, Any]:
    """A transformer after one step, its training orbits, and orbits that it has not seen."""
    samples = samples or max(80, 2 * context)
    made = {"samples": samples, "law": "newton", "simulator": "kepler"}
    train = orbits.generate(orbits=400, seed=seed, **made)
    held_out = orbits.generate(orbits=60, seed=seed + 1_000_003, **made)
    small = {"steps": 1, "d_model": 16, "n_heads": 2, "batch_tokens": 256, "muon_lr": 0.02}
    small |= {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer"}
    return worldmodel.train(train, context_length=context, seed=seed, **small), train, held_out


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contexts", type=int, nargs="+", default=[8, 32, 64])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = []
    for context in options.contexts:
        for seed in range(options.first_seed, options.first_seed + options.seeds):
            model, train, data = world(context, seed)
            memory = train.position.values
            subjects = {name: (model, name) for name in EXPECTED if name != MEMORY}
            subjects[MEMORY] = (Parrot(context, memory=memory), "none")
            for name, (subject, control) in subjects.items():
                ask = partial(
                    worldmodel.probe, subject, data, control=control, seed=seed, trained_on=train
                )
                word, evidence = score(ask)
                expected = EXPECTED[name]
                rows.append({"context": context, "seed": seed, "who": name, "word": word}
                            | evidence)  # fmt: skip
                mark = "  as it must" if word == expected else "  WRONG"
                print(f"{context:>3} {seed:>3}  {name:<28}{word}{mark}  {json.dumps(evidence)}",
                      flush=True)  # fmt: skip
    right = sum(row["word"] == EXPECTED[row["who"]] for row in rows)
    print(f"{right} of {len(rows)} as they must be")
    if options.out:
        write_json(options.out, {"rows": rows})


if __name__ == "__main__":
    main()
