"""Training and held-out loss against the step."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.options import checked
from orbits.palette import COLORS
from orbits.plot import labelled
from symreg.experiments.figures.base import FigureData, RunFigure, panels


def draw(shown: FigureData) -> Figure | None:
    """One panel."""
    if shown.training.empty:
        return None
    figure, axes = panels(1, 3.8, 3.6)  # beside the map
    plot_training(axes[0], shown.training)
    return figure


@checked
def plot_training(axes: Axes, metrics: pd.DataFrame) -> Axes:
    """Training and held-out loss against the step."""
    for column, label, color in (
        ("loss", "training", COLORS["orbit"]),
        ("held_out_loss", "held out", COLORS["kicked"]),
    ):
        if column in metrics:
            known = metrics[["step", column]].dropna()
            axes.plot(known["step"], known[column], label=label, color=color, linewidth=1.2)
    axes.set_yscale("log")
    return labelled(axes, "training step", "loss (standardised)", "Training")


FIGURE = RunFigure("training", "Loss during training.", draw)
