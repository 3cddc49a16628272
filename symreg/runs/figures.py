"""Pictures of a recovered law: the field against r, kicks, training, Pareto fronts, arrows.

Every function draws on the Axes that it is given and returns it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from numpy.typing import NDArray

from orbits.records.force_samples import r_squared, varies, vectors
from orbits.units import GM_SUN
from symreg.recovery.tables import attraction

COLORS = {
    "orbit": "#4477aa",
    "kicked": "#cc6677",
    "planets": "#228833",
    "injected": "#777777",
    "untrained": "#ccaa33",
    "keplerian": "#aa3377",
}
REFERENCE_COLOR = "#222222"
MAX_POINTS = 3000
"""Points drawn in a scatter plot; more would only make the file larger."""

Curve = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Law = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]


def plot_field(
    axes: Axes,
    table: pd.DataFrame,
    reference: Law,
    recovered: Curve | None,
    *,
    title: str,
    color: str,
    label: str = "recovered",
) -> Axes:
    """Attraction against distance: what the model implies, the true law, the recovered formula.

    Args:
        axes: where to draw.
        table: force samples.
        reference: attraction of the true law by distance and GM, au and au^3/yr^2 to au/yr^2;
            drawn for the median GM of the table.
        recovered: the recovered formula by distance, or None where there is none.
        title: of the panel.
        color: of the points.
        label: of the recovered formula in the legend.
    """
    r, pull = attraction(table)
    shown = _thinned(len(r))
    positive = pull[shown] > 0
    axes.scatter(
        r[shown][positive], pull[shown][positive], s=5, color=color, alpha=0.35, linewidths=0,
        label="implied by the model", rasterized=True,
    )  # fmt: skip
    hidden = int(np.count_nonzero(pull <= 0))
    grid = np.geomspace(r.min(), r.max(), 200)
    gm = _gm(table)
    truth = reference(grid, np.full(len(grid), np.median(gm)))
    name = "true law, median GM" if varies(gm) else "true law"
    axes.plot(grid, truth, color=REFERENCE_COLOR, linewidth=1.2, label=name)
    if recovered is not None:
        values = recovered(grid)
        axes.plot(
            grid, np.where(values > 0, values, np.nan), color=color, linewidth=2.2,
            linestyle=(0, (4, 2)), label=label,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(truth.min() / 4, truth.max() * 4)
    _plain_ticks(axes)
    axes.set_xlabel("distance r (au)")
    axes.set_ylabel("attraction (au/yr²)")
    suffix = f"\n{hidden} of {len(r)} points repel, not shown" if hidden else ""
    axes.set_title(title + suffix, fontsize=10)
    axes.legend(fontsize=8, frameon=False, markerscale=3)
    return axes


def plot_residuals(
    axes: Axes, table: pd.DataFrame, reference: Law, *, title: str, color: str
) -> Axes:
    """Relative deviation from the true law against distance, with its median in 20 bins.

    The law is that of each row's own GM.
    """
    r, pull = attraction(table)
    deviation = 100 * (pull / reference(r, _gm(table)) - 1)
    shown = _thinned(len(r))
    axes.axhline(0, color=REFERENCE_COLOR, linewidth=1)
    axes.scatter(
        r[shown], deviation[shown], s=5, color=color, alpha=0.3, linewidths=0, rasterized=True
    )
    edges = np.quantile(r, np.linspace(0, 1, 21))
    bins = np.clip(np.searchsorted(edges, r, side="right") - 1, 0, 19)
    medians = pd.DataFrame({"bin": bins, "r": r, "deviation": deviation}).groupby("bin").median()
    axes.plot(medians["r"], medians["deviation"], color=color, linewidth=2, label="median")
    spread = float(np.quantile(np.abs(deviation), 0.95))
    limit = min(max(2 * spread, 1.0), 200.0)
    axes.set_ylim(-limit, limit)
    axes.set_xscale("log")
    _plain_ticks(axes)
    axes.set_xlabel("distance r (au)")
    axes.set_ylabel("deviation from the true law (%)")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def _gm(table: pd.DataFrame) -> NDArray[np.float64]:
    """(row,) GM of the centre, au^3/yr^2; the Sun's where the table does not say."""
    if "gm" in table:
        return np.asarray(table["gm"], dtype=float)
    return np.full(len(table), GM_SUN)


def kick_r2(table: pd.DataFrame) -> pd.Series:
    """R² of the implied acceleration vectors by `steps_since_kick`."""
    steps = table.groupby("steps_since_kick")
    found = {k: r_squared(vectors(rows, "a_"), vectors(rows, "true_a_")) for k, rows in steps}
    return pd.Series(found)


