"""How much inertia is left in a target, and how right the force is of a model that learns it."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from panels import dotted, panels
from scipy.optimize import isotonic_regression

from orbits.palette import COLORS, CYCLE
from orbits.plot import labelled, plain_numbers
from symreg import StudyFigure
from symreg.experiments.study_figure import finished
from symreg.experiments.verdict import NEWTONIAN
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.targets import inertia

SHARE, FAR, KICK = "evaluate.acceleration_share", "far.error", "kicked.kick_r2_1"
CONTEXT, KIND, STEPS = "context_length", "attention", "steps"
USED = [SHARE, FAR, KICK, CONTEXT, KIND]
LEFT, NONE = "inertia left", 0.02
"""Root mean square of the last step's part in a target, over that of the second difference; and the
place of zero."""
MARKERS = "osD^v"
"""By kind of attention and time step."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Errors against the inertia left in the target, by context."""
    figure, drawn = panels(2, 2)
    known = usual(frame)
    plot_errors(drawn[0], known, FAR, "median relative error on far states")
    plot_errors(drawn[1], known, KICK, "1 − R² one step after a kick")
    plot_phases(drawn[2], known)
    plot_collapse(drawn[3], known)
    caption = (
        "Above: errors of the implied acceleration against the inertia that is left in the "
        "target, over the acceleration (0: the residual); colours: context, markers: attention "
        "and time step, lines: medians over seeds of softmax. Below, left: filled for the "
        "part of the cells that are Newtonian; right: the errors on far states against the one "
        "variable of the form inertia left · context^γ in which they scatter least."
    )
    return {"identify": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per attention, time step and target: its share, and by context the median error on
    far states, kick R² and the number of Newtonian cells."""
    axes = [name for name in (KIND, "dt", "target", STEPS) if name in frame]
    contexts = [f"C = {context}" for context in sorted(set(frame[CONTEXT]))]
    rows = []
    for place, part in frame.groupby(axes, sort=False):
        row = dict(zip(axes, place, strict=True)) | {"share": _rounded(_median(part, SHARE))}
        for context, cells in part.groupby(CONTEXT):
            newtonian = int((cells["world_model"] == NEWTONIAN).sum())
            row[f"C = {context}"] = (
                f"{100 * _median(cells, FAR):.3g} %, {_median(cells, KICK):.4g}, "
                f"{newtonian} of {len(cells)}"
            )
        rows.append(row)
    return pd.DataFrame(rows, columns=[*axes, "share", *contexts])


def _median(frame: pd.DataFrame, name: str) -> float:
    return float(frame[name].astype(float).median()) if name in frame else float("nan")


def usual(frame: pd.DataFrame) -> pd.DataFrame:
    """The cells trained as long as most, with every number drawn."""
    if not set(USED) <= set(frame):
        return frame.iloc[:0]
    if STEPS in frame:
        frame = frame[frame[STEPS] == frame[STEPS].mode().iloc[0]]
    frame = frame.dropna(subset=USED)
    frame = frame.astype({SHARE: float, FAR: float, KICK: float, CONTEXT: int})
    known = frame["target"].map(inertia).astype(float)
    # a step and the bend after it are correlated: the bend less half of itself is not
    left = np.sqrt(np.clip(1 / frame[SHARE] - known, 0, None)).where(known < 1, 0.0)
    return frame.assign(**{LEFT: left.map(_rounded)})


def _style(frame: pd.DataFrame) -> pd.Series:
    """(cell,) attention, and the time step where it varies."""
    words = frame[KIND].astype(str)
    if "dt" in frame and frame["dt"].nunique() > 1:
        words = words + frame["dt"].map(lambda dt: f", {float(dt):g} yr")
    return words


def plot_errors(axes: Axes, frame: pd.DataFrame, measure: str, words: str) -> Axes:
    """An error against the inertia left: a point for each cell, a line for each context."""
    if frame.empty:
        return finished(axes, False)
    contexts, styled = sorted(set(frame[CONTEXT])), _style(frame)
    styles = list(dict.fromkeys(styled))
    error = 1 - frame[measure] if measure == KICK else frame[measure]
    for context, color in zip(contexts, CYCLE, strict=False):
        here = frame[CONTEXT] == context
        for style, marker in zip(styles, itertools.cycle(MARKERS), strict=False):
            of = here & (styled == style)
            axes.scatter(
                _shown(frame[of]), error[of], s=18, marker=marker, linewidths=0.8,
                edgecolors=color, facecolors=color if marker == MARKERS[0] else "none",
            )  # fmt: skip
        of = here & (frame[KIND] == "softmax")
        line = error[of].groupby(_shown(frame[of])).median()
        axes.plot(line.index, line, color=color, linewidth=1.3, label=f"context {context}")
    for style, marker in zip(styles, itertools.cycle(MARKERS), strict=False):
        axes.scatter([], [], s=18, marker=marker, edgecolors="#555555", label=style,
                     facecolors="#555555" if marker == MARKERS[0] else "none")  # fmt: skip
    gate = 1 - THRESHOLDS.newtonian_r2 if measure == KICK else THRESHOLDS.far_error
    dotted(axes, gate)
    axes.set_xscale("log")
    axes.set_yscale("log")
    _ticks(axes)
    axes.set_ylabel(words)
    return finished(axes, True, columns=2)


def plot_phases(axes: Axes, frame: pd.DataFrame) -> Axes:
    """Inertia left and context, filled where the cells are Newtonian."""
    if frame.empty:
        return finished(axes, False)
    for context in sorted(set(frame[CONTEXT])):
        here = frame[frame[CONTEXT] == context]
        for at in sorted(set(_shown(here))):
            part = float((here.loc[_shown(here) == at, "world_model"] == NEWTONIAN).mean())
            axes.scatter(at, context, s=150, facecolors="none", edgecolors=COLORS["orbit"])
            axes.scatter(at, context, s=150, color=COLORS["orbit"], alpha=part, linewidths=0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_numbers(axes.yaxis, sorted(set(frame[CONTEXT])))
    axes.margins(0.12)
    blue = COLORS["orbit"]
    axes.scatter([], [], s=60, color=blue, label="every cell Newtonian")
    axes.scatter([], [], s=60, facecolors="none", edgecolors=blue, label="none")
    _ticks(axes)
    axes.set_ylabel("context length")
    return finished(axes, True)


def _shown(frame: pd.DataFrame) -> pd.Series:
    """(cell,) the inertia left, adapted to a logarithmic axis."""
    return frame[LEFT].clip(lower=NONE)


def _ticks(axes: Axes) -> None:
    plain_numbers(axes.xaxis, [NONE, 0.1, 1, 10])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: "0" if v == NONE else f"{v:g}"))
    axes.set_xlabel("inertia left in the target / acceleration")


def _rounded(share: float) -> float:
    """To two digits: seeds differ in orbits and so slightly in shares."""
    return float(f"{share:.1e}")


def one_variable(frame: pd.DataFrame) -> tuple[float, float]:
    """γ for which the far error best follows one rising curve of inertia left · context^γ.

    Args:
        frame: cells with every number, for targets with some inertia.

    Returns:
        γ, and the root mean square distance of log10 of the error from that curve.
    """
    error = np.log10(frame[FAR].to_numpy())

    def scatter(gamma: float) -> float:
        x = np.log(frame[LEFT].to_numpy()) + gamma * np.log(frame[CONTEXT].to_numpy())
        order = np.argsort(x)
        curve = isotonic_regression(error[order]).x
        return float(np.sqrt(np.mean((error[order] - curve) ** 2)))

    best = min(np.linspace(-1.0, 3.0, 81), key=scatter)
    return float(best), scatter(best)


def beyond_curve(frame: pd.DataFrame, first: pd.Series, gamma: float) -> pd.Series:
    """(cell,) log10 of the far error over what the rising curve of some cells predicts.

    Args:
        frame: cells with every number, for targets with some inertia.
        first: (cell,) those that make the curve; the others are put to it.
        gamma: of the variable inertia left · context^γ.
    """
    x = np.log10(frame[LEFT]) + gamma * np.log10(frame[CONTEXT].astype(float))
    error = np.log10(frame[FAR])
    order = x[first].argsort()
    curve = isotonic_regression(error[first].to_numpy()[order]).x
    return (error - np.interp(x, x[first].to_numpy()[order], curve))[~first]


def seed_scatter(frame: pd.DataFrame) -> float:
    """Root mean square distance of log10 of the far error from the mean over seeds."""
    axes = [name for name in (KIND, "dt", "target", CONTEXT) if name in frame]
    error = np.log10(frame[FAR])
    groups = error.groupby([frame[name] for name in axes])
    count = groups.transform("count")
    several = count > 1
    if not several.any():
        return float("nan")
    freedom = int(several.sum()) - int((1 / count[several]).sum().round())
    return float(np.sqrt(np.sum((error - groups.transform("mean"))[several] ** 2) / freedom))


def plot_collapse(axes: Axes, frame: pd.DataFrame) -> Axes:
    """The far error against one variable of the inertia left and the context."""
    frame = frame[frame[LEFT] > 0] if LEFT in frame else frame
    if len(frame) < 4:
        return finished(axes, False)
    gamma, scatter = one_variable(frame)
    one = frame[LEFT] * frame[CONTEXT].astype(float) ** gamma
    for context, color in zip(sorted(set(frame[CONTEXT])), CYCLE, strict=False):
        of = frame[CONTEXT] == context
        axes.scatter(one[of], frame.loc[of, FAR], s=18, color=color, label=f"context {context}")
    dotted(axes, THRESHOLDS.far_error)
    axes.set_xscale("log")
    axes.set_yscale("log")
    seeds = seed_scatter(frame)
    among = "" if np.isnan(seeds) else f"; among seeds ± {seeds:.2f}"
    x, y = f"inertia left · context^{gamma:.2f}", "median relative error on far states"
    return labelled(axes, x, y, f"About one curve: ± {scatter:.2f} in log10{among}")


FIGURE = StudyFigure(draw, summary)
