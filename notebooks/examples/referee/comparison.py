"""Which probe can you trust? Every probe against the truth, over all networks.

    python notebooks/examples/referee/comparison.py notebooks/images/probes.csv probes.png

prints the tables of the page and draws its figure. The truth is a label: a network has the force if
the acceleration that it implies is within 10 % of Newton's on at least 95 % of the grid's states,
behind smooth and behind kicked arcs. No network is left out.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from base import all_probes
from jaxtyping import Bool, Float
from lessons import LESSONS
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from orbits.files import written_aside
from orbits.palette import CYCLE
from orbits.plot import own_style

HAS = 0.95
"""Of the grid: a network *has* the force from this share on."""
SHARES = ["within_10", "kicked_within_10"]
"""Of the grid within 10 %, behind smooth and behind kicked arcs."""
OPTIONS = ["target", "context_length", "attention", "seed", "steps"]
"""What the configuration says of a network, apart from its lesson."""
SETTING = ["lesson", "target", "context_length"]
"""What a cluster of the bootstrap shares: seeds are no new setting."""
DRAWS = 1000
WITHOUT, WITH, NEW = "options alone", "options and lesson", "options and lesson, lesson unseen"
HEADS = ("probe", "area [95 %]", "above the options", "passes without", "misses with")
TRAINED = (
    "exchange", "formula_tuned", "inductive_bias", "linear_above_untrained", "linear_force",
    "newton_kepler", "transfer_frozen", "transfer_tuned",
)  # fmt: skip
"""Probes that fit something to the layers, or train a copy; the others ask the predictions."""


def share_right(table: pd.DataFrame) -> pd.Series:
    """Share of the grid within 10 %, behind smooth arcs or kicked ones, whichever is less."""
    return table[SHARES].min(axis=1)


def settings_of(table: pd.DataFrame) -> np.ndarray:
    """(network,) number of its setting."""
    names = table[SETTING].astype(str).agg(" ".join, axis=1)
    return np.unique(names, return_inverse=True)[1]


def areas(
    scores: Float[np.ndarray, " n"], has: Bool[np.ndarray, " n"], weights: Float[np.ndarray, "d n"]
) -> Float[np.ndarray, " d"]:
    """The area under the ROC curve: the chance that a network with the force scores higher than one
    without; equal scores count half. Networks count by their weights."""
    ahead = 0.5 + 0.5 * np.sign(scores[has][:, None] - scores[~has])
    yes, no = weights[:, has], weights[:, ~has]
    return np.einsum("dy,yn,dn->d", yes, ahead, no, optimize=True) / (yes.sum(1) * no.sum(1))


def draws(setting: np.ndarray, has: np.ndarray) -> Float[np.ndarray, "draw n"]:
    """How often each network counts: first as it is, then whole settings drawn anew, as long as
    networks of both kinds are among them."""
    random, number = np.random.default_rng(0), setting.max() + 1
    drawn = [np.ones(len(setting))]
    while len(drawn) <= DRAWS:
        count = np.bincount(random.integers(number, size=number), minlength=number)[setting]
        if count[has].any() and count[~has].any():
            drawn.append(count.astype(float))
    return np.stack(drawn)


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


def compare(table: pd.DataFrame) -> dict[str, dict]:
    """Everything that is said of each probe, the best area first and the controls last."""
    probes, setting = all_probes(), settings_of(table)
    has = (share_right(table) >= HAS).to_numpy()
    weights = draws(setting, has)
    read = {
        name: table[name].fillna(table[name].min()).to_numpy(float)
        for name in probes
        if name in table
    }
    options = options_alone(table)
    alone = areas(options[WITHOUT], has, weights)
    rows = {}
    for name, scores in {**read, **options}.items():
        found = areas(scores, has, weights)
        probe = probes.get(name)
        own = None if probe is None else probe.threshold
        rows[name] = {
            "name": probe.name if probe else name,
            "control": probe is None or probe.control,
            "area": float(found[0]),
            "interval": tuple(np.quantile(found[1:], (0.025, 0.975))),
            "above": float(np.quantile(found[1:] - alone[1:], 0.025)) > 0,
            "threshold": own,
            "false_yes": None if own is None else counted(scores[~has] >= own),
            "missed": None if own is None else counted(scores[has] < own),
            "best_threshold": best_threshold(scores, has),
        }
    return dict(sorted(rows.items(), key=lambda item: (item[1]["control"], -item[1]["area"])))


def counted(of: Bool[np.ndarray, " n"]) -> tuple[int, int, float, float]:
    """How many of how many, and the exact 95 % interval of the share (Clopper and Pearson)."""
    low, high = binomtest(int(of.sum()), len(of)).proportion_ci()
    return int(of.sum()), len(of), float(low), float(high)


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
    return [
        (
            each["name"], "{:.3f} [{:.2f}, {:.2f}]".format(each["area"], *each["interval"]),
            "" if each["control"] else "yes" if each["above"] else "no",
            *("–" if each[key] is None else str(each[key][0]) for key in ("false_yes", "missed")),
        )
        for each in rows.values()
    ]  # fmt: skip


def facts(table: pd.DataFrame) -> list[str]:
    """How many networks there are of each kind."""
    share, settings = share_right(table), len(set(settings_of(table)))
    has, less = int((share >= HAS).sum()), int((share < 0.5).sum())
    return [
        f"{len(table)} networks of {settings} settings: {has} are right on {100 * HAS:.0f} % of "
        f"the states and more, {less} on less than half",
    ]


def taught(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """What each lesson taught: networks, and the shares of the grid that they have right."""
    shown = [("lesson", "with the force", "share right, %", "least–most")]
    for name in LESSONS:
        share = share_right(table[table["lesson"] == name])
        if len(share):
            middle, low, high = (100 * x for x in (share.median(), share.min(), share.max()))
            some = f"{(share >= HAS).sum()} of {len(share)}"
            shown.append((name, some, f"{middle:.0f}", f"{low:.0f}–{high:.0f}"))
    return shown


def past_ignored(table: pd.DataFrame) -> pd.Series:
    """Change of the acceleration by the past, with its sign turned: the median over the networks of
    each context, those that an ellipse taught apart."""
    ellipse = (table["lesson"] == "ellipse").rename("taught by the ellipse")
    return table.groupby([ellipse, "context_length"])["followed"].median()


@own_style()
def draw(rows: dict[str, dict], path: Path) -> None:
    """The area of each probe; beside it, who passes at its own threshold."""
    shown = [each for name, each in rows.items() if not each["control"]]
    inside = {rows[name]["name"] for name in TRAINED}
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 6), layout="constrained", sharey=True, width_ratios=(1.2, 1)
    )  # fmt: skip
    names = [each["name"] for each in shown]
    for label, color, of in (
        ("asks the predictions", CYCLE[0], [n for n in names if n not in inside]),
        ("fits the layers, or trains a copy", CYCLE[1], [n for n in names if n in inside]),
    ):
        each = [found for found in shown if found["name"] in of]
        area, low, high = np.array([(e["area"], *e["interval"]) for e in each]).T
        left.errorbar(
            area, [names.index(n) for n in of], xerr=(area - low, high - area), fmt="o",
            color=color, label=label,
        )  # fmt: skip
    left.axvspan(*rows[WITHOUT]["interval"], color="#888888", alpha=0.2, linewidth=0,
                 label="the training options alone")  # fmt: skip
    left.axvline(0.5, color="#888888", linestyle=":", linewidth=1)
    left.set_yticks(range(len(names)), names)
    left.set(xlim=(0.15, 1.02), ylim=(len(names) - 0.4, -0.6))
    left.set_xlabel("area under the ROC curve (95 %)")
    left.set_title("Tests of the predictions rank best", fontsize=10)
    left.legend(loc="upper left", fontsize=8)
    for key, marker, color, label in (
        ("false_yes", "s", CYCLE[1], "of networks without the force, passed"),
        ("missed", "o", CYCLE[0], "of networks with the force, missed"),
    ):
        for place, each in enumerate(shown):
            if each[key] is not None:
                count, total, low, high = each[key]
                right.plot((100 * low, 100 * high), (place, place), color=color, alpha=0.4)
                right.plot(100 * count / total, place, marker, color=color, label=label)
                label = None
    right.set(xlim=(-3, 103))
    right.set_xlabel("% (exact 95 % interval)")
    right.set_title("At the usual thresholds most are too kind", fontsize=10)
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), fontsize=8)
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
    draw(rows, options.figure)
    print(*facts(table), past_ignored(table), sep="\n")
    for head, *body in (taught(table), [HEADS, *lines(rows)]):
        print("\n| " + " | ".join(head) + " |")
        print("|---" * len(head) + "|")
        for line in body:
            print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
