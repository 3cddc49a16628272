"""How models change as they see more positions."""

import pandas as pd
from matplotlib.figure import Figure
from panels import STYLES, dotted, panels, plot_against

from orbits.palette import COLORS, CYCLE
from orbits.plot import labelled, plain_numbers, squeezed_r2
from orbits.printing import plural
from symreg import StudyFigure
from symreg.recovery.thresholds import THRESHOLDS

CONTEXT = "context_length"
KICKS = {
    "one step after a kick": "kicked.kick_r2_1",
    "four steps after a kick": "kicked.kick_r2_4",
    "undisturbed orbits": "orbit.r2",
}
LINEAR = {
    f"{label}, {who}": f"linear.{who}_{name}"
    for who in ("trained", "untrained", "positions")
    for label, name in {"|F|": "force", "F_x": "force_x", "F_y": "force_y"}.items()
}
ROLLOUT = {plural(step, "step"): f"evaluate.error_{step}" for step in (1, 4, 16, 64)}
TITLES = {
    "Kick response (dotted: at the first step Newtonian above, Keplerian below)": (
        "R² of the implied acceleration"
    ),
    "Dependence on the last two positions": "Jacobian locality",
    "Linear probes of the force": "R² of the best layer, held-out orbits",
    "Roll-out error": "median error / distance from the centre",
}
"""Titles of the panels, with what is drawn."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """How models change as they see more positions."""
    figure, (kicks, jacobian, linear, rollout) = panels(2, 2)
    colors = (COLORS["kicked"], "#e5a3ad", COLORS["orbit"])
    plot_against(kicks, frame, CONTEXT, KICKS, colors=colors)
    dotted(kicks, THRESHOLDS.field_r2, THRESHOLDS.keplerian_r2)
    squeezed_r2(kicks)
    plot_against(jacobian, frame, CONTEXT, {"locality": "jacobian.locality"})
    jacobian.set_ylim(-0.03, 1.03)
    plot_against(linear, frame, CONTEXT, LINEAR, colors=CYCLE[:3], styles=STYLES[:3])
    if linear.lines:
        squeezed_r2(linear)
        linear.set_ylim(-1, 1.003)
    plot_against(rollout, frame, CONTEXT, ROLLOUT)
    if rollout.lines:
        rollout.set_yscale("log")
    for axes, (title, y) in zip(figure.axes, TITLES.items(), strict=True):
        axes.set_xscale("log")
        plain_numbers(axes.xaxis, sorted(frame[CONTEXT].astype(int).unique()))
        labelled(axes, "context length", y, title, legend=False)
    caption = (
        "Against the context length: what follows a force (kicks, Jacobian) and what does"
        " not tell one from the other (undisturbed orbits, linear probes, roll-outs). "
        "Points: cells; lines: medians over seeds."
    )
    return {"context": (figure, caption)}


FIGURE = StudyFigure(draw)
