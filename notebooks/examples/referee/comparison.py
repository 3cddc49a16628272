"""Which probe can you trust? Every probe against the truth, over all networks.

    python notebooks/examples/referee/comparison.py notebooks/images/probes.csv probes.png

prints the tables of the page and draws its figure. The truth is a share: of the grid's states on
which the acceleration that a network implies is within 10 % of Newton's, behind smooth or kicked
arcs, whichever is less. No network is left out.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from base import all_probes
from jaxtyping import Bool, Float
from lessons import LESSONS
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orbits.files import written_aside

HAS = 0.95
"""Of the grid: a network *has* the force from this share on. For thresholds alone."""
SHARES = ["within_10", "kicked_within_10"]
"""Of the grid within 10 %, behind smooth and behind kicked arcs."""
OPTIONS = ["target", "context_length", "attention", "seed", "steps"]
"""What the configuration says of a network, apart from its lesson."""
SETTING = ["lesson", "target", "context_length"]
"""What a cluster of the bootstrap shares: seeds are no new setting."""
DRAWS, HALVES = 1000, 100
WITHOUT, WITH, NEW = "options alone", "options and lesson", "options and lesson, lesson unseen"
HEADS = (
    "probe", "area", "above options alone", "false positives, negatives at its own threshold",
    "at the best threshold", "s",
)  # fmt: skip


def share_right(table: pd.DataFrame) -> pd.Series:
    """Share of the grid within 10 %, behind smooth arcs or kicked ones, whichever is less."""
    return table[SHARES].min(axis=1)


def settings_of(table: pd.DataFrame) -> np.ndarray:
    """(network,) number of its setting."""
    names = table[SETTING].astype(str).agg(" ".join, axis=1)
    return np.unique(names, return_inverse=True)[1]


def areas(
    scores: Float[np.ndarray, " n"],
    share: Float[np.ndarray, " n"],
    weights: Float[np.ndarray, "draw n"],
) -> Float[np.ndarray, " draw"]:
    """Chance that of two networks of unequal share the one with more scores higher; equal scores
    count half. It is (1 + D) / 2 with Somers' D (American Sociological Review 27, 799, 1962), and
    the area under the ROC curve if the share is 0 or 1. Networks count by their weights."""
    unequal = np.sign(share[:, None] - share)
    agree = unequal * np.sign(scores[:, None] - scores)
    pairs = np.einsum("dn,nm,dm->d", weights, np.abs(unequal), weights, optimize=True)
    return 0.5 + 0.5 * np.einsum("dn,nm,dm->d", weights, agree, weights, optimize=True) / pairs


def draws(setting: np.ndarray) -> Float[np.ndarray, "draw n"]:
    """How often each network counts: first as it is, then whole settings drawn anew."""
    random, number = np.random.default_rng(0), setting.max() + 1
    drawn = [
        np.bincount(random.integers(number, size=number), minlength=number) for _ in range(DRAWS)
    ]
    return np.stack([np.ones(len(setting)), *(each[setting] for each in drawn)]).astype(float)


def options_alone(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Scores of a logistic model that reads the configuration and no network, each for networks
    of settings, or of lessons, that it was not fitted to."""
    has, setting = share_right(table) >= HAS, settings_of(table)
    bare, told = (
        pd.get_dummies(table[names].astype(str)).to_numpy(float)
        for names in (OPTIONS, [*OPTIONS, "lesson"])
    )
    model, folds = make_pipeline(StandardScaler(), LogisticRegression()), min(10, setting.max() + 1)
    ways = {
        WITHOUT: (bare, GroupKFold(folds), setting),
        WITH: (told, GroupKFold(folds), setting),
        NEW: (told, LeaveOneGroupOut(), table["lesson"]),
    }
    return {
        name: cross_val_predict(model, x, has, groups=groups, cv=cv, method="predict_proba")[:, 1]
        for name, (x, cv, groups) in ways.items()
    }


def best_threshold(scores: np.ndarray, has: np.ndarray) -> float:
    """The threshold at which false positives and false negatives add up to least."""
    lines = np.unique(scores)
    wrong = [np.mean(scores[~has] >= line) + np.mean(scores[has] < line) for line in lines]
    return float(lines[int(np.argmin(wrong))])


