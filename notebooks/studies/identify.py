"""How much inertia is left in a target, and how right the force is of a model that learns it."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from panels import dotted, panels
from scipy.optimize import isotonic_regression

from orbits.palette import CYCLE
from orbits.plot import labelled, plain_numbers
from symreg import StudyFigure
from symreg.experiments.study_figure import finished
from symreg.experiments.verdict import OBEYS
from symreg.recovery.thresholds import THRESHOLDS
from worldmodel.targets import inertia

SHARE, FAR, KICK = "evaluate.acceleration_share", "far.error", "kicked.kick_r2_1"
CONTEXT, KIND, STEPS = "context_length", "attention", "steps"
USED = [SHARE, FAR, KICK, CONTEXT, KIND]
FAR_WORDS = "median relative error on far states"
LEFT, NONE = "inertia left", 0.02
"""Root mean square of the last step's part in a target, over that of the second difference; and the
place of zero."""


def draw(frame: pd.DataFrame) -> dict[str, tuple[Figure, str]]:
    """Errors against the inertia left in the target, by context."""
    figure, drawn = panels(1, 2)
    known = usual(frame)
    plot_errors(drawn[0], known)
    plot_collapse(drawn[1], known)
    caption = (
        "The more of the target is inertia, and the longer the context, the wronger the force. "
        "Left: the error on far states against the inertia left in the target, over the "
        "acceleration (0: the residual); points: single networks, lines: medians of softmax. "
        "Right: the same against the one variable of the form inertia left · context^γ in which "
        f"they scatter least. Dotted: {100 * THRESHOLDS.far_error:g} %, the most that a model "
        "with the field may err."
    )
    return {"identify": (figure, caption)}


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """A row per attention, time step and target: its share, and by context the median error on
    far states, kick R² and the number of cells with the field."""
    axes = [name for name in (KIND, "dt", "target", STEPS) if name in frame]
    contexts = [f"C = {context}" for context in sorted(set(frame[CONTEXT]))]
    rows = []
    for place, part in frame.groupby(axes, sort=False):
        row = dict(zip(axes, place, strict=True)) | {"share": _rounded(_median(part, SHARE))}
        for context, cells in part.groupby(CONTEXT):
            right = int(cells["world_model"].isin((*OBEYS, "Newtonian")).sum())
            row[f"C = {context}"] = (
                f"{100 * _median(cells, FAR):.3g} %, {_median(cells, KICK):.4g}, "
                f"{right} of {len(cells)}"
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


def plot_errors(axes: Axes, frame: pd.DataFrame) -> Axes:
    """The far error against the inertia left: a point for each cell, a line for each context."""
    if frame.empty:
        return finished(axes, False)
    for context, color in zip(sorted(set(frame[CONTEXT])), CYCLE, strict=False):
        here = frame[frame[CONTEXT] == context]
        axes.scatter(_shown(here), here[FAR], s=14, color=color, alpha=0.5, linewidths=0)
        soft = here[here[KIND] == "softmax"]
        line = soft[FAR].groupby(_shown(soft)).median()
        axes.plot(
            line.index, line, color=color, linewidth=1.5, label=f"{context} positions in view"
        )
    axes.set_xscale("log")
    _ticks(axes)
    _error_axis(axes)
    axes.set_title("More inertia in the target, more error", fontsize=10)
    return finished(axes, True)


def _error_axis(axes: Axes) -> None:
    """The far error in per cent, and the most that a verdict admits."""
    dotted(axes, THRESHOLDS.far_error)
    axes.set_yscale("log")
    plain_numbers(axes.yaxis, [0.01, 0.1, 1])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:g} %"))
    axes.set_ylabel(FAR_WORDS)


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
        axes.scatter(one[of], frame.loc[of, FAR], s=14, color=color, alpha=0.7, linewidths=0,
                     label=f"{context} positions in view")  # fmt: skip
    axes.set_xscale("log")
    _error_axis(axes)
    seeds = seed_scatter(frame)
    among = "" if np.isnan(seeds) else f", of seeds {seeds:.2f}"
    x = f"inertia left / acceleration · positions in view^{gamma:.2f}"
    title = f"... about one curve (scatter {scatter:.2f} in log10{among})"
    return labelled(axes, x, FAR_WORDS, title)


FIGURE = StudyFigure(draw, summary)
