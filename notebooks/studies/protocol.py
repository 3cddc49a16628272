"""Forces that fine-tuned networks say, of held-out systems and of systems farther away."""

import pandas as pd
from matplotlib.figure import Figure
from panels import names_below, panels, plot_beside

from orbits.palette import CYCLE
from symreg import StudyFigure
from symreg.experiments.study_figure import finished, frequency, measured

PLACES = {
    "median_relative_error": "held-out systems",
    "error_twice": "up to twice the farthest labelled",
}
"""Columns of each learner, and where the force was asked for."""
NEWTON = ("exact", "up_to_scale")
"""Verdicts on a formula that is Newton's, its constant aside."""
USUAL = ("controls", "readouts", "seed")
"""Columns that make no setting of its own."""


def learners(frame: pd.DataFrame) -> list[str]:
    """What learned the labels, as the columns call it."""
    ends = [str(name) for name in frame if str(name).endswith(".median_relative_error")]
    return [name.removesuffix(".median_relative_error") for name in ends]


def words(learner: str) -> str:
    """A learner for a reader: `last block`, `network, size`."""
    of_untrained = learner.endswith("_untrained")
    inside = learner.removesuffix("_untrained").partition("(")[2].rstrip(")")
    options = dict(part.split("=") for part in inside.split(",") if part)
    said = [options.get("learner", "network").replace("_", " ")]
    said += ["shuffled labels"] * ("shuffled" in options)
    said += ["size"] * (options.get("target") != "vector")
    return ", ".join(said + ["untrained"] * of_untrained)


def newton(frame: pd.DataFrame, learner: str) -> pd.Series:
    """(cell,) whether its best formula is Newton's, which is a candidate of every search; cells
    without a formula are left out."""
    return frame[f"{learner}.verdict"].dropna().isin(NEWTON)


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Errors of the force, of held-out systems and of farther ones, by who learned it."""
    figure, drawn = panels(1, len(PLACES), width=13)
    asked = learners(frame)
    names, kinds = [words(each) for each in asked], list(dict.fromkeys(frame["attention"]))
    for axes, (column, title) in zip(drawn, PLACES.items(), strict=True):
        for number, learner in enumerate(asked):
            for kind, color in zip(kinds, CYCLE, strict=False):
                rows = frame[frame["attention"] == kind]
                if not measured(rows, f"{learner}.{column}"):
                    continue
                yes = rows[f"{learner}.verdict"].isin(NEWTON)
                for hollow, some in ((True, rows[~yes]), (False, rows[yes])):
                    plot_beside(
                        axes, names, pd.Series(words(learner), some.index),
                        some[f"{learner}.{column}"], 0.8 * kinds.index(kind) / len(kinds) - 0.4,
                        color, kind if number == 0 and hollow else "_", hollow,
                    )  # fmt: skip
        if asked:
            names_below(axes, names)
            axes.set_yscale("log")
            axes.set_ylabel("median relative error of the force")
        axes.set_title(title, fontsize=10)
        finished(axes, bool(asked))
    caption = (
        "Errors of the force that fine-tuned networks say, a point for each network: filled where "
        "the best formula for the forces of held-out systems has Newton's form."
    )
    return {"protocol": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each setting and learner: R² held out and farther away, and how often Newton's is
    the best formula, and found."""
    axes = [name for name in frame.attrs.get("axes", ["attention"]) if name not in USUAL]
    rows = []
    for setting, part in frame.groupby(axes, sort=False, dropna=False):
        for learner in learners(part):
            known = part[part[f"{learner}.r2"].notna()]
            if known.empty:
                continue
            place = dict(zip(axes, setting, strict=True))
            rows.append(place | {"learner": words(learner)} | _row(known, learner))
    return pd.DataFrame(rows)


def _row(part: pd.DataFrame, learner: str) -> dict[str, str]:
    shown = {"R² held out": "r2", "error held out": "median_relative_error",
             "R² to twice": "r2_twice", "error to twice": "error_twice"}  # fmt: skip
    row = {}
    for title, column in shown.items():
        low, middle, high = part[f"{learner}.{column}"].astype(float).quantile([0, 0.5, 1])
        row[title] = f"{middle:.3g} ({low:.3g} to {high:.3g})"
    yes = newton(part, learner)
    found = yes & (part.loc[yes.index, f"{learner}.status"] == "found")
    return row | {"Newton's is best": frequency(yes), "and found": frequency(found)}


FIGURE = StudyFigure(draw, summary)