def at_best(
    scores: np.ndarray, has: np.ndarray, setting: np.ndarray
) -> tuple[Float[np.ndarray, " n"], float]:
    """How often each network gets a yes at the threshold that is best for a random half of the
    settings, to which it does not belong; and the median threshold."""
    random, number = np.random.default_rng(1), setting.max() + 1
    yes, asked, thresholds = np.zeros(len(has)), np.zeros(len(has)), []
    while len(thresholds) < HALVES:
        half = np.isin(setting, random.permutation(number)[: number // 2])
        if not 0 < has[half].sum() < half.sum():
            continue
        thresholds.append(best_threshold(scores[half], has[half]))
        yes[~half] += scores[~half] >= thresholds[-1]
        asked[~half] += 1
    return yes / np.maximum(asked, 1), float(np.median(thresholds))


def compare(table: pd.DataFrame) -> dict[str, dict]:
    """Everything that is said of each probe, the best area first and the controls last."""
    probes, setting = all_probes(), settings_of(table)
    share, weights = share_right(table).to_numpy(), draws(setting)
    has, lesson = share >= HAS, table["lesson"].to_numpy()
    read = {
        name: table[name].fillna(table[name].min()).to_numpy(float)
        for name in probes
        if name in table
    }
    options = options_alone(table)
    alone = areas(options[WITHOUT], share, weights)
    rows = {}
    for name, scores in {**read, **options}.items():
        found = areas(scores, share, weights)
        yes, threshold = at_best(scores, has, setting)
        probe = probes.get(name)
        own = None if probe is None else probe.threshold
        rows[name] = {
            "name": probe.name if probe else name,
            "control": probe is None or probe.control,
            "area": float(found[0]),
            "interval": tuple(np.quantile(found[1:], (0.025, 0.975))),
            "above": float(np.quantile(found[1:] - alone[1:], 0.025)) > 0,
            "threshold": own,
            "false_yes": None if own is None else _mean(scores[~has] >= own),
            "missed": None if own is None else _mean(scores[has] < own),
            "best_threshold": threshold,
            "best_false_yes": _mean(yes[~has]),
            "best_missed": _mean(1 - yes[has]),
            "fooled": {each: _mean(yes[~has & (lesson == each)]) for each in LESSONS},
            "seconds": float(table[f"{name}_seconds"].median()) if probe else 0.0,
        }
    return dict(sorted(rows.items(), key=lambda item: (item[1]["control"], -item[1]["area"])))


def _mean(values: Bool[np.ndarray, " n"] | Float[np.ndarray, " n"]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def read(path: str) -> pd.DataFrame:
    """The scores of all networks; ValueError if the file is none, or too small for a comparison."""
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is no table of scores: {error}") from None
    probes = [name for name in all_probes() if name in table]
    needed = [*SETTING, *OPTIONS, *SHARES]
    lacking = [name for name in (*needed, *(f"{p}_seconds" for p in probes)) if name not in table]
    if lacking or not probes:
        raise ValueError(f"{path} lacks the columns {', '.join(lacking) or 'of every probe'}.")
    for name in ("steps", *SHARES, *probes):
        if not pd.api.types.is_numeric_dtype(table[name]):
            raise ValueError(f"{path}: {name} holds what is no number.")
    has, setting = share_right(table) >= HAS, settings_of(table)
    if min(len(set(setting[has])), len(set(setting[~has]))) < 2:
        raise ValueError(
            f"{path} needs networks with Newton's force, and some without, of two settings each."
        )
    return table


def lines(rows: dict[str, dict]) -> list[tuple[str, ...]]:
    """The rows as the page shows them."""

    def own(found: dict) -> str:
        none = found["threshold"] is None
        return "none" if none else _percents(found["false_yes"], found["missed"])

    return [
        (
            found["name"], "{:.2f} [{:.2f}, {:.2f}]".format(found["area"], *found["interval"]),
            "" if found["control"] else "yes" if found["above"] else "no", own(found),
            _percents(found["best_false_yes"], found["best_missed"]), f"{found['seconds']:.2g}",
        )
        for found in rows.values()
    ]  # fmt: skip


def _percents(*shares: float) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def fooling(table: pd.DataFrame) -> dict[str, int]:
    """How many networks of each lesson lack the force; lessons with none are left out."""
    lack = table.loc[share_right(table) < HAS, "lesson"]
    return {name: int((lack == name).sum()) for name in LESSONS if (lack == name).any()}


def fooled(table: pd.DataFrame, rows: dict[str, dict]) -> list[tuple[str, ...]]:
    """Which probe is fooled by what: yes to networks without the force, by lesson."""
    kinds = fooling(table)
    shown = [("probe", *(f"{name} ({count})" for name, count in kinds.items()))]
    return shown + [
        (found["name"], *(f"{found['fooled'][name]:.0%}" for name in kinds))
        for found in rows.values() if not found["control"]
    ]  # fmt: skip


def facts(table: pd.DataFrame) -> list[str]:
    """How many networks there are of each kind."""
    share, settings = share_right(table), len(set(settings_of(table)))
    has, less = int((share >= HAS).sum()), int((share < 0.5).sum())
    return [
        f"{len(table)} networks of {settings} settings: {has} are right on {HAS:.0%} of the states "
        f"and more, {less} on less than half",
    ]


def taught(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """What each lesson taught: networks, and the shares of the grid that they have right."""
    shown = [("lesson", "networks", "with the force", "share right: median", "least", "most")]
    for name in LESSONS:
        share = share_right(table[table["lesson"] == name])
        if len(share):
            parts = (share.median(), share.min(), share.max())
            shown.append((
                name, str(len(share)), str(int((share >= HAS).sum())), *(f"{x:.0%}" for x in parts)
            ))  # fmt: skip
    return shown


def past_ignored(table: pd.DataFrame) -> pd.Series:
    """Change of the acceleration by the past, with its sign turned: the median over the networks of
    each context, those that an ellipse taught apart."""
    ellipse = (table["lesson"] == "ellipse").rename("taught by the ellipse")
    return table.groupby([ellipse, "context_length"])["followed"].median()


def draw(table: pd.DataFrame, rows: dict[str, dict], path: Path) -> None:
    """The area of each probe, and beside it the lessons that fool it."""
    kinds = fooling(table)
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.5, 0.34 * len(rows) + 1.8), layout="constrained", sharey=True,
        width_ratios=(1, 1.1),
    )  # fmt: skip
    found = list(rows.values())
    for place, each in enumerate(found):
        color = "#888888" if each["control"] else "#1f4e9c"
        left.plot(each["interval"], (place, place), color=color, linewidth=2)
        left.plot(each["area"], place, "o", color=color, markersize=6)
    left.axvspan(*rows[WITHOUT]["interval"], color="#888888", alpha=0.2, linewidth=0)
    left.set_yticks(range(len(found)), [each["name"] for each in found])
    left.set(xlim=(0, 1.02), ylim=(len(found) - 0.4, -0.6))
    left.set_xlabel("chance that the network with the larger\nshare right scores higher (95 %)")
    left.set_title("grey band: options alone", size=10)
    left.grid(axis="x", alpha=0.2)
    yes = np.array([[each["fooled"][name] for name in kinds] for each in found])
    right.imshow(yes, cmap="OrRd", vmin=0, vmax=1, aspect="auto")
    for (place, column), share in np.ndenumerate(yes):
        color = "white" if share > 0.6 else "black"
        right.text(
            column, place, f"{100 * share:.0f}", ha="center", va="center", size=8, color=color
        )
    right.set_xticks(range(len(kinds)), kinds, rotation=40, ha="right")
    right.set_title("yes to networks without the force, %", size=10)
    with written_aside(path) as aside:
        figure.savefig(aside, dpi=130, format="png")
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
    print(*facts(table), past_ignored(table), sep="\n")
    for head, *body in (taught(table), [HEADS, *lines(rows)], fooled(table, rows)):
        print("\n| " + " | ".join(head) + " |")
        print("|---" * len(head) + "|")
        for line in body:
            print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
