"""Two kinds of attention on the same seeds: different, equivalent, or undecided."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from panels import panels
from scipy.stats import t

from orbits.palette import COLORS, CYCLE
from symreg import StudyFigure
from symreg.experiments.study_figure import finished

MARGINS = {
    ("displacement", "kick R²"): 0.1,
    ("displacement", "log10 of the far error"): 0.1,
    ("residual", "log10 of 1 − kick R²"): 0.2,
    ("residual", "log10 of the far error"): 0.1,
}
"""Largest mean difference that counts as none, by target and measure; fixed before the runs."""
MEASURES = {
    "kick R²": lambda frame: frame["kicked.kick_r2_1"].astype(float),
    "log10 of 1 − kick R²": lambda frame: np.log10(1 - frame["kicked.kick_r2_1"].astype(float)),
    "log10 of the far error": lambda frame: np.log10(frame["far.error"].astype(float)),
}


@dataclass(frozen=True)
class Equivalence:
    """Mean difference of pairs, with its 90 % and 95 % intervals.

    Attributes:
        mean: of the differences.
        high: half-width of the 90 % interval, for the two one-sided tests at 5 %.
        wide: half-width of the 95 % interval.
        pairs: how many.
        margin: largest difference that counts as none.
    """

    mean: float
    high: float
    wide: float
    pairs: int
    margin: float

    @property
    def words(self) -> str:
        """The conclusion."""
        said = []
        if abs(self.mean) + self.high < self.margin:
            said.append("equivalent")
        if abs(self.mean) > self.wide:
            said.append("different")
        return ", ".join(said) or "not decided"


def equivalence(differences: np.ndarray, margin: float) -> Equivalence:
    """Two one-sided tests on the mean of paired differences (Schuirmann 1987).

    Args:
        differences: (pair,).
        margin: largest difference that counts as none.

    Raises:
        ValueError: for fewer than two pairs.
    """
    pairs = len(differences)
    if pairs < 2:
        raise ValueError(f"{pairs} pairs; two or more are needed.")
    error = float(np.std(differences, ddof=1)) / np.sqrt(pairs)
    high, wide = (float(t.ppf(q, pairs - 1)) * error for q in (0.95, 0.975))
    return Equivalence(float(np.mean(differences)), high, wide, pairs, margin)


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Differences of LSSAR and softmax, pair by pair, with their margins."""
    figure, (axes,) = panels(1, 1, width=8)
    names = [f"{target}: {measure}" for target, measure in MARGINS]
    for key, (differences, found) in compared(frame).items():
        row = list(MARGINS).index(key)
        words = ("margin", "pairs", "mean, 90 % interval") if not axes.lines else [None] * 3
        axes.plot(
            [-found.margin, found.margin], [row, row], color="#dddddd", linewidth=12,
            solid_capstyle="butt",
            label=words[0], zorder=0,
        )  # fmt: skip
        beside = row + np.linspace(-0.25, 0.25, len(differences))
        axes.scatter(
            differences, beside, s=12, color=CYCLE[0], alpha=0.6, linewidths=0, label=words[1]
        )
        axes.errorbar(
            found.mean, row, xerr=found.high, fmt="o", color=COLORS["kicked"], label=words[2]
        )
        axes.text(1.02, row, found.words, va="center", transform=axes.get_yaxis_transform())
    drawn = bool(axes.lines)
    axes.axvline(0, color=COLORS["reference"], linestyle=":", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.set_xlabel("LSSAR less softmax, same seed")
    finished(axes, drawn)
    if drawn:  # below the rows, off the points
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 3}
        axes.legend(fontsize=8, frameon=False, **place)
    caption = (
        "Differences of pairs with the same seed (points), their mean with its 90 % interval, "
        "and the margin within which they count as none (grey); at the right, what follows."
    )
    return {"paired": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per target and measure: mean difference, interval, margin, conclusion."""
    return pd.DataFrame(
        {
            "target": target,
            "measure": measure,
            "pairs": found.pairs,
            "LSSAR less softmax": round(found.mean, 4),
            "90 % interval": f"{found.mean - found.high:.3f} to {found.mean + found.high:.3f}",
            "margin": found.margin,
            "said": found.words,
        }
        for (target, measure), (_, found) in compared(frame).items()
    )


def compared(frame: pd.DataFrame) -> dict[tuple[str, str], tuple[np.ndarray, Equivalence]]:
    """Differences of pairs, and the conclusion, by target and measure with two pairs or more."""
    every = {key: paired(frame, *key) for key in MARGINS}
    return {
        key: (each, equivalence(each, MARGINS[key])) for key, each in every.items() if len(each) > 1
    }


def paired(frame: pd.DataFrame, target: str, measure: str) -> np.ndarray:
    """(pair,) LSSAR's value minus softmax's, for common seeds."""
    if not {"kicked.kick_r2_1", "far.error", "attention", "target"} <= set(frame):
        return np.array([])
    of = frame[frame["target"] == target]
    values = MEASURES[measure](of).groupby([of["seed"], of["attention"]]).first().unstack()
    if not {"softmax", "lssar"} <= set(values):
        return np.array([])
    return (values["lssar"] - values["softmax"]).dropna().to_numpy()


FIGURE = StudyFigure(draw, summary)
