"""Where a network holds its law, and where it has the field alone: errors by distance."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from panels import STYLES, dotted, panels

from orbits.palette import CYCLE
from orbits.plot import labelled
from symreg import StudyFigure
from symreg.experiments.study_figure import LABEL, finished, frequency, measured
from symreg.experiments.verdict import LAW, OBEYS
from worldmodel.examiner.answers import RIGHT
from worldmodel.examiner.questions import FARTHER
from worldmodel.examiner.shells import TRAINED

SHELLS = {TRAINED: "inside"} | {name: f"to {times:g}×" for name, times in FARTHER.items()}
SETTING = ["inputs", "outputs", "norm", "target", "attention", "context_length", "law"]
LAWS, CONTEXTS = "other laws", "contexts"
SETTINGS = {
    f"{side}, {words}": {"inputs": side, "outputs": side, "norm": norm}
    for side in ("logarithms", "coordinates")
    for norm, words in (("none", "no norm"), ("layer", "LayerNorm"))
}


def _error(shell: str) -> str:
    return f"far.shells_{shell}_share_error"


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Median errors by distance: of representations on the left, of laws on the right."""
    figure, (left, right) = panels(1, 2)
    label = frame.get(LABEL, pd.Series("", index=frame.index))
    newton = ~label.isin([LAWS, CONTEXTS])
    chosen = {
        name: frame[newton & (_of(frame, options | {"target": "residual"}))]
        for name, options in SETTINGS.items()
    }
    for style, attention in zip(STYLES, ("softmax", "lssar"), strict=False):
        known = {f"{name}, {attention}": part[_of(part, {"attention": attention})]
                 for name, part in chosen.items()}  # fmt: skip
        plot_shells(left, known, style)
    laws = frame[label == LAWS]
    if "law" in laws:
        plot_shells(right, {str(law): part for law, part in laws.groupby("law", sort=False)}, "-")
    for axes, title in ((left, "Newton's law, by representation"), (right, "Other laws")):
        dotted(axes, RIGHT)
        axes.set_yscale("log")
        axes.set_xticks(range(len(SHELLS)), [*SHELLS.values()])
        labelled(
            axes, "distance, over the farthest of training", "median error", title, legend=False
        )
        finished(axes, bool(axes.lines[1:]))
    caption = (
        "With logarithms of lengths in and out, and no norm, the error stays below 10 % (dotted) "
        "to ten times the distance of training, with either attention (dashed: LSSAR). Powers of "
        "the distance hold; a force that turns from one power to another does not. "
        "Points: networks; lines: medians over seeds."
    )
    return {"beyond": (figure, caption)}


def _of(frame: pd.DataFrame, options: dict[str, str]) -> pd.Series:
    """Rows with these options, as far as the table has them."""
    right = pd.Series(True, index=frame.index)
    for name, value in options.items():
        if name in frame:
            right &= frame[name] == value
    return right


def plot_shells(axes: Axes, parts: dict[str, pd.DataFrame], style: str) -> None:
    """Errors by shell: a point for every network, a line through the medians."""
    columns = [_error(shell) for shell in SHELLS]
    for (label, part), color in zip(parts.items(), CYCLE, strict=False):
        if measured(part, *columns):
            errors = part[columns].astype(float)
            for row in errors.to_numpy():
                axes.plot(range(len(SHELLS)), row, "o", color=color, alpha=0.5, markersize=3)
            axes.plot(range(len(SHELLS)), errors.median(), style, color=color, label=label)


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each setting: how many hold a law or have a field, errors and exponents."""
    axes = [name for name in SETTING if name in frame]
    rows = []
    for place, part in frame.groupby(axes, sort=False, dropna=False):
        row = dict(zip(axes, place, strict=True))
        row["law"] = row.get("law", "newton")
        row["holds a law"] = frequency(part["world_model"] == LAW)
        row["has the field"] = frequency(part["world_model"].isin(OBEYS))
        for shell, words in SHELLS.items():
            if measured(part, _error(shell)):
                row[f"error {words}"] = f"{100 * part[_error(shell)].astype(float).median():.3g} %"
        believed = "far.shells_tenfold_exponent_value"
        if measured(part, believed):
            values = part[believed].astype(float)
            truth = part["far.shells_tenfold_true_exponent"].astype(float).median()
            row["exponent to 10×"] = f"{values.min():.3g} to {values.max():.3g} ({truth:.3g})"
        rows.append(row)
    return pd.DataFrame(rows)


FIGURE = StudyFigure(draw, summary)
