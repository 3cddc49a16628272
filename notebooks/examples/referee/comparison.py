"""Which probe can you trust? Every probe against the truth, over all networks.

    python notebooks/examples/referee/comparison.py notebooks/images/probes.csv probes.png

prints the table of the page and draws its figure. A network *has* Newton's force if the
acceleration that it implies is within 10 % on 95 % and more of the grid's states, behind smooth
and behind kicked arcs, and *has not* with 50 % and less of either; those between count for the rank
correlation alone.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from base import Probe, all_probes
from jaxtyping import Bool, Float
from scipy.stats import rankdata, spearmanr

from orbits.files import written_aside
from orbits.palette import CYCLE

HAS, HAS_NOT = 0.95, 0.5
SHARES = ["within_10", "kicked_within_10"]
"""Of the grid within 10 %, behind smooth and behind kicked arcs."""
SETTING = ["target", "context_length", "attention"]
"""What a cluster of the bootstrap shares: seeds and lengths of training are no new setting."""
DRAWS = 1000
HEADS = (
    "probe", "area under the curve", "within a target", "1000 steps and more",
    "false yes, missed yes at its line", "at the best line", "yes to another force",
    "rank correlation", "s",
)  # fmt: skip


def area(scores: Float[np.ndarray, " n"], has: Bool[np.ndarray, " n"]) -> float:
    """Chance that a network with the force scores higher than one without; ties count half."""
    if not 0 < has.sum() < len(has):
        return float("nan")
    above = rankdata(scores)[has].mean() - (has.sum() + 1) / 2  # of those without, on average
    return float(above / (~has).sum())


def area_within(scores: np.ndarray, has: np.ndarray, stratum: np.ndarray) -> float:
    """The same over pairs of networks of one stratum alone."""
    areas, pairs = [], []
    for value in np.unique(stratum):
        own = has[stratum == value]
        if 0 < own.sum() < len(own):
            areas.append(area(scores[stratum == value], own))
            pairs.append(own.sum() * (~own).sum())
    return float(np.average(areas, weights=pairs)) if areas else float("nan")


def interval(scores: np.ndarray, has: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """95 % of the area, by drawing whole clusters anew."""
    random = np.random.default_rng(0)
    members = [np.flatnonzero(cluster == value) for value in np.unique(cluster)]
    areas = []
    for _ in range(DRAWS):
        drawn = random.integers(len(members), size=len(members))
        rows = np.concatenate([members[place] for place in drawn])
        areas.append(area(scores[rows], has[rows]))
    low, high = np.nanquantile(areas, (0.025, 0.975))
    return float(low), float(high)


def best_line(scores: np.ndarray, has: np.ndarray) -> float:
    """The line at which false yes and missed yes add up to least."""
    lines = np.unique(scores)
    wrong = [np.mean(scores[~has] >= line) + np.mean(scores[has] < line) for line in lines]
    return float(lines[int(np.argmin(wrong))])


def share_right(table: pd.DataFrame) -> pd.Series:
    """Share of the grid within 10 %, behind smooth arcs or kicked ones, whichever is less."""
    return table[SHARES].min(axis=1)


def row(probe: Probe, name: str, table: pd.DataFrame) -> dict:
    """Everything that is said of a probe."""
    scores = table[name].fillna(table[name].min()).to_numpy(float)  # no answer is no yes
    newton = (table["law"] == "newton").to_numpy()
    share = share_right(table).to_numpy()
    judged = newton & ((share >= HAS) | (share <= HAS_NOT))
    has, own = share[judged] >= HAS, scores[judged]
    cluster = table.loc[judged, SETTING].astype(str).agg(" ".join, axis=1).to_numpy()
    half = np.unique(cluster, return_inverse=True)[1] % 2 == 0
    line = best_line(own[half], has[half])
    late = (table.loc[judged, "steps"] >= 1000).to_numpy()
    # another force: within 10 % of Newton's on half of the states at most, of its own on most
    other = (~newton) & (share <= HAS_NOT) & (table["own_within_10"] >= HAS).to_numpy()
    rest, known = own[~half], has[~half]
    return {
        "area": area(own, has),
        "interval": interval(own, has, cluster),
        "within": area_within(own, has, table.loc[judged, "target"].to_numpy()),
        "late": area(own[late], has[late]),
        "line": probe.line,
        "false_yes": _share(own[~has] >= probe.line) if probe.line is not None else None,
        "missed": _share(own[has] < probe.line) if probe.line is not None else None,
        "best_line": line,
        "best_false_yes": _share(rest[~known] >= line),
        "best_missed": _share(rest[known] < line),
        "other": _share(scores[other] >= line),
        "others": int(other.sum()),
        "rank": float(spearmanr(scores[newton], share[newton]).statistic),
        "seconds": float(table[f"{name}_seconds"].median()),
    }


def _share(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def read(path: str) -> pd.DataFrame:
    """The scores of all networks; ValueError if the file is none, or too small for a comparison."""
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no table of scores: {error}") from None
    probes = [name for name in all_probes() if name in table]
    needed = ["law", *SETTING, "steps", *SHARES, "own_within_10"]
    lacking = [name for name in (*needed, *(f"{p}_seconds" for p in probes)) if name not in table]
    if lacking or not probes:
        raise ValueError(f"{path} lacks the columns {', '.join(lacking) or 'of every probe'}.")
    for name in ("steps", *SHARES, "own_within_10", *probes):
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise ValueError(f"{path}: {name} holds what is no number.")
    share = share_right(table[table["law"] == "newton"])
    if not (share >= HAS).any() or not (share <= HAS_NOT).any():
        raise ValueError(f"{path} needs networks with Newton's force, and some without.")
    return table


def compare(table: pd.DataFrame) -> dict[str, dict]:
    """The rows of all probes, the best area first and the controls last."""
    probes = all_probes()
    rows = {name: row(probe, name, table) for name, probe in probes.items() if name in table}
    return dict(sorted(rows.items(), key=lambda item: (probes[item[0]].control, -item[1]["area"])))


def lines(rows: dict[str, dict]) -> list[tuple[str, ...]]:
    """The rows as the page shows them."""
    probes, shown = all_probes(), []
    for name, found in rows.items():
        low, high = found["interval"]
        own = "no line" if found["line"] is None else _percents(found["false_yes"], found["missed"])
        shown.append((
            probes[name].name, f"{found['area']:.2f} [{low:.2f}, {high:.2f}]",
            f"{found['within']:.2f}", f"{found['late']:.2f}", own,
            _percents(found["best_false_yes"], found["best_missed"]), f"{found['other']:.0%}",
            f"{found['rank']:.2f}", f"{found['seconds']:.2g}",
        ))  # fmt: skip
    return shown


def _percents(*shares: float) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def facts(table: pd.DataFrame) -> list[str]:
    """How many networks there are of each kind."""
    newton = table[table["law"] == "newton"]
    share, other = share_right(newton), table[table["law"] != "newton"]
    own = int(((other["own_within_10"] >= HAS) & (share_right(other) <= HAS_NOT)).sum())
    return [
        f"{len(table)} networks, {len(newton)} of Newton's orbits: {int((share >= HAS).sum())} "
        f"have the force, {int((share <= HAS_NOT).sum())} have not, "
        f"{int(((share > HAS_NOT) & (share < HAS)).sum())} between",
        f"{len(other)} of another force, {own} of which hold it and not Newton's",
    ]


def draw(table: pd.DataFrame, rows: dict[str, dict], path: Path) -> None:
    """A row for each probe: where networks with and without the force rank by its score."""
    probes = all_probes()
    share, newton = share_right(table).to_numpy(), (table["law"] == "newton").to_numpy()
    kinds = {
        "within 10 % on 95 % of states and more": newton & (share >= HAS),
        "on 50 % and less": newton & (share <= HAS_NOT),
        "another force": ~newton,
    }
    random = np.random.default_rng(0)
    figure, axes = plt.subplots(figsize=(8.5, 0.42 * len(rows) + 1.4), layout="constrained")
    for place, (name, found) in enumerate(rows.items()):
        scores = table[name].fillna(table[name].min()).to_numpy(float)
        rank = 100 * rankdata(scores) / len(scores)
        for height, color, chosen in zip((-0.22, 0.0, 0.22), CYCLE, kinds.values(), strict=False):
            axes.scatter(
                rank[chosen], place + height + random.uniform(-0.07, 0.07, chosen.sum()), s=9,
                color=color, alpha=0.55, linewidths=0,
            )  # fmt: skip
        low, high = found["interval"]
        axes.text(102, place, f"{found['area']:.2f} [{low:.2f}, {high:.2f}]", va="center", size=8)
    for color, words in zip(CYCLE, kinds, strict=False):
        axes.scatter([], [], s=20, color=color, label=words)
    axes.set_yticks(range(len(rows)), [probes[name].name for name in rows], size=9)
    axes.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6))
    axes.set_xlabel("rank of the probe's score among all networks, %")
    axes.text(102, -0.9, "area under the curve", size=8)
    axes.grid(axis="x", alpha=0.2)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.4, 1.01), ncols=3, frameon=False, fontsize=8,
        handletextpad=0.1, columnspacing=1,
    )  # fmt: skip
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=150, format="png")
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="scores of all networks, a CSV of networks.py")
    parser.add_argument("figure", type=Path, help="PNG to draw")
    options = parser.parse_args()
    if options.figure.resolve() == Path(options.table).resolve():
        parser.error(f"{options.figure} would overwrite the table; give another path.")
    try:
        table = read(options.table)
    except ValueError as error:
        parser.error(str(error))
    rows = compare(table)
    draw(table, rows, options.figure)
    print(*facts(table), sep="\n")
    print("\n| " + " | ".join(HEADS) + " |")
    print("|---" * len(HEADS) + "|")
    for line in lines(rows):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
