"""The truth of predictors: how many states have Newton's acceleration, on a map no verdict uses.

    python notebooks/examples/referee/true_shares.py OUT.csv FILE.py:NAME ... [--seed 0]

States from 0.3 to 3 au (uniform in the logarithm) at 0 to 2 circular speeds in any direction,
behind true arcs that stay between 0.28 and 3 au. Of contexts longer than two the same again with
the velocity turned half-way through.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from grid import DT, kicked_past

import orbits
import worldmodel
from worldmodel.flow import follow

LAW = orbits.parse_law("newton")


def states(count: int) -> tuple[np.ndarray, np.ndarray]:
    """(state, axis) positions, au, and velocities, au/yr."""
    random = np.random.default_rng(11)
    r = np.exp(random.uniform(np.log(0.3), np.log(3), count))
    speed = random.uniform(0, 2, count) * np.sqrt(orbits.GM_SUN / r)
    bearing, angle = random.uniform(0, 2 * np.pi, (2, count))
    x = r * np.stack((np.cos(bearing), np.sin(bearing)))
    v = speed * np.stack((np.cos(bearing + angle), np.sin(bearing + angle)))
    return x.T, v.T


def errors(
    model: worldmodel.CheckedPredictor, x: np.ndarray, v: np.ndarray, turn: float
) -> np.ndarray:
    """Relative error of the acceleration at each state whose arc stays inside: what the next
    position misses, over dt², over the law's; infinite without an answer.

    Half-way through each arc the velocity was turned so many radians.
    """
    gm = np.full(len(x), orbits.GM_SUN)
    past = kicked_past(LAW, x, v, gm, model.context_length, turn)
    r = np.linalg.norm(past, axis=-1)
    inside = ((r > 0.28) & (r < 3)).all(axis=1)
    # unchecked: what breaks the contract has a truth too
    answers = model.predictor.predict(past[inside])[:, -1]
    ahead, _ = follow(LAW, x, v, gm, DT)
    size = np.linalg.norm(LAW.acceleration(x, gm), axis=1)[inside]
    off = np.linalg.norm(answers - ahead[inside], axis=1) / DT**2 / size
    return np.where(np.isnan(off), np.inf, off)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--states", type=int, default=6000)
    options = parser.parse_args()
    x, v = states(options.states)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "train.zarr")
        orbits.generate(data, orbits=1000, seed=options.seed, simulator="kepler")
        for name in options.models:
            model = worldmodel.load_predictor(name, data=data, seed=options.seed, dt=DT)
            off = errors(model, x, v, 0.0)
            row = {"predictor": name, "states": len(off), "within_10": np.mean(off <= 0.1)}
            row["median_error"] = np.median(off)
            if model.context_length > 2:
                kicked = errors(model, x, v, 1.5)
                row["kicked_within_10"] = np.mean(kicked <= 0.1)
            rows.append(row)
    pd.DataFrame(rows).to_csv(options.out, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
