"""Families of models side by side: what they know after a kick, and what can be decoded."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panels import dotted, names_below, panels, plot_beside

from orbits.palette import CYCLE
from orbits.plot import squeezed_r2
from symreg import StudyFigure
from symreg.experiments.study_figure import finished, measured
from symreg.recovery.thresholds import THRESHOLDS

KICK = "kicked.kick_r2_first"
TRAINING = ("processor_seconds.model", "processor_seconds.model.json")
KICKS = {
    "undisturbed": "orbit.r2",
    "one step after a kick": KICK,
    "four steps after": "kicked.kick_r2_4",
}
PROBED = "linear.trained_force"
DECODED = {
    "linear probe for |F|": (PROBED, "linear.untrained_force"),
    "implied, undisturbed": ("orbit.r2", ""),
    "implied, after kicks": ("kicked.r2", "untrained.r2"),
}
"""Knowledge of the force: columns of the trained and the untrained model."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Families of models side by side."""
    figure, drawn = panels(1, 2, width=15)
    named = frame.assign(family=families(frame))
    plot_kicks(drawn[0], named)
    plot_decoded(drawn[1], named)
    caption = (
        "Left: R² of the implied acceleration by family, best first; dotted, what the score "
        "asks of a Newtonian model. Right: what a linear probe decodes beside what the "
        "predictions imply, of models whose activations were probed; open, untrained."
    )
    return {"zoo": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per family, by kick R²: medians over its seeds."""
    named = frame.assign(family=families(frame))
    rows = [_row(family, cells) for family, cells in named.groupby("family", sort=False)]
    found = pd.DataFrame(rows)
    return found.sort_values("kick R²", ascending=False, ignore_index=True)


def _row(family: object, cells: pd.DataFrame) -> dict[str, object]:
    def median(*names: str) -> float | None:
        known = [cells[name].astype(float) for name in names if name in cells]
        values = pd.concat(known).dropna() if known else pd.Series(dtype=float)
        return None if values.empty else float(values.median())

    kicks = cells[KICK].astype(float) if KICK in cells else pd.Series(dtype=float)
    words = cells["world_model"].value_counts()
    law = None
    if kicks.notna().any():
        middle = int((kicks - kicks.median()).abs().fillna(np.inf).to_numpy().argmin())
        law = cells["kicked.expression"].iloc[middle]
    return {
        "family": family,
        "seeds": len(cells),
        "kick R²": median(KICK),
        "lowest": float(kicks.min()) if len(kicks) else None,
        "after 4 steps": median("kicked.kick_r2_4"),
        "undisturbed": median("orbit.r2"),
        "roll-out error, 16 steps": median("evaluate.error_16"),
        "formula off kicked states": None if law is None else str(law).replace("**", "^"),
        "recovered": int((cells["recovered"] == True).sum()),  # noqa: E712 - None where not asked
        "world model": ", ".join(f"{word} {count}" for word, count in words.items()),
        "training, processor s": median(*TRAINING),
        "all, processor s": median("processor_seconds"),
    }


def families(frame: pd.DataFrame) -> pd.Series:
    """What each cell is, in words."""
    words = pd.Series("", index=frame.index, dtype=object)
    if "attention" in frame:
        length = frame["context_length"].astype("Int64").astype(str)
        words = frame["attention"].astype(str) + ", context " + length
    if "model" in frame:
        own = frame["model"].astype(object).where(frame["model"].notna(), "")
        short = own.map(lambda spec: Path(spec).name.removesuffix(":make").replace(".py", ""))
        words = short.str.replace(":", ", ").str.replace("_", " ").where(short != "", words)
    return words


def plot_kicks(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² on undisturbed orbits, one and four steps after a kick; best families first."""
    if not measured(frame, KICK):
        return finished(axes, False)
    medians = frame.groupby("family")[KICK].median().sort_values(ascending=False)
    for number, (label, name) in enumerate(KICKS.items()):
        if name in frame:
            known, shift = frame.dropna(subset=[name]), 0.2 * (number - 1)
            family, values = known["family"], known[name]
            plot_beside(axes, list(medians.index), family, values, shift, CYCLE[number], label)
    names_below(axes, list(medians.index))
    squeezed_r2(axes)
    dotted(axes, THRESHOLDS.field_r2)
    axes.set_ylabel("R² of the implied acceleration")
    return finished(axes, True)


def plot_decoded(axes: Axes, frame: pd.DataFrame) -> Axes:
    """R² of linear probes for the force beside R² of the implied accelerations."""
    if not measured(frame, PROBED):
        return finished(axes, False)
    known = frame.dropna(subset=[PROBED])
    order = list(dict.fromkeys(known["family"]))
    for number, (label, columns) in enumerate(DECODED.items()):
        for hollow, column in enumerate(columns):
            if column in known:
                shift = 0.22 * (number - 1) + 0.07 * hollow
                words = f"{label}, untrained" if hollow else label
                family, values = known["family"], known[column]
                plot_beside(
                    axes, order, family, values, shift, CYCLE[number], words, hollow=bool(hollow)
                )
    axes.set_xticks(range(len(order)), order)
    axes.set_xlim(-0.6, len(order) - 0.4)
    squeezed_r2(axes)
    axes.set_ylabel("R²")
    return finished(axes, True, beside=True)


FIGURE = StudyFigure(draw, summary)
