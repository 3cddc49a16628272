"""Loss on sequences longer than those of training."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panels import FULL, STYLES, against_lengths, dotted, factors_of, panels, settings

from orbits.palette import CYCLE
from symreg import StudyFigure
from symreg.experiments.study_figure import finished


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Loss on sequences longer than those of training."""
    masses: list[str] = list(dict.fromkeys(frame["mass"])) if "mass" in frame else [""]
    figure, drawn = panels(1, len(masses), width=7 * len(masses))
    for panel, mass in zip(drawn, masses, strict=True):
        rows = frame[frame["mass"] == mass] if mass else frame
        fixed = len(set(mass.split())) <= 1
        title = "GM fixed" if fixed else f"M from {mass.replace(' ', ' to ')} M☉"
        plot_loss_ratios(panel, rows, title)
    caption = (
        "Loss on sequences longer than those of training, over the loss at the training "
        "length. Thin: seeds; thick: medians."
    )
    return {"extrapolation": (figure, caption)}


def plot_loss_ratios(axes: Axes, frame: pd.DataFrame, title: str) -> Axes:
    """Loss over that at the training length, against length: colours by kind of attention, line
    styles by window and kicked training."""
    stem = "extrapolate.ratio_"
    factors = factors_of(frame, stem)
    if not factors:
        return finished(axes, False)
    columns = [f"{stem}{factor}" for factor in factors]
    varied = settings(frame)
    colors = dict(zip(dict.fromkeys(frame["attention"]), itertools.cycle(CYCLE), strict=False))
    styles = dict(zip(dict.fromkeys(varied), itertools.cycle(STYLES), strict=False))
    for (kind, setting), rows in frame.groupby([frame["attention"], varied], sort=False):
        drawn = {"color": colors[kind], "linestyle": styles[setting]}
        ratios = rows[columns].astype(float).to_numpy()
        for row in ratios:
            axes.plot(factors, row, **drawn, linewidth=0.7, alpha=0.4)
        label = kind if setting == FULL else f"{kind}, {setting}"
        axes.plot(
            factors, np.median(ratios, axis=0), **drawn, linewidth=2, marker="o", markersize=4,
            label=label,
        )  # fmt: skip
    against_lengths(axes, factors)
    axes.set_yscale("log")
    dotted(axes, 1)
    axes.set_ylabel("loss / loss at the training length")
    axes.set_title(title, fontsize=10)
    return finished(axes, True, beside=True)


FIGURE = StudyFigure(draw)
