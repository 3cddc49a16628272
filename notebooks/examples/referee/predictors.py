"""Predictors without layers, put to every probe that needs none.

    python notebooks/examples/referee/predictors.py networks notebooks/images/probes.csv out.csv

uses the data sets of `networks.py` and its scores, from which a probe's threshold is taken where it
has none of its own: the one that is best for the networks.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from base import Network, all_probes
from comparison import SHARES, compare, read
from grid import DT, truth
from networks import ROOT, generated

import worldmodel

EXAMPLES = ROOT.parent
PREDICTORS = {
    "Newton's law": "zoo/law.py:make",
    "ellipse through 32 positions": "zoo/ellipse.py:make",
    "nearest triple": "calibration/lookups.py:nearest",
    "locally linear lookup": "calibration/lookups.py:linear",
    "spline lookup": "calibration/lookups.py:turning_spline",
}
"""Files and factories; a lookup gets the training orbits."""


def scores(predictor: object, held_out: str) -> dict[str, float | None]:
    """Its truth on the grid, and its score by each probe; None where a probe needs a network."""
    whole = truth(predictor)
    shares = {name: whole[name] for name in SHARES}
    network = Network(predictor, held_out, min(shares.values()), 0)
    found: dict[str, float | None] = {**shares}
    for name, probe in all_probes().items():
        if probe.control:
            continue
        try:
            value = float(probe.score(network))
        except ValueError:  # it needs layers, or derivatives
            value = float("nan")
        found[name] = value if np.isfinite(value) else None
    return found


def verdicts(table: pd.DataFrame, rows: dict[str, dict]) -> list[tuple[str, ...]]:
    """The truth of each predictor, and what each probe that answers says of it, by the rows of
    `compare`."""
    heads = ("within 10 % behind smooth arcs", "behind kicked arcs")
    shown = [("", *table["predictor"])]
    for head, share in zip(heads, SHARES, strict=True):
        shown.append((head, *(f"{100 * each:.0f} %" for each in table[share])))
    for name, row in rows.items():
        if name in table and table[name].notna().any():
            own = row["threshold"]
            own = row["best_threshold"] if own is None else own
            said = np.where(table[name].isna(), "–", np.where(table[name] >= own, "yes", "no"))
            shown.append((row["name"], *said))
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="networks and data sets of networks.py")
    parser.add_argument("networks", help="their scores, a CSV")
    parser.add_argument("table", type=Path, help="CSV to write")
    options = parser.parse_args()
    held_out = str(generated(options.folder, "newton", 77, 600))
    data = str(generated(options.folder, "newton", 0, 1000))
    found = []
    for name, file in PREDICTORS.items():
        predictor = worldmodel.load_predictor(str(EXAMPLES / file), seed=0, data=data, dt=DT)
        found.append({"predictor": name, **scores(predictor, held_out)})
        pd.DataFrame(found).to_csv(options.table, index=False, float_format="%.4g")
        print(f"{len(found)} of {len(PREDICTORS)}: {name}", flush=True)
    for line in verdicts(pd.read_csv(options.table), compare(read(options.networks))):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