def plot_kicks(axes: Axes, tables: Mapping[str, pd.DataFrame], required: float) -> Axes:
    """R² of the implied acceleration against the steps since the kick.

    Args:
        axes: where to draw.
        tables: force samples of kicked states by curve (`kicked`, `injected`, `untrained`).
        required: the R² that the gate asks for.
    """
    for name, table in tables.items():
        values = kick_r2(table)
        axes.plot(
            values.index, values, marker="o", color=COLORS[name],
            label={"kicked": "the model", "injected": "true law injected",
                   "keplerian": "fitted ellipse"}.get(name, name),
        )  # fmt: skip
    axes.axhline(required, color=REFERENCE_COLOR, linestyle=":", linewidth=1)
    squeezed_r2(axes)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("steps since the kick")
    axes.set_ylabel("R² of the implied acceleration")
    axes.set_title("After a kick in mid-orbit", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def squeezed_r2(axes: Axes) -> Axes:
    """Give R² an axis that shows 0.97 apart from 1, and -100 too where something is as low."""
    lowest = axes.dataLim.y0 if math.isfinite(axes.dataLim.y0) else 0.0
    axes.set_yscale("function", functions=(_squeeze, _unsqueeze))
    axes.set_yticks([1, 0.97, 0.9, 0, -1, -10, -100])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.set_ylim(-1000 if lowest < -10 else -10, 1.003)
    return axes


def plot_training(axes: Axes, metrics: pd.DataFrame) -> Axes:
    """Training and held-out loss against the step."""
    for column, label, color in (
        ("loss", "training", COLORS["orbit"]),
        ("held_out_loss", "held out", COLORS["kicked"]),
    ):
        if column in metrics:
            known = metrics[["step", column]].dropna()
            axes.plot(known["step"], known[column], label=label, color=color, linewidth=1.2)
    axes.set_yscale("log")
    axes.set_xlabel("training step")
    axes.set_ylabel("loss (standardised)")
    axes.set_title("Training", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def plot_pareto_front(
    axes: Axes, fronts: Mapping[str, Sequence[Mapping[str, Any]]], chosen: Mapping[str, Any]
) -> Axes:
    """Loss against complexity of every candidate, the chosen one ringed.

    Args:
        axes: where to draw.
        fronts: candidates with `complexity`, `loss` and `expression`, by set of states.
        chosen: complexity of the chosen candidate by set of states.
    """
    for name, front in fronts.items():
        points = sorted((c["complexity"], c["loss"]) for c in front if c["loss"] is not None)
        if not points:
            continue
        best = np.minimum.accumulate([loss for _, loss in points])
        axes.step(
            [c for c, _ in points], np.maximum(best, 1e-16), where="post", color=COLORS[name],
            linewidth=1, alpha=0.7,
        )  # fmt: skip
        axes.scatter(
            [c for c, _ in points], [max(loss, 1e-16) for _, loss in points], s=14,
            color=COLORS[name], label=name,
        )  # fmt: skip
        if chosen.get(name) is not None:
            near = [loss for c, loss in points if c <= chosen[name]]
            if near:
                axes.scatter(
                    [chosen[name]], [max(min(near), 1e-16)], s=120, facecolors="none",
                    edgecolors=COLORS[name], linewidths=1.8,
                )  # fmt: skip
    axes.set_yscale("log")
    axes.set_xlabel("complexity (nodes)")
    axes.set_ylabel("loss")
    axes.set_title("Pareto fronts (ring: complexity of the law kept)", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def plot_arrows(
    axes: Axes, table: pd.DataFrame, truth: NDArray[np.float64], *, title: str, color: str
) -> Axes:
    """The force field as arrows in the plane of the orbits: the model's beside the true one.

    Args:
        axes: where to draw.
        table: force samples; some 150 rows, spread over the plane, are drawn.
        truth: (row, axis) true acceleration, au/yr^2.
        title: of the panel.
        color: of the model's arrows.
    """
    position = vectors(table)[:, :2]
    implied = vectors(table, "a_")[:, :2]
    chosen = _spread(position, 150)
    position, implied, truth = position[chosen], implied[chosen], truth[chosen, :2]
    truth, implied = _shortened(truth), _shortened(implied)
    scale = 8 * float(np.max(np.linalg.norm(truth, axis=1)))
    settings: dict[str, Any] = {"angles": "xy", "scale": scale, "scale_units": "width"}
    axes.quiver(*position.T, *truth.T, color="#bbbbbb", width=0.006, **settings)
    axes.quiver(*position.T, *implied.T, color=color, width=0.0025, **settings)
    axes.plot(0, 0, marker="*", color="#ddaa33", markersize=14, markeredgecolor="#886611")
    axes.set_aspect("equal")
    axes.set_xlabel("x (au)")
    axes.set_ylabel("y (au)")
    axes.set_title(title, fontsize=10)
    return axes


def _shortened(field: NDArray[np.float64]) -> NDArray[np.float64]:
    """Arrows as long as the fourth root of the pull: inner and outer ones stay visible."""
    return field * np.maximum(np.linalg.norm(field, axis=1, keepdims=True), 1e-12) ** -0.75


def _thinned(rows: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).permutation(rows)[:MAX_POINTS]


def _spread(position: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Indices of rows spread over the plane: at most one in a cell of a grid."""
    extent = float(np.quantile(np.abs(position), 0.98)) or 1.0
    cells = np.floor(position / extent * math.sqrt(count) / 2 * 1.3).astype(int)
    _, first = np.unique(cells, axis=0, return_index=True)
    inside = np.all(np.abs(position[first]) <= extent, axis=1)
    return np.sort(first[inside])


def _plain_ticks(axes: Axes) -> None:
    ticks = [t for t in (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10) if _within(axes, t)]
    axes.set_xticks(ticks)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _within(axes: Axes, tick: float) -> bool:
    low, high = axes.get_xlim()
    return low <= tick <= high


def _squeeze(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """R² on a scale that shows 0.97 apart from 1, and -100 too."""
    return -np.log10(1.01 - np.minimum(values, 1.009))


def _unsqueeze(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1.01 - 10.0 ** (-values)
