"""Softmax beside LSSAR at 13 million parameters: both targets, and states unlike training.

    python notebooks/examples/attention/thirteen_million.py results.json

Networks of the published size (arXiv:2507.06952, and arXiv:2501.13428, Table of orbits), a thousand
positions in view, with the residual and with the displacement as target; first on this project's
default orbits, whose accelerations span two decades, then on the published distributions (five).
Then the accelerations that they imply on held-out orbits, in the first steps after a kick, and on
far states, beside lookups of the same orbits. It ends within the time that it is given: a network
that is not trained by then is read as it stands, which its row says. Every row is written when it
is done; cells that share a GPU are processes of their own (`--cells 0 --data default`, ...).
Without a GPU: `--width 64 --layers 2 --context 64`.
"""

import argparse
import dataclasses
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import orbits
import worldmodel
from orbits.statistics import r_squared
from worldmodel.attention.fused import passes_for
from worldmodel.examiner.answers import RIGHT
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.experiment import Experiment
from worldmodel.probes.readouts.far import Far
from worldmodel.probes.states import Arcs, undisturbed

DATA = {
    "default": {},
    # a week between positions
    "published": {"population": "exoplanets", "dt": 0.019165},
}
NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02}
"""Options of every network beside those of the command line."""
CELLS = [(target, kind) for target in ("residual", "displacement") for kind in ("softmax", "lssar")]
LOOKUP_CELL = len(CELLS)
LOOKUPS = ("nearest", "locally_linear", "spline")
FAR = 600
"""States of the examiner's density, for networks and lookups alike."""
KEPT = 500
"""Steps between saved weights, of which the last are read when time is up."""


class OutOfTimeError(Exception):
    """A network has no time left to train."""


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
    return {
        "states": len(error),
        "error": float(np.median(error)),
        "right": float(np.mean(error <= RIGHT)),
        "r2": float(r_squared(implied, true)),
    }


def until(arcs: Arcs, stop: int) -> Arcs:
    """The same arcs up to a time, read as far as they go."""
    times = {name: getattr(arcs, name)[:, :stop] for name in ("position", "velocity", "seen")}
    read = range(arcs.read.start, min(arcs.read.stop, stop))
    return dataclasses.replace(arcs, **times, read=read)


def measured(model, data, count: int, control: str = "none") -> dict:
    """Held-out orbits, kicked and far states, of a model or of a lookup of its orbits."""
    experiment = Experiment(model, data, ProbeConfig(orbits=count, control=control))
    last = model.context_length
    held_out = undisturbed(experiment.orbits, last)
    row = {"held out": errors(experiment, until(held_out, last + 9))}
    row["kicked"] = errors(experiment, experiment.kicked_arcs(experiment.orbits, 4))
    far = Far(count=FAR, beside=False).read(experiment).metrics
    row["far"] = {name: far[name] for name in ("states", "error", "mean_error", "right")}
    return row


def best_lookup(model, data, count: int) -> dict:
    """That with the smallest mean error on far states."""
    rows = [{"lookup": name} | measured(model, data, count, name) for name in LOOKUPS]
    return min(rows, key=lambda row: row["far"]["mean_error"])


def main(arguments: list[str] | None = None) -> None:
    """Train, measure, write after each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=540, help="in which all is done")
    parser.add_argument("--reading", type=float, default=45, help="seconds kept for a reading")
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument(
        "--cells", type=int, nargs="+", default=range(LOOKUP_CELL + 1), help="4: the best lookup"
    )
    parser.add_argument("--orbits", type=int, default=10_000)
    parser.add_argument("--read", type=int, default=40, help="held-out orbits, kicked ones too")
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--layers", type=int, default=7)
    parser.add_argument("--batch-tokens", type=int, default=16_384)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0)
    options = parser.parse_args(arguments)
    began, rows = time.perf_counter(), []

    def write(row: dict) -> None:
        rows.append(row)
        options.out.write_text(json.dumps(rows, indent=1) + "\n")
        shown = {name: value for name, value in row.items() if not isinstance(value, dict)}
        print(json.dumps(shown | {"far": row.get("far", {}).get("right")}), flush=True)

    def until_time_is_up(line: str) -> None:
        print(line, flush=True)
        if time.perf_counter() - began > options.seconds - options.reading:
            raise OutOfTimeError

    for name in options.data:
        data = orbits.generate(
            orbits=options.orbits, samples=2 * options.context, simulator="kepler", seed=0,
            workers=options.workers, **DATA[name],
        )  # fmt: skip
        for cell in options.cells:
            if cell == LOOKUP_CELL:
                seen = trained(data, "softmax", "residual", options, steps=0)
                write({"data": name} | best_lookup(seen, data, options.read))
                continue
            target, kind = CELLS[cell]
            start = time.perf_counter()
            model = trained(data, kind, target, options, options.steps, until_time_is_up)
            seconds = time.perf_counter() - start
            place = {"data": name, "target": target, "attention": kind}
            if model is None:
                write(place | {"not begun": f"time was up before step {KEPT}"})
                return
            place |= {"parameters": model.parameters, "steps": model.step}
            place |= {"steps asked": options.steps, "seconds": seconds}
            place |= {"device": device(), "passes": passes(kind, options)}
            write(place | measured(model, data, options.read))


def trained(data, kind: str, target: str, options, steps: int, progress=False):
    """The network; when time is up, as it was last saved, or None."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        try:
            return worldmodel.train(
                data,
                out=run,
                attention=kind,
                target=target,
                context_length=options.context,
                d_model=options.width,
                n_layers=options.layers,
                n_heads=max(1, options.width // 64),
                batch_tokens=options.batch_tokens,
                # the blocks alone: the first and the last layer stay in float32
                precision="bf16-mixed" if torch.cuda.is_available() else "32-true",
                steps=steps,
                evaluate_every=KEPT,
                seed=options.seed,
                progress=progress,
                **NETWORK,
            )
        except OutOfTimeError:
            saved = (run / "last.safetensors").is_file()
            return worldmodel.WorldModel.load(run) if saved else None


def device() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"


def passes(kind: str, options) -> str:
    """What computes the attention."""
    if kind != "lssar":
        return "torch"
    if not torch.cuda.is_available():
        return "dense"
    width = options.width // max(1, options.width // 64)
    return passes_for(torch.empty(0, width, device="cuda", dtype=torch.bfloat16))


if __name__ == "__main__":
    main()
