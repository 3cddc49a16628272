"""Where the force of two models is right that predict equally well: the figure of the home page.

    python notebooks/examples/home/two_models.py two_models.png two_models.csv

Both share orbits, network, seed and a context of 32 positions. One predicts the displacement to
the next position. The other predicts the residual, what is left of it when the last step is taken
away, which is dt² times the acceleration; it is trained for the fewest steps with which its next
position is as good as the other's after all of them.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import orbits
import worldmodel
from orbits.files import written_aside
from worldmodel import plot_validity

EACH = 20
"""Steps between two lengths of training that are tried."""
NETWORK = {"inputs": "coordinates", "outputs": "coordinates", "norm": "layer", "muon_lr": 0.02}
"""Options of both beside context and target."""


def like_training(data):
    """Distance (au) and speed, in circular ones, of a thousand states."""
    some = data.isel(orbit=slice(0, 100), time=slice(None, None, 12))
    r, speed = (np.linalg.norm(some[name], axis=-1) for name in ("position", "velocity"))
    return r.ravel(), (speed / np.sqrt(orbits.GM_SUN / r)).ravel()


def next_error(model, held_out):
    """Median error of the next position, over the distance from the centre."""
    return worldmodel.probe(model, held_out, readout="evaluate").metrics["relative_error"]


def pair(data, held_out, steps, seed):
    """The displacement's model after all steps, and the residual's at its accuracy or better."""

    def trained(target, steps):
        return worldmodel.train(
            data, context_length=32, target=target, steps=steps, seed=seed, progress=False,
            **NETWORK,
        )  # fmt: skip

    displacement = trained("displacement", steps)
    wanted, enough = next_error(displacement, held_out), EACH
    residual = trained("residual", enough)
    while next_error(residual, held_out) > wanted and enough < steps:
        enough += EACH
        residual = trained("residual", enough)
    return {"residual": residual, "displacement": displacement}


def asked(target, model, data, held_out, seed):
    """A row of the table, and the reading of the model's far states."""
    rolled = worldmodel.probe(model, held_out, readout="evaluate(steps=32)").metrics
    far = worldmodel.probe(model, held_out, readout="far", trained_on=data, exam_seed=0)
    row = {
        "seed": seed,
        "target": target,
        "steps": model.step,
        "next_position": next_error(model, held_out),
        "after_16_steps": rolled["error_16"],
        "far_error": far.metrics["error"],
        "far_within_10": far.metrics["right"],
        "kick_r2": worldmodel.probe(model, held_out, readout="kick_response").metrics["r2_1"],
    }
    print(
        f"seed {seed}, {target}, {model.step} steps: next position off by "
        f"{row['next_position']:.2g}, acceleration on far states by {row['far_error']:.3g} in the "
        f"median, R² one step after a kick {row['kick_r2']:.4f}", flush=True,
    )  # fmt: skip
    return row, far


def draw(found, held_out, path):
    """Two maps with one colour bar, for a narrow screen too."""
    with plt.rc_context({"font.size": 12, "axes.titlesize": 12}):
        figure, axes = plt.subplots(1, 2, figsize=(6.4, 4.1), layout="constrained", sharey=True)
        for panel, (row, far) in zip(axes, found, strict=True):
            title = f"trained on the {row['target']}\nforce off by {100 * row['far_error']:.0f} %"
            plot_validity(panel, far.details["map"], like_training(held_out), title=title)
            panel.set_xlabel("distance (au)")
            panel.collections[1].remove()  # crosses of single states hide so small a map
        axes[0].collections[0].colorbar.remove()
        axes[1].set_ylabel("")
        with written_aside(path) as aside:
            figure.savefig(aside, dpi=150, format="png")
    plt.close(figure)


def main():
    """Train, ask and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("figure", help="of the first seed, a PNG")
    parser.add_argument("table", help="of all seeds, a CSV")
    parser.add_argument("--orbits", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=3000, help="of the displacement's training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    rows = []
    for seed in options.seeds:
        made = {"law": "newton", "simulator": "scipy", "progress": False}
        data = orbits.generate(orbits=options.orbits, seed=2 * seed, **made)
        held_out = orbits.generate(orbits=options.orbits // 4, seed=2 * seed + 1, **made)
        models = pair(data, held_out, options.steps, seed)
        found = [asked(name, each, data, held_out, seed) for name, each in models.items()]
        if seed == options.seeds[0]:
            draw(found, held_out, options.figure)
        rows += [row for row, _ in found]
        with written_aside(options.table) as aside:
            pd.DataFrame(rows).to_csv(aside, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
