"""What a probe decodes against what the prediction follows, over all networks of a study.

    symreg study identify --out studies/identify
    python notebooks/examples/causal/scatter.py studies/identify decoded

writes `decoded.csv`, a row for each network and site, and `decoded.png`. No subspace is learned by
gradient: a few seconds a network. What was finished before is kept.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from tqdm import tqdm

import orbits
import worldmodel
from orbits.files import read_json, written_aside
from orbits.palette import CYCLE
from worldmodel.targets import inertia

HELD_OUT = 7_000_003
"""Seed of the orbits that are shown: no study draws these."""
LAST = "blocks.1"
"""The stream behind the last block, which is the target in other coordinates."""
LOWEST = -0.5
"""What follows less is drawn here."""


def networks(study):
    """Cells with a trained model, with what their verdict says."""
    for verdict in sorted(Path(study).glob("cells/*/verdict.json")):
        if (verdict.parent / "model" / "last.safetensors").is_file():
            yield verdict.parent, read_json(verdict)


def sites_of(folder, shown, seed):
    """A row for each site of a network."""
    model = worldmodel.WorldModel.load(folder / "model")
    train, dt = model.record.train, model.record.data.dt
    if dt not in shown:
        shown[dt] = orbits.generate(orbits=100, dt=dt, simulator="kepler", seed=HELD_OUT)
    options = {"readout": "causal", "causal": {"steps": 0}, "seed": seed}
    reading = worldmodel.probe(model, shown[dt], **options)
    for site, row in reading.details["trained"].items():
        yield {
            "attention": train.attention, "target": train.target, "dt": dt, "seed": train.seed,
            "context_length": train.context_length, "site": site,
            **{name: row[name] for name in ("decoded", "probe", "random", "whole")},
        }  # fmt: skip


def gather(study, path):
    """The table, a network at a time."""
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=["cell"])
    shown = {}
    for folder, verdict in tqdm(list(networks(study)), desc="networks"):
        if folder.name in set(table["cell"]):
            continue
        rows = pd.DataFrame(sites_of(folder, shown, 0))
        rows.insert(0, "cell", folder.name)
        rows["world_model"] = verdict["world_model"]["kind"]
        table = pd.concat([table, rows], ignore_index=True)
        with written_aside(path) as aside:
            table.to_csv(aside, index=False, float_format="%.4g")
    return table


def facts(table):
    """What the hypotheses ask, in lines."""
    best = table.groupby("cell")["decoded"].max()
    newtonian = table.groupby("cell")["world_model"].first().isin(("law", "field", "Newtonian"))
    yield f"{len(best)} networks, {int(newtonian.sum())} Newtonian"
    yield f"decoded, the best site: {best.min():.3f} to {best.max():.3f}"
    if 0 < newtonian.sum() < len(newtonian):
        area = roc_auc_score(newtonian, best)
        yield f"decoded for Newtonian against others: area under the curve {area:.2f}"
    inside = table[table["site"] != LAST]
    rho = spearmanr(inside["decoded"], inside["probe"])
    yield f"inside: Spearman {rho.statistic:.2f} over {len(inside)} sites"
    for target, part in table[table["site"] == LAST].groupby("target", sort=False):
        told = part["probe"]
        within = inside.loc[inside["target"] == target].groupby("cell")["probe"].max()
        yield (
            f"{target}: last stream followed {told.min():.2f} to {told.max():.2f}, "
            f"inside at most {within.min():.2f} to {within.max():.2f} ({len(told)} networks)"
        )


def figure_of(table):
    """Followed against decoded: inside the networks, and behind the last block."""
    figure, panels = plt.subplots(
        1, 2, figsize=(11, 4.6), sharex=True, sharey=True, layout="constrained"
    )
    left = table["target"].map(inertia).astype(float)
    names = {0.0: "displacement (λ = 0)", 1.0: "residual (λ = 1)"}
    parts = {
        "inside: decoded nearly everywhere, hardly followed": table["site"] != LAST,
        "behind the last block: it follows what the target contains": table["site"] == LAST,
    }
    for axes, (words, chosen) in zip(panels, parts.items(), strict=True):
        for share, color in zip(sorted(set(left)), CYCLE, strict=False):
            of = table[chosen & (left == share)]
            axes.scatter(
                of["decoded"], np.clip(of["probe"], LOWEST, 1), s=20, color=color, alpha=0.7,
                linewidths=0, label=names.get(share, f"λ = {share:g}"),
            )  # fmt: skip
        axes.axhline(0, color="#222222", linewidth=0.8, linestyle=":")
        axes.set_xlabel("R² with which a probe decodes the force")
        axes.set_title(words, fontsize=11)
    marks = [LOWEST, 0, 0.5, 1]
    panels[0].set_yticks(marks, [f"≤ {LOWEST:g}", "0", "0.5", "1"])
    panels[0].set_ylabel("share of an exchanged force\nthat the acceleration follows")
    panels[0].legend(frameon=False, fontsize=9, title="trained on", loc="upper left")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", help="folder of a study whose cells hold trained models")
    parser.add_argument("out", help="files without their endings: OUT.csv and OUT.png")
    options = parser.parse_args()
    table = gather(options.study, Path(f"{options.out}.csv"))
    with written_aside(Path(f"{options.out}.png")) as aside:
        figure_of(table).savefig(aside, dpi=150, format="png")
    print(*facts(table), sep="\n")


if __name__ == "__main__":
    main()
