"""The figures of each kind of study, put together from panels, with their captions."""

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from symreg.runs.config import SOURCES
from symreg.runs.score import ScoreThresholds
from symreg.studies import panels as panels_of


def draw(kind: str, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """The figures of a study with their captions, by file name.

    Args:
        kind: `figure` of the study.
        frame: its table; cells that are not done are left out.
    """
    done = frame[frame["status"] == "done"]
    if kind == "none" or done.empty:
        return {}
    return DRAWERS[kind](done)


def _context(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    figure, panels = _panels(2, 2)
    plots = (
        panels_of.plot_context_kicks,
        panels_of.plot_context_jacobian,
        panels_of.plot_context_linear,
        panels_of.plot_context_rollout,
    )
    for panel, plot in zip(panels, plots, strict=True):
        plot(panel, frame)
    caption = (
        "Against the context length: what follows a force (kicks, Jacobian) and what does not tell "
        "one from the other (undisturbed orbits, linear probes, roll-outs). Points: cells; lines: "
        "medians over seeds."
    )
    return {"context": (figure, caption)}


def _attention(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    figure, panels = _panels(1, 2, width=12)
    t = ScoreThresholds()
    steps = {
        "first": ("The first step after a kick", (t.kick_r2, t.lost_r2)),
        "4": ("Four steps after a kick", (t.kick_r2,)),
    }
    for panel, (step, (title, levels)) in zip(panels, steps.items(), strict=True):
        panels_of.plot_kinds(panel, frame, f"kicked.kick_r2_{step}", levels)
        panel.set_title(title, fontsize=10)
    caption = (
        "Kick response by kind of attention, a point for every cell. Dotted: Newtonian above, "
        "Keplerian below."
    )
    return {"attention": (figure, caption)}


def _extrapolation(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    masses: list[str] = list(dict.fromkeys(frame["mass"])) if "mass" in frame else [""]
    figure, panels = _panels(1, len(masses), width=7 * len(masses))
    for panel, mass in zip(panels, masses, strict=True):
        rows = frame[frame["mass"] == mass] if mass else frame
        fixed = len(set(mass.split())) <= 1
        title = "GM fixed" if fixed else f"M from {mass.replace(' ', ' to ')} M☉"
        panels_of.plot_loss_ratios(panel, rows, title)
    caption = (
        "Loss on sequences longer than those of training, over the loss at the training length. "
        "Thin: seeds; thick: medians."
    )
    return {"extrapolation": (figure, caption)}


def _laws(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    figure, panels = _panels(1, 2, width=12)
    panels_of.plot_exponents(panels[0], frame)
    panels_of.plot_recovered(panels[1], frame, "law")
    caption = "The exponents that were found against those of the laws that moved the orbits."
    return {"laws": (figure, caption)}


def _published(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    figure, panels = _panels(1, 2, width=14)
    panels_of.plot_transfer(panels[0], frame)
    panels_of.plot_recovered(panels[1], frame, "attention")
    caption = (
        "The published protocol: forces from a model fine-tuned on force magnitudes, beside what "
        "the same model's own predictions imply."
    )
    return {"published": (figure, caption)}


def _masses(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    figure, panels = _panels(1, 2, width=12)
    for panel, source in zip(panels, ("orbit", "kicked"), strict=True):
        panels_of.plot_powers(panel, frame, source)
        panel.set_title(SOURCES[source], fontsize=10)
    caption = (
        "Exponents of the distance and of the masses, which the symbolic step alone is given, a "
        "point for every cell. Dotted: those of the true law."
    )
    return {"masses": (figure, caption)}


DRAWERS: dict[str, Callable[[pd.DataFrame], dict[str, tuple[Figure, str]]]] = {
    "context": _context,
    "attention": _attention,
    "extrapolation": _extrapolation,
    "laws": _laws,
    "published": _published,
    "masses": _masses,
}


def _panels(rows: int, columns: int, width: float = 11.0) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, 4.2 * rows), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)
