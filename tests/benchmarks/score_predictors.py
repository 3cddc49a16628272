"""The verdict on many predictors of known truth, at the size of `symreg run`.

    python tests/benchmarks/score_predictors.py OUT.jsonl FILE.py:NAME ... [--seed 0] [--law newton]

Orbits, the injected law and the lookups are shared by all predictors of one law and context. The
law is searched only if every other gate of the field holds: without them it cannot be recovered.
One line for each: kind, recovered, the gates that failed, and the numbers of far states.
"""

import argparse
import json
import sys
import time
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import orbits
import symreg
import worldmodel
from orbits.files import as_json, of_json
from symreg.experiments.far_field import beside_lookups
from symreg.experiments.verdict import (
    OBEYS,
    RunEvidence,
    far_gates,
    model_gates,
    world_model_kind,
)
from symreg.recovery.gates import passed
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.answers import Answers
from worldmodel.examiner.summary import Examination

LOOKUPS = ("nearest", "locally_linear", "spline", "forest")
DT = 0.008


@cache
def data(law: str, seed: int) -> tuple[str, str]:
    """Training and held-out orbits, as `symreg run` makes them."""
    folder = Path("/tmp/orbitlaw-impostors")
    paths = []
    for count, own in ((1000, seed), (250, seed + 1_000_003)):
        path = folder / f"{law}-{count}-{own}.zarr"
        if not path.exists():
            simulator = "kepler" if law == "newton" else "heyoka"
            orbits.generate(path, law=law, orbits=count, seed=own, simulator=simulator)
        paths.append(str(path))
    return paths[0], paths[1]


def examination(reading):
    """The numbers of a reading of far states, and the errors on its density; NaN unanswered."""
    table = Answers.of(reading["answers"])
    errors = np.where(table.answered, table.error, np.nan)[table.density]
    return of_json(Examination, reading["examination"], "far"), errors


def asked(model, law: str, seed: int, readout: str = "far", control: str = "none", **options):
    trained, held_out = data(law, seed)
    return worldmodel.probe(
        model, held_out, readout=readout, control=control, orbits=250, seed=seed,
        trained_on=trained, **options,
    )  # fmt: skip


@cache
def beside(law: str, context: int, seed: int) -> dict:
    """Far states of the injected law and of lookups, for a context."""
    still = worldmodel.load_predictor(lambda x: x, model_context=context)
    readings = {
        name: asked(still, law, seed, control=name, exam_seed=seed).to_dict() for name in LOOKUPS
    }
    kicked = asked(still, law, seed, "implied", "injected", states="kicked")
    return readings | {"kick_r2": kicked.metrics["kick_r2"]}


def verdict(model, law: str, seed: int) -> dict:
    """Kind, recovered, failed gates and numbers."""
    context = int(model.context_length)
    shared = beside(law, context, seed)
    far, own = examination(asked(model, law, seed, exam_seed=seed).to_dict())
    others = {n: examination(shared[n]) for n in LOOKUPS}
    rows = min(len(errors) for _, errors in others.values())
    lookups = {n: errors[:rows] for n, (_, errors) in others.items()}
    comparison = beside_lookups(own[:rows], lookups)
    forces = asked(model, law, seed, "implied", states="kicked")
    orbit = asked(model, law, seed, "implied").metrics
    kick_r2 = forces.metrics["kick_r2"]
    sources = {"held-out orbits": orbit["r2"]}
    evidence = RunEvidence(orbit["r2"], kick_r2, orbit, sources, far, comparison)
    beyond = far_gates(far, THRESHOLDS)
    unsearched = SimpleNamespace(metrics=forces.metrics)
    law_itself = SimpleNamespace(metrics={"kick_r2": shared["kick_r2"]})
    kind = world_model_kind(unsearched, evidence, THRESHOLDS, law_itself)
    recovered, expression, gates = False, "", beyond
    if kind.kind in OBEYS:
        kicked = symreg.recover(forces, seeds=2, seed=seed)
        gates = model_gates(kicked, kick_r2, {}, THRESHOLDS, beyond)
        recovered, expression = passed(gates) and kind.kind in OBEYS, kicked.expression
    failed = [f"{g.name}: {g.found}" for g in (*kind.inside, *gates) if g.passed is False]
    return {
        "kind": kind.kind, "recovered": recovered, "expression": expression,
        "failed": list(dict.fromkeys(failed)), "kick": min(kick_r2.values()),
        "orbit": orbit["r2"], "beside": as_json(comparison),
        "mean": far.mean_error, "right": far.all.right, "least": far.all.bound(),
        "answered": far.answered, "error": far.all.error, "closed_loop": far.rolled.right,
        "families": {name: [each.error, each.right] for name, each in far.families.items()},
        "pasts": {name: [each.error, each.right] for name, each in far.pasts.items()},
        "followed": far.followed,
        "parts": {name: [part.size, part.half_width] for name, part in far.parts.items()},
        "remainder": far.remainder, "unevenness": far.unevenness,
        "holds_to": kind.holds_to,
        "shells": {name: [each.share.error, each.share.right] for name, each in far.shells.items()},
    }  # fmt: skip


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--law", default="newton")
    options = parser.parse_args(arguments)
    trained, _ = data(options.law, options.seed)
    for name in options.models:
        start = time.process_time()
        row = {"model": name, "law": options.law, "seed": options.seed}
        try:
            if Path(name).is_dir():
                model = worldmodel.WorldModel.load(name)
            else:
                model = worldmodel.load_predictor(
                    name, data=trained, seed=options.seed, dt=DT, axes=2, bodies=1
                )
            row |= verdict(model, options.law, options.seed)
        except ValueError as error:
            row |= {"kind": "refused", "recovered": False, "failed": [str(error)]}
        row["seconds"] = round(time.process_time() - start, 1)
        with Path(options.out).open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_json(row)) + "\n")
        print(row["kind"], name, row["failed"][:3], row["seconds"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
