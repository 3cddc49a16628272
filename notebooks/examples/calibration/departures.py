"""How often a force that departs smoothly from Newton's is called Newtonian, by how far it departs.

    python departures.py departures.csv --seed 177694710
    python departures.py departures.csv --picture departures.svg

A hundred forces with 1 to 30 % of departure, each in a predictor of two positions, through all
that a verdict asks of a model but other pasts, which it does not see, and lookups, whose mean error
a smooth departure halves at once. A row is appended as it is judged, and is not judged again.
"""

import argparse
import itertools
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
from impostors import circular
from knows_law import newton
from matplotlib import pyplot as plt
from other_forces import angle, distance, turned
from scipy.stats import binomtest
from stepping import Force, Stepping

import orbits
import symreg
import worldmodel
from orbits.forces import known_law
from symreg.experiments.verdict import (
    OBEYS,
    RunEvidence,
    far_gates,
    model_gates,
    world_model_kind,
)
from symreg.recovery.gates import passed
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.examiner.answers import examined
from worldmodel.examiner.questions import Counts
from worldmodel.examiner.states import DENSITY, World, drawn
from worldmodel.examiner.summary import summary
from worldmodel.own_predictor import OfPositions

DT, COUNT, MAP = 0.008, 100, 40_000
"""Step, yr; forces; states of the density on which the truth is computed."""
ENDS = (0.28, 2.93)
"""Distances of the orbits of `symreg run`, au."""
COUNTS = Counts(past=0, shell=0, orbits=0, again=0, rolled=20)
"""Nothing lies behind a state that two positions show, and what was asked is answered again."""
Shape = Callable[[np.ndarray, np.ndarray], np.ndarray]


def radial(random: np.random.Generator) -> Shape:
    """A wave in the logarithm of the distance."""
    k, phase = random.uniform(1, 6), random.uniform(0, 2 * np.pi)
    return lambda x, v: np.sin(k * np.log(distance(x)) + phase)


def angular(random: np.random.Generator) -> Shape:
    """A wave in the bearing."""
    m, phase = random.integers(1, 6), random.uniform(0, 2 * np.pi)
    return lambda x, v: np.cos(m * angle(x) + phase)


def by_speed(random: np.random.Generator) -> Shape:
    """A smooth step at a speed."""
    at, width = random.uniform(0.3, 1.8), random.uniform(0.1, 0.5)
    return lambda x, v: (1 + np.tanh((circular(x, v) - at) / width)) / 2


def bump(random: np.random.Generator) -> Shape:
    """A bump at a place."""
    r, at, width = random.uniform(0.5, 2.5), random.uniform(0, 2 * np.pi), random.uniform(0.2, 0.8)
    place = r * np.array([np.cos(at), np.sin(at)])
    return lambda x, v: np.exp(-0.5 * (distance(x - place) / width) ** 2)


SMALL = 0.001
"""Median error that no verdict can see: 0.1 %."""
SHAPES = (radial, angular, by_speed, bump)


def forces(seed: int) -> Iterator[tuple[str, float, Force]]:
    """Kind, size and force of each; of a tenth or so the departure is across the attraction."""
    random = np.random.default_rng(seed)
    for number in range(COUNT):
        kind = SHAPES[number % len(SHAPES)]
        shape, size = kind(random), float(np.exp(random.uniform(np.log(0.01), np.log(0.3))))
        signed, across = size * random.choice([-1, 1]), random.uniform() < 0.1

        def force(x, v, shape=shape, size=signed, across=across):
            own = newton(x, v)
            return own + size * shape(x, v) * (turned(own) if across else own)

        yield f"{kind.__name__}{' across' if across else ''}", size, force


def truth(force: Force, world: World) -> tuple[float, float]:
    """Share of the density within 10 % of Newton's, and median error, from the force itself."""
    states = drawn(world, {DENSITY: MAP}, np.random.default_rng(0))
    x, v = states.position, states.velocity
    error = np.linalg.norm(force(x, v) - newton(x, v), axis=1) / np.linalg.norm(
        newton(x, v), axis=1
    )
    return float(np.mean(error <= 0.1)), float(np.median(error))


