"""How often the verdict is wrong, for predictors with known truth."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from panels import dotted, names_below, panels
from scipy.stats import binomtest

from orbits.palette import COLORS, CYCLE
from symreg import StudyFigure
from symreg.experiments.study_figure import LABEL, finished, frequency
from symreg.experiments.verdict import CELLS, FAMILIES, MEDIAN, OBEYS
from symreg.experiments.verdict import FAR as FAR_GATE
from symreg.recovery.thresholds import THRESHOLDS

KNOWS, NEAR = "knows", "near miss"
"""Labels of cells that know the named law, and of those for which no verdict is wrong."""
FAR, KICK = "far.error", "kicked.kick_r2_first"
HALVES = {0: "chosen on", 1: "frozen"}
"""By parity of the seed: cells for choosing thresholds, and cells for judging."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Errors by known truth, the verdicts of each test alone, and the resolution."""
    figure, drawn = panels(1, 3, width=16)
    plot_errors(drawn[0], frame)
    plot_roc(drawn[1], frame)
    plot_resolution(drawn[2], frame)
    caption = (
        "Left: median error on far states by what the predictors know; filled, called to know "
        "the named law. Middle: yes to those that know against yes to those that do not, as "
        "one threshold moves; the cross is the whole verdict. Right: the part of the "
        "predictors of other forces that is still called to know the law, by the size of "
        "the departure at 1 au, with 95 % intervals."
    )
    return {"calibration": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per half and label: how many have the field or are recovered, and how many of
    these verdicts are wrong."""
    rows = []
    for odd, half in HALVES.items():
        part = frame[frame["seed"] % 2 == odd]
        wrong = part[(part[LABEL] != KNOWS) & (part[LABEL] != NEAR)]
        known = part[part[LABEL] == KNOWS]
        for label, cells in part.groupby(LABEL, sort=False):
            rows.append(_row(half, str(label), cells, ""))
        rows.append(_row(half, "false yes", wrong, frequency(said_yes(wrong))))
        rows.append(_row(half, "false no", known, frequency(~said_yes(known))))
    return pd.DataFrame(rows)


def _row(half: str, label: str, cells: pd.DataFrame, wrong: str) -> dict[str, object]:
    return {
        "half": half,
        LABEL: label,
        "cells": len(cells),
        "field": int(cells["world_model"].isin(OBEYS).sum()),
        "recovered": int(cells["recovered"].eq(True).sum()),
        "largest error on far states": _end(cells, "max"),
        "smallest": _end(cells, "min"),
        "wrong": wrong,
    }


def _end(cells: pd.DataFrame, which: str) -> float | None:
    known = cells[FAR].dropna().astype(float)
    return None if known.empty else float(known.agg(which))


def said_yes(frame: pd.DataFrame) -> pd.Series:
    """(cell,) whether a predictor is said to have the field, or the law recovered."""
    return frame["world_model"].isin(OBEYS) | frame["recovered"].eq(True).fillna(False)


def plot_errors(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Median error on far states, a point per predictor."""
    if not {LABEL, FAR} <= set(frame):
        return finished(axes, False)
    labels = list(dict.fromkeys(frame[LABEL]))
    yes = said_yes(frame)
    random = np.random.default_rng(0)
    for number, label in enumerate(labels):
        of = frame[LABEL] == label
        for called in (True, False):
            error = frame.loc[of & (yes == called), FAR].dropna().astype(float).clip(1e-4, 1e2)
            axes.scatter(
                number + random.uniform(-0.28, 0.28, len(error)), error, s=20, linewidths=1,
                edgecolors=CYCLE[number], facecolors=CYCLE[number] if called else "none",
            )  # fmt: skip
    for called, words in ((True, "called to know the law"), (False, "not")):
        axes.scatter([], [], s=20, edgecolors="#777777", label=words,
                     facecolors="#777777" if called else "none")  # fmt: skip
    dotted(axes, THRESHOLDS.far_error)
    names_below(axes, labels)
    axes.set_yscale("log")
    axes.set_ylabel("median relative error on far states")
    return finished(axes, True)


def plot_roc(axes: Axes, frame: pd.DataFrame) -> Axes:
    """How often each test alone says yes, rightly or wrongly, as its threshold moves."""
    if not {LABEL, FAR, "orbit.r2", KICK} <= set(frame):
        return finished(axes, False)
    frame = frame[frame[LABEL] != NEAR]
    knows = (frame[LABEL] == KNOWS).to_numpy()
    if knows.all() or not knows.any():
        return finished(axes, False)
    tests = {
        "R² on undisturbed orbits": -_numbers(frame, "orbit.r2"),
        "R² one step after a kick": -_numbers(frame, KICK),
        "error on far states": _numbers(frame, FAR),
        "every gate, that moving": _numbers(frame, FAR).where(_all_but_far(frame), np.inf),
    }
    for (name, score), color in zip(tests.items(), CYCLE, strict=False):
        lines = np.sort(np.unique(np.append(score[np.isfinite(score)], -np.inf)))
        wrong, right = (
            [float((score[group] <= line).mean()) for line in lines] for group in (~knows, knows)
        )
        axes.step(wrong, right, where="post", color=color, label=name, linewidth=1.6)
    yes = said_yes(frame).to_numpy()
    axes.plot(
        yes[~knows].mean(), yes[knows].mean(), "x", color=COLORS["reference"], markersize=9,
        label="the verdict",
    )  # fmt: skip
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel("yes to those that do not know the law")
    axes.set_ylabel("yes to those that do")
    return finished(axes, True)


def _numbers(frame: pd.DataFrame, name: str) -> pd.Series:
    """A column; a missing value does not pass."""
    return frame[name].astype(float).fillna(np.inf)


def _all_but_far(frame: pd.DataFrame) -> pd.Series:
    """(cell,) whether a predictor passes all gates but that on far error."""
    failed = frame["kind_failed"].fillna("").astype(str)
    far = {FAR_GATE, CELLS, FAMILIES, MEDIAN}
    return failed.map(lambda names: set(filter(None, names.split(", "))) <= far)


def plot_resolution(axes: Axes, frame: pd.DataFrame) -> Axes:
    """How often another force is called the law, by its departure."""
    if not {LABEL, "model.size"} <= set(frame):
        return finished(axes, False)
    known = frame[frame["model.size"].notna() & (frame[LABEL] != KNOWS)]
    size, yes = known["model.size"].astype(float).to_numpy(), said_yes(known).to_numpy()
    if not len(size):
        return finished(axes, False)
    edges = np.geomspace(size.min(), size.max() * 1.001, 8)
    for low, high in itertools.pairwise(edges):
        here = yes[(low <= size) & (size < high)]
        if not len(here):
            continue
        ends = binomtest(int(here.sum()), len(here)).proportion_ci(method="exact")
        middle = np.sqrt(low * high)
        share = float(here.mean())
        bar = [[share - ends.low], [ends.high - share]]
        label = None if axes.lines else "other forces, 95 % intervals"
        axes.errorbar(middle, share, bar, fmt="o", color=CYCLE[0], linewidth=1.2, label=label)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(-0.03, 1.03)
    axes.set_xlabel("departure from the law's acceleration at 1 au")
    axes.set_ylabel("called to know the law")
    return finished(axes, True)


FIGURE = StudyFigure(draw, summary)
