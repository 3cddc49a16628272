"""Pictures of a recovery."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import sympy
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from orbits.options import checked
from orbits.palette import COLORS, CYCLE, LEGEND
from orbits.plot import labelled, own_style
from orbits.printing import shortened
from orbits.statistics import is_wide
from symreg.formulas.expressions import complexity


class Plottable(Protocol):
    """What is drawn of a `Recovery`, which knows how to draw itself by these functions."""

    @property
    def points(self) -> Mapping[str, Sequence[float | str]]: ...
    @property
    def expression(self) -> str: ...
    @property
    def formula(self) -> sympy.Expr: ...
    @property
    def pareto_front(self) -> Sequence[Any]: ...
    def predict(self, features: Mapping[str, Any]) -> np.ndarray: ...


@own_style()
def plot_law(law: Plottable) -> Axes:
    """The law with the rows it was fitted to, and below them the residuals, in per cent.

    Against the feature, if the law has only one; otherwise measured values against the law's.
    """
    import matplotlib.pyplot as plt

    if not law.points:
        raise ValueError("this result holds no rows to draw; recover the law again.")
    *_, target = law.points
    points = {name: np.array(values) for name, values in law.points.items()}
    measured, predicted = points[target], np.broadcast_to(law.predict(points), len(points[target]))
    names = sorted({symbol.name for symbol in law.formula.free_symbols})
    alone = names[0] if len(names) == 1 else None
    place = points[alone] if alone else predicted
    curve = np.linspace(place.min(), place.max(), 400)
    _, (above, below) = plt.subplots(
        2, figsize=(6, 5.5), height_ratios=(3, 1), sharex=True, layout="constrained"
    )
    above.scatter(place, measured, s=12, color=CYCLE[0], label="data", linewidths=0)
    values = law.predict({alone: curve}) if alone else curve
    above.plot(curve, values, color=COLORS["reference"], label=law.expression)
    below.scatter(place, 100 * (measured / predicted - 1), s=12, color=CYCLE[0], linewidths=0)
    below.axhline(0, color=COLORS["reference"], linewidth=1)
    for axes, numbers in ((above.set_yscale, measured), (above.set_xscale, place)):
        if is_wide(numbers):
            axes("log")
    above.set_ylabel(target)
    below.set(xlabel=alone or "the law's value", ylabel="residual (%)")
    above.legend(**LEGEND)
    return above


@checked
def plot_pareto_front(axes: Axes, laws: Mapping[str, Plottable]) -> Axes:
    """Loss against complexity of every candidate; the selected law is ringed.

    Of a single law the formulas of which none shorter is as accurate are written beside them.

    Args:
        axes: where to draw.
        laws: recoveries, by the name to show.
    """
    for number, (name, law) in enumerate(laws.items()):
        color = COLORS.get(name, CYCLE[number % len(CYCLE)])
        points = sorted((c.complexity, c.loss) for c in law.pareto_front if c.loss is not None)
        if not points:
            continue
        sizes = [size for size, _ in points]
        losses = np.maximum([loss for _, loss in points], 1e-16)  # rounding
        best = np.minimum.accumulate(losses)
        if len(laws) == 1:
            _write_front(axes, law, color)
        axes.step(sizes, best, where="post", color=color, linewidth=1, alpha=0.7)
        axes.scatter(sizes, losses, s=14, color=color, label=name)
        kept = complexity(law.formula)
        near = [loss for size, loss in zip(sizes, losses, strict=True) if size <= kept]
        if near:
            axes.scatter(
                [kept], [min(near)], s=120, facecolors="none", edgecolors=color, linewidths=1.8
            )
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    low, high = axes.dataLim.intervaly
    if 0 < low < high:  # two decades at least: what is nearly as good looks so
        axes.set_ylim(low / 4, max(4 * high, 25 * low))
    labelled(axes, "complexity (nodes)", "loss", "Pareto front (ring: the law chosen)")
    return axes


def short(formula: str) -> str:
    """A formula for a picture, its numbers to four digits."""
    text = re.sub(r"\*\*([23])(?![\d.])", lambda power: "²³"[int(power[1]) - 2], formula)
    text = re.sub(r"\d+\.\d+", lambda digits: f"{float(digits[0]):.4g}", text)
    return shortened(text.replace("**", "^").replace("*", " "), 34)  # as wide as a legend


def undominated(front: Sequence[Any]) -> list[Any]:
    """The formulas that no formula as short or shorter beats in accuracy, shortest first."""
    kept: list[Any] = []
    known = (point for point in front if point.loss is not None)
    for point in sorted(known, key=lambda point: (point.complexity, point.loss)):
        if not kept or point.loss < kept[-1].loss:
            kept.append(point)
    return kept


def _write_front(axes: Axes, law: Plottable, color: str) -> None:
    """The formulas of a front, slanted, each beside its point."""
    kept = complexity(law.formula)
    for point in undominated(law.pareto_front):
        chosen = point.complexity == kept
        axes.annotate(
            short(law.expression if chosen else point.expression), (point.complexity, point.loss),
            (5, 5), textcoords="offset points", fontsize=7, rotation=30,
            color=color if chosen else "#555555",
        )  # fmt: skip