def judged(force: Force, world: World, data: object) -> dict[str, object]:
    """What the verdict says; the law is searched if all else holds."""
    model, seed = worldmodel.load_predictor(Stepping(force, DT), dt=DT), secrets.randbits(53)
    answers = examined(OfPositions(model), world, COUNTS, seed, 3)
    far = summary(answers, world, seed)
    beyond = far_gates(far, THRESHOLDS)
    row = {"measured": far.all.right, "least": far.all.bound(), "median_measured": far.all.error}
    if failed := [gate.name for gate in beyond if gate.passed is False]:
        return row | {"newtonian": False, "recovered": False, "failed": "; ".join(failed)}
    kicks, orbit = (
        worldmodel.probe(model, data, orbits=100, states=states) for states in ("kicked", "orbit")
    )
    kick_r2, r2 = kicks.metrics["kick_r2"], orbit.metrics["r2"]
    law = symreg.recover(kicks, seeds=2)
    evidence = RunEvidence(r2, kick_r2, orbit.metrics, {"held-out orbits": r2}, far)
    kind = world_model_kind(law, evidence, THRESHOLDS)
    gates = model_gates(law, kick_r2, {}, THRESHOLDS, beyond)
    names = dict.fromkeys(g.name for g in (*kind.inside, *gates) if g.passed is False)
    yes = kind.kind in OBEYS
    return row | {
        "newtonian": yes, "recovered": yes and passed(gates), "failed": "; ".join(names),
    }  # fmt: skip


def table(rows: pd.DataFrame) -> str:
    """Rows of the page: by the true share, and by the true median."""
    lines = []
    for name, ends in {
        "within_10": (0, 0.8, 0.9, 0.95, 0.98, 1.1), "median": (0, 0.01, 0.02, 0.03, 0.05, 1),
    }.items():  # fmt: skip
        for low, high in itertools.pairwise(ends):
            part = rows[(rows[name] >= low) & (rows[name] < high)]
            lines.append(f"| {name} {low:.0%} to {min(high, 1):.0%} | {said(part['newtonian'])} |")
    return "\n".join(lines)


def said(yes: pd.Series) -> str:
    """`12 of 20 (36 to 81 %)`: exact 95 % interval."""
    if not len(yes):
        return "none"
    interval = binomtest(int(yes.sum()), len(yes)).proportion_ci()
    return f"{yes.sum()} of {len(yes)} ({100 * interval.low:.0f} to {100 * interval.high:.0f} %)"


def picture(rows: pd.DataFrame, path: Path) -> None:
    """True share against true median, by what was said; medians below `SMALL` at the edge."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for yes, label, mark in ((True, "Newtonian", "o"), (False, "not", "x")):
        part = rows[rows["newtonian"] == yes]
        median = part["median"].clip(SMALL)
        axes.plot(100 * median, 100 * part["within_10"], mark, label=label, alpha=0.7)
    axes.axhline(95, color="grey", lw=0.8)
    axes.axvline(3, color="grey", lw=0.8)
    axes.set(xscale="log", xlabel="true median error, %", ylabel="truly within 10 %, % of states")
    axes.legend()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--seed", type=int, default=177694710)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    done = len(pd.read_csv(options.table)) if options.table.exists() else 0
    if options.picture is None and done < COUNT:
        data = orbits.generate(orbits=100, seed=1_000_003, simulator="kepler")
        world = World(known_law("newton"), DT, ENDS, np.array([orbits.GM_SUN]), None, 2)
        for number, (kind, size, force) in enumerate(forces(options.seed)):
            if number >= done:
                within, median = truth(force, world)
                row = {"kind": kind, "size": size, "within_10": within, "median": median}
                row |= judged(force, world, data)
                frame = pd.DataFrame([row])
                frame.to_csv(options.table, mode="a", header=number == 0, index=False)
    rows = pd.read_csv(options.table)
    print(table(rows))
    if options.picture is not None:
        picture(rows, options.picture)


if __name__ == "__main__":
    main()
