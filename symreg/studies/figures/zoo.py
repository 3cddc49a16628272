"""Families of models side by side: what they know after a kick, and what can be decoded."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orbits.palette import COLORS, CYCLE
from symreg.studies.figures.base import THRESHOLDS, StudyFigure, finished, panels

LOWEST = -3.0
"""R² below this is drawn there."""


class ZooFigure(StudyFigure):
    """Families of models side by side."""

    name = "zoo"

    def draw(self, frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
        figure, drawn = panels(1, 2, width=14)
        named = frame.assign(family=families(frame))
        plot_kicks(drawn[0], named)
        plot_decoded(drawn[1], named)
        caption = (
            "Left: R² of the implied acceleration by family, best above; dotted, what the score "
            f"asks of a Newtonian model; below {LOWEST:g} drawn there. Right: what a linear probe "
            "decodes beside what the predictions use, of models whose activations were probed."
        )
        return {"zoo": (figure, caption)}


def families(frame: pd.DataFrame) -> pd.Series:
    """What each cell is, in words."""
    words = pd.Series("", index=frame.index, dtype=object)
    if "attention" in frame:
        length = frame["context_length"].astype("Int64").astype(str)
        words = frame["attention"].astype(str) + ", context " + length
    if "model" in frame:
        own = frame["model"].astype(object).where(frame["model"].notna(), "")
        short = own.map(lambda spec: spec.removeprefix("worldmodel.zoo.").removesuffix(":make"))
        words = short.where(short != "", words)
    return words


def plot_kicks(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² on undisturbed orbits, one and four steps after a kick; best families above."""
    column = "kicked.kick_r2_first"
    if column not in frame or frame[column].isna().all():
        return finished(axes, False)
    medians = frame.groupby("family")[column].median().sort_values(ascending=False)
    order = list(medians.index)
    for number, (name, label) in enumerate(
        {
            "orbit.r2": "undisturbed",
            column: "one step after a kick",
            "kicked.kick_r2_4": "four steps after",
        }.items()
    ):
        if name not in frame:
            continue
        known = frame[["family", name]].dropna()
        y = [order.index(family) + 0.2 * (number - 1) for family in known["family"]]
        r2 = known[name].astype(float).clip(lower=LOWEST)
        axes.scatter(r2, y, s=22, color=CYCLE[number], label=label)
    axes.set_yticks(range(len(order)), order)
    axes.invert_yaxis()
    axes.axvline(THRESHOLDS.newtonian_r2, color=COLORS["reference"], linestyle=":", linewidth=1)
    axes.set_xlabel("R² of the implied acceleration")
    return finished(axes, True)


def plot_decoded(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² of linear probes for the force against R² of the accelerations that are implied."""
    probes = [f"linear.{who}_force" for who in ("trained", "untrained")]
    if not set(probes) <= set(frame) or "orbit.r2" not in frame:
        return finished(axes, False)
    known = frame.dropna(subset=[probes[0], "orbit.r2"])
    order = list(dict.fromkeys(known["family"]))
    columns = {
        probes[0]: "linear probe for |F|",
        probes[1]: "the same, untrained",
        "orbit.r2": "implied by its predictions",
        "kicked.kick_r2_first": "one step after a kick",
    }
    for number, (name, label) in enumerate(columns.items()):
        r2 = known[name].astype(float).clip(lower=LOWEST)
        x = [order.index(family) + 0.15 * (number - 1.5) for family in known["family"]]
        axes.scatter(x, r2, s=28, color=CYCLE[number], label=label)
    axes.set_xticks(range(len(order)), order)
    axes.set_xlim(-0.6, len(order) - 0.4)
    axes.set_ylabel("R²")
    return finished(axes, True)


FIGURE = ZooFigure()
