"""What each part of softplus attention does, in one picture: its effect wherever it alone changes.

    python notebooks/examples/attention/effects.py notebooks/images/softplus.csv effects.png

Two points of the composition that differ in one part are a pair, three seeds each. An effect is the
mean ratio of their losses (of the logarithms), with its 95 % interval over pairs and seeds.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

PARTS = {"map": "exp", "norm": "l1", "scale": "sqrt", "sharpen": "none"}
"""What the effects are relative to: softmax."""
CHANGES = {
    ("map", "softplus"): "exponential → softplus",
    ("map", "relu"): "exponential → ReLU",
    ("map", "sigmoid"): "exponential → sigmoid",
    ("norm", "none"): "without the row's sum",
    ("scale", "logn"): "√d → log N",
    ("scale", "learned"): "√d → s log N, learned",
    ("scale", "logdlogn"): "√d → log d · log N",
    ("sharpen", "3"): "re-weighting, p = 3",
}
MEASURES = {
    "extrapolate.loss_1": "loss at the training length",
    "far.error": "error of the force on far states",
}


def effects(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row for each change: ratio, its interval, and how many pairs with how many seeds."""
    points = cells[cells["attention"].str.contains("=")]
    parts = pd.DataFrame(
        [PARTS | dict(word.split("=") for word in name.split()) for name in points["attention"]]
    )
    logs = parts.assign(seed=points["seed"].to_numpy(), log=np.log(points[column].to_numpy()))
    rows = []
    for (part, value), words in CHANGES.items():
        beside = [name for name in (*PARTS, "seed") if name != part]
        pairs = logs[logs[part] == PARTS[part]].merge(logs[logs[part] == value], on=beside)
        ratios = pairs["log_y"] - pairs["log_x"]
        mean, half = ratios.mean(), 1.96 * ratios.std() / np.sqrt(len(ratios))
        ends = np.exp([mean, mean - half, mean + half])
        rows.append(
            dict(zip(("ratio", "low", "high"), ends, strict=True))
            | {"change": words, "part": part, "cells": len(ratios)}
        )
    return pd.DataFrame(rows)


def figure_of(cells: pd.DataFrame) -> Figure:
    """A panel for each measure, a bar for each change; left of the line is better."""
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 3.6), sharey=True, layout="constrained")
    for axes, (column, words) in zip(panels, MEASURES.items(), strict=True):
        table = effects(cells, column)
        for row, effect in table.iterrows():
            clear = effect["high"] < 1 or effect["low"] > 1
            color = "#999999" if not clear else "#1b7837" if effect["high"] < 1 else "#b2182b"
            axes.plot([effect["low"], effect["high"]], [row, row], color=color, linewidth=3)
            axes.plot(effect["ratio"], row, "o", color=color)
        axes.axvline(1, color="black", linewidth=1)
        axes.set(xscale="log", xlabel=f"{words}, times as large")
        axes.set_xticks(marks := [0.6, 0.8, 1, 1.25, 1.6, 2], [f"{mark:g}" for mark in marks])
        axes.minorticks_off()
        axes.set_yticks(range(len(table)), table["change"])
    panels[0].invert_yaxis()
    for color, words in (("#1b7837", "better"), ("#b2182b", "worse"), ("#999999", "not clear")):
        panels[1].plot([], [], "o-", color=color, linewidth=3, label=words)
    panels[1].legend(frameon=False, fontsize=9, loc="lower right")
    return figure


def main() -> None:
    """Draw, and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    cells = pd.read_csv(options.cells)
    figure_of(cells).savefig(options.out, dpi=150)
    for column, words in MEASURES.items():
        print(words)
        print(effects(cells, column).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
