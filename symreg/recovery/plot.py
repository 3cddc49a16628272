"""Pictures of a recovery."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes

from orbits.palette import COLORS, CYCLE
from symreg.formulas.expressions import complexity
from symreg.recovery.result import Recovery

SMALLEST = 1e-16
"""Losses below this are rounding."""


def new_axes() -> Axes:
    """Axes of a figure of their own, for a notebook."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(6, 4), layout="constrained")[1]


def plot_pareto_front(axes: Axes, laws: Mapping[str, Recovery]) -> Axes:
    """Loss against complexity of every candidate; the complexity of the law kept is ringed.

    Args:
        axes: where to draw.
        laws: what was recovered, by the name to show.
    """
    for number, (name, law) in enumerate(laws.items()):
        color = COLORS.get(name, CYCLE[number % len(CYCLE)])
        points = sorted((c.complexity, c.loss) for c in law.pareto_front if c.loss is not None)
        if not points:
            continue
        sizes = [size for size, _ in points]
        losses = np.maximum([loss for _, loss in points], SMALLEST)
        best = np.minimum.accumulate(losses)
        axes.step(sizes, best, where="post", color=color, linewidth=1, alpha=0.7)
        axes.scatter(sizes, losses, s=14, color=color, label=name)
        kept = complexity(law.formula)
        near = [loss for size, loss in zip(sizes, losses, strict=True) if size <= kept]
        if near:
            axes.scatter(
                [kept], [min(near)], s=120, facecolors="none", edgecolors=color, linewidths=1.8
            )
    axes.set_yscale("log")
    axes.set_xlabel("complexity (nodes)")
    axes.set_ylabel("loss")
    axes.set_title("Pareto fronts (ring: complexity of the law kept)", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes
