"""Softmax beside LSSAR at 13 million parameters: both targets, and states unlike training.

    python notebooks/examples/attention/thirteen_million.py results.json --steps 300

Networks of the published size (arXiv:2507.06952, and arXiv:2501.13428, Table of orbits) are trained
on two-body systems of the published distributions, a position a week and a thousand in view, with
the displacement and with the residual as target. Then the accelerations that they imply on
held-out orbits, in the first steps after a kick, and on far states. Needs a GPU to be done soon.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

import orbits
import worldmodel
from orbits.statistics import r_squared
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.readouts.far import RIGHT, families, read_states
from worldmodel.probes.states import undisturbed

WEEK = 0.019165
CELLS = [(target, kind) for target in ("residual", "displacement") for kind in ("softmax", "lssar")]


def errors(experiment: Experiment, arcs) -> dict[str, float]:
    """Relative errors of the implied acceleration at the times read."""
    at = np.array(arcs.read)
    implied = experiment.acceleration(arcs)[:, at, 0]
    position = arcs.position[:, at].astype(np.float64)
    true = np.stack(
        [experiment.law.acceleration(position[:, n], arcs.gm) for n in range(len(at))], axis=1
    )
    implied, true = implied.reshape(-1, 2), true.reshape(-1, 2)
    error = np.linalg.norm(implied - true, axis=1) / np.linalg.norm(true, axis=1)
    return {**summary(error), "r2": float(r_squared(implied, true))}


def summary(error: np.ndarray) -> dict[str, float]:
    """Of relative errors."""
    right = float(np.mean(error <= RIGHT))
    return {"states": len(error), "median_error": float(np.median(error)), "right": right}


def measured(model, data, count: int) -> dict:
    """Held-out orbits, kicked and far states."""
    experiment = Experiment(model, data, ProbeConfig(orbits=count))
    last = model.context_length
    held_out = undisturbed(experiment.orbits, last)
    row = {"held out": errors(experiment, held_out.cut(0, last + 9))}
    row["kicked"] = errors(experiment, experiment.kicked_arcs(experiment.orbits, 4))
    states = read_states(experiment, *experiment.far_arcs(count))
    row["far"] = summary(states.error[states.answered]) | {"families": families(states)}
    return row


def main() -> None:
    """Train, measure, write after each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--orbits", type=int, default=10_000)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=7)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cells", type=int, nargs="*", default=range(len(CELLS)))
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no network after these")
    options = parser.parse_args()
    start = time.perf_counter()
    data = orbits.generate(
        orbits=options.orbits,
        samples=2 * options.context,
        dt=WEEK,
        population="exoplanets",
        simulator="kepler",
        seed=0,
        workers=options.workers,
    )
    print(f"data after {time.perf_counter() - start:.0f} s", flush=True)
    rows = []
    for target, kind in (CELLS[number] for number in options.cells):
        if time.perf_counter() - start > options.seconds:
            break
        began = time.perf_counter()
        model = worldmodel.train(
            data,
            attention=kind,
            target=target,
            context_length=options.context,
            d_model=options.width,
            n_layers=options.layers,
            n_heads=options.width // 64,
            batch_tokens=options.batch_tokens,
            steps=options.steps,
            evaluate_every=100,
            seed=0,
            progress=lambda line: print(line, flush=True),
        )
        trained = time.perf_counter() - began
        row = {"target": target, "attention": kind, "parameters": model.parameters}
        row |= {"steps": options.steps, "seconds_of_training": trained}
        row |= measured(model, data, 60)
        row["seconds_of_reading"] = time.perf_counter() - began - trained
        rows.append(row)
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
        print(json.dumps({name: row[name] for name in row if name != "far"}), flush=True)
        print(json.dumps({n: v for n, v in row["far"].items() if n != "families"}), flush=True)


if __name__ == "__main__":
    main()
