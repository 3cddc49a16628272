"""Where the force of two models is right: the figure of the home page.

    python notebooks/examples/home/two_models.py notebooks/images/two_models.png

Both predict the next position to better than a thousandth of the distance. They share orbits,
network, seed and a context of 32 positions; one predicts the displacement to the next position,
the other what is left of it when the last step is taken away.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import orbits
import worldmodel
from worldmodel import plot_validity

TARGETS = ("residual", "displacement")


def like_training(data):
    """Distance (au) and speed, in circular ones, of a thousand states."""
    some = data.isel(orbit=slice(0, 100), time=slice(None, None, 12))
    r, speed = (np.linalg.norm(some[name], axis=-1) for name in ("position", "velocity"))
    return r.ravel(), (speed / np.sqrt(orbits.GM_SUN / r)).ravel()


def percent(share):
    """A share as people write it."""
    return f"{100 * share:.1g} %" if share < 0.1 else f"{100 * share:.0f} %"


def asked(target, data, held_out, steps):
    """A trained model's error of the next position, and its far states; both printed."""
    model = worldmodel.train(data, context_length=32, target=target, steps=steps, seed=0)
    next_position = worldmodel.probe(model, held_out, readout="evaluate").metrics["relative_error"]
    far = worldmodel.probe(model, held_out, readout="far", trained_on=data)
    kicked = worldmodel.probe(model, held_out, readout="kick_response").metrics["r2_1"]
    print(
        f"{target}: next position off by {next_position:.2g}, acceleration on far states by "
        f"{far.metrics['error']:.3g} in the median, R² one step after a kick {kicked:.4f}",
        flush=True,
    )
    return next_position, far


def main():
    """Train, ask and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="the figure, a PNG")
    parser.add_argument("--orbits", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=3000)
    options = parser.parse_args()
    data = orbits.generate(law="newton", orbits=options.orbits, simulator="scipy", seed=0)
    held_out = orbits.generate(law="newton", orbits=options.orbits // 4, simulator="scipy", seed=1)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for panel, target in zip(axes, TARGETS, strict=True):
        next_position, far = asked(target, data, held_out, options.steps)
        title = (
            f"trained on the {target}: next position off by {percent(next_position)},\n"
            f"force on states unlike training by {percent(far.metrics['error'])}"
        )
        plot_validity(panel, far.details["map"], like_training(held_out), title=title)
    figure.savefig(options.out, dpi=110)


if __name__ == "__main__":
    main()
