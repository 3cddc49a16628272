"""A law, or its field where it was trained: the figure of the first page.

    python notebooks/examples/home/beyond.py beyond.png beyond.csv

Two networks and a random forest of the same training orbits, asked for the force where they were
trained and at up to ten times the distance. One network sees and says logarithms of lengths, and
directions, without a norm (the default); the other coordinates, with LayerNorm.
"""

import argparse

import matplotlib.pyplot as plt
import pandas as pd

import orbits
import worldmodel
from orbits.files import written_aside
from orbits.palette import COLORS, CYCLE
from orbits.plot import own_style
from symreg.experiments.figures.reach import plot_reach
from worldmodel.examiner.shells import WORDS

NETWORKS = {
    "network in logarithms": {"norm": "none"},
    "network in coordinates, LayerNorm": {
        "inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "steps": 1000,
        "muon_lr": 0.02,
    },
}  # fmt: skip
"""Options beside the default's; the second has twice the steps, at the rate that suits it."""
STYLES = {
    "network in logarithms": (COLORS["kicked"], 2.2),
    "network in coordinates, LayerNorm": (CYCLE[0], 1.4),
    "random forest": (CYCLE[3], 1.4),
}
"""Colour and width of a line."""


def readings(seed, count, steps):
    """Reading of far states by who was asked."""
    data = orbits.generate(orbits=count, seed=seed)
    held_out = orbits.generate(orbits=max(8, count // 4), seed=seed + 1_000_003)
    asked = {"readout": "far", "trained_on": data, "exam_seed": seed}
    found = {}
    for name, options in NETWORKS.items():
        changed = options if steps is None else {**options, "steps": steps}
        model = worldmodel.train(data, seed=seed, progress=False, **changed)
        found[name] = worldmodel.probe(model, held_out, **asked)
    found["random forest"] = worldmodel.probe(model, held_out, control="forest", **asked)
    return found


def rows(seed, name, reading):
    """A row of the table for each shell."""
    for shell, own in reading.details["examination"]["shells"].items():
        share, exponent = own["share"], own["exponent"] or {}
        yield {
            "seed": seed, "who": name, "distances": WORDS[shell], "low": own["low"],
            "high": own["high"], "within_10": share["right"], "error": share["error"],
            "exponent": exponent.get("value"),
        }  # fmt: skip


@own_style()
def draw(found, path):
    """The force by distance, and its error."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    reach = {name: reading.details["reach"] for name, reading in found.items()}
    radius = tuple(next(iter(found.values())).details["examination"]["radius"])
    plot_reach(left, reach, radius, law="newton", below=right, styles=STYLES)
    right.set_title("Median error; dotted: 10 %", fontsize=10)
    right.set_xlabel("r (au)")
    left.set_xlabel("r (au)")
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=150, format="png")
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture")
    parser.add_argument("table")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--orbits", type=int, default=1000)
    parser.add_argument("--steps", type=int, help="of both networks, for a quick look")
    options = parser.parse_args()
    table = []
    for seed in options.seeds:
        found = readings(seed, options.orbits, options.steps)
        for name, reading in found.items():
            table += rows(seed, name, reading)
        if seed == options.seeds[0]:
            draw(found, options.picture)
        pd.DataFrame(table).to_csv(options.table, index=False, float_format="%.5g")
        print(f"seed {seed}: done", flush=True)


if __name__ == "__main__":
    main()
