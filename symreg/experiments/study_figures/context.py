"""How models change as they see more positions."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import COLORS, CYCLE
from orbits.plot import labelled, plain_numbers, squeezed_r2
from symreg.experiments.study_figures.base import (
    THRESHOLDS,
    StudyFigure,
    finished,
    panels,
    plot_against,
)


class ContextFigure(StudyFigure):
    """How models change as they see more positions."""

    name = "context"

    def draw(self, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
        figure, drawn = panels(2, 2)
        plots = (
            plot_context_kicks,
            plot_context_jacobian,
            plot_context_linear,
            plot_context_rollout,
        )
        for panel, plot in zip(drawn, plots, strict=True):
            plot(panel, frame)
        caption = (
            "Against the context length: what follows a force (kicks, Jacobian) and what does"
            " not tell one from the other (undisturbed orbits, linear probes, roll-outs). "
            "Points: cells; lines: medians over seeds."
        )
        return {"context": (figure, caption)}


def plot_context_kicks(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² after a kick, and on undisturbed orbits, against the context length."""
    plot_against(
        axes, frame, "context_length",
        {
            "one step after a kick": "kicked.kick_r2_1",
            "four steps after a kick": "kicked.kick_r2_4",
            "undisturbed orbits": "orbit.r2",
        },
        colors=(COLORS["kicked"], "#e5a3ad", COLORS["orbit"]),
    )  # fmt: skip
    t = THRESHOLDS
    axes.axhline(t.newtonian_r2, color=COLORS["reference"], linestyle=":", linewidth=1)
    axes.axhline(t.keplerian_r2, color=COLORS["reference"], linestyle=":", linewidth=1)
    squeezed_r2(axes)
    title = "Kick response (dotted: at the first step Newtonian above, Keplerian below)"
    return _against_context(axes, frame, "R² of the implied acceleration", title)


def plot_context_jacobian(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Share of the Jacobian on the last two positions against the context length."""
    plot_against(axes, frame, "context_length", {"locality": "jacobian.locality"})
    axes.axhline(THRESHOLDS.locality, color=COLORS["reference"], linestyle=":", linewidth=1)
    axes.set_ylim(-0.03, 1.03)
    title = "Dependence on the last two positions"
    return _against_context(axes, frame, "Jacobian locality", title)


def plot_context_linear(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Linear probes of the force against the context length: trained, untrained, bare positions."""
    drawn = False
    targets = {"|F|": "force", "F_x": "force_x", "F_y": "force_y"}
    styles = {"trained": "-", "untrained": "--", "positions": ":"}
    for (label, name), color in zip(targets.items(), CYCLE, strict=False):
        for who, style in styles.items():
            column = f"linear.{who}_{name}"
            if column in frame and frame[column].notna().any():
                known = frame[["context_length", column]].dropna().astype(float)
                medians = known.groupby("context_length")[column].median()
                axes.plot(
                    medians.index, medians, style, color=color, linewidth=1.4, marker="o",
                    markersize=3, label=f"{label}, {who}",
                )  # fmt: skip
                drawn = True
    if drawn:
        squeezed_r2(axes)
        axes.set_ylim(-1, 1.003)
    finished(axes, drawn, columns=3)
    y, title = "R² of the best layer, held-out orbits", "Linear probes of the force"
    return _against_context(axes, frame, y, title)


def plot_context_rollout(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Errors of prediction against the context length."""
    columns = {
        f"{step} step{'s' * (step > 1)}": f"evaluate.error_{step}" for step in (1, 4, 16, 64)
    }
    plot_against(axes, frame, "context_length", columns)
    if axes.lines:
        axes.set_yscale("log")
    y = "median error / distance from the centre"
    return _against_context(axes, frame, y, "Roll-out error")


def _against_context(axes: Axes, frame: pd.DataFrame, y: str, title: str) -> Axes:
    axes.set_xscale("log")
    plain_numbers(axes.xaxis, sorted(frame["context_length"].astype(int).unique()))
    return labelled(axes, "context length", y, title, legend=False)


FIGURE = ContextFigure()
