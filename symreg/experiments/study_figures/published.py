"""The published protocol: forces of fine-tuned models beside what they imply."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import CYCLE
from symreg.experiments.figures.base import squeezed_r2
from symreg.experiments.study_figures.base import (
    StudyFigure,
    finished,
    labels,
    panels,
    plot_recovered,
)

LEAST_R2 = -100.0
"""Where values of R² are drawn that are lower still."""


class PublishedFigure(StudyFigure):
    """The published protocol: forces of fine-tuned models beside what they imply."""

    name = "published"

    def draw(self, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
        figure, drawn = panels(1, 2, width=14)
        plot_transfer(drawn[0], frame)
        plot_recovered(drawn[1], frame, "attention")
        caption = (
            "The published protocol: forces from a model fine-tuned on force magnitudes, "
            "beside what the same model's own predictions imply."
        )
        return {"published": (figure, caption)}


def plot_transfer(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² by kind of attention and step: of the fine-tuned force, on orbits and after kicks."""
    columns = {
        "fine-tuned": "transfer.r2",
        "fine-tuned, untrained": "transfer_untrained.r2",
        "new head": "transfer_frozen.r2",
        "new head, untrained": "transfer_frozen_untrained.r2",
        "predictions, orbits": "orbit.r2",
        "predictions, kicks": "kicked.kick_r2_first",
    }
    words = labels(frame, "attention")
    values = list(dict.fromkeys(words))
    drawn = False
    for number, ((label, column), color) in enumerate(zip(columns.items(), CYCLE, strict=False)):
        if column in frame and frame[column].notna().any():
            x = [values.index(value) + 0.12 * (number - 2.5) for value in words]
            shown = frame[column].astype(float).clip(lower=LEAST_R2)
            axes.scatter(x, shown, s=28, color=color, label=label)
            drawn = True
    axes.set_xticks(range(len(values)), values, rotation=25, ha="right")
    if drawn:
        squeezed_r2(axes)
        axes.set_ylabel(f"R² of the acceleration ({LEAST_R2:g}: that or less)")
    return finished(axes, drawn, beside=True)


FIGURE = PublishedFigure()
