"""What a central force leaves of a path, before and after a drag joins the law: the picture.

    python notebooks/examples/trajectories/left_over.py notebooks/images/left_over.png

An orbit under 1/r^2 and a force -0.06 v/r^2, with noise of 1e-7 au. The law and the drag are those
that `symreg.recover` finds in its positions.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import orbits
import symreg

DRAG, NOISE = 0.06, 1e-7


def positions() -> tuple[np.ndarray, np.ndarray]:
    """(time,) yr and (time, axis) au."""
    t = 0.005 * np.arange(400)

    def rates(_, state):
        x, v = state[:2], state[2:]
        r = np.hypot(*x)
        return [*v, *(-orbits.GM_SUN * x / r**3 - DRAG * v / r**2)]

    start = [1.0, 0.0, 0.0, 5.6]
    path = solve_ivp(rates, (0, t[-1]), start, t_eval=t, rtol=1e-11, atol=1e-12).y[:2].T
    return t, path + NOISE * np.random.default_rng(0).standard_normal(path.shape)


def left_over(path: str) -> float:
    """Draw what is left along the velocity; returns the coefficient of the drag, au^2/yr."""
    t, x = positions()
    forces = orbits.measure_forces(orbits.from_arrays(x[None], time=t))
    found = symreg.recover(forces, engine="projection", seeds=1, null=False, time_limit=2)
    (drag,) = found.metrics["left_over"]
    place, velocity, acceleration = (
        forces.table[[f"{p}x", f"{p}y"]].to_numpy() for p in ("", "v_", "a_")
    )
    r = forces.table["r"].to_numpy()
    forward = velocity / np.linalg.norm(velocity, axis=1, keepdims=True)
    pull = found.constant.value * np.sum(place * forward, axis=1) / r**3
    before = np.sum(acceleration * forward, axis=1) + pull
    after = before + drag["value"] * np.linalg.norm(velocity, axis=1) / r**2
    figure, panels = plt.subplots(2, 2, figsize=(8, 4.6), sharey=True, layout="constrained")
    shown = ((before, "less the central force", "#1f5fa8"), (after, "less the drag too", "#b3541e"))
    for column, (left, title, color) in zip(panels.T, shown, strict=True):
        for axes, along, name in (
            (column[0], forces.table["time"], "time, yr"), (column[1], r, "distance, au"),
        ):  # fmt: skip
            axes.plot(along, left, ".", markersize=3, color=color)
            axes.axhline(0, color="0.6", linewidth=0.6)
            axes.set_xlabel(name)
        column[0].set_title(title)
    for axes in panels[:, 0]:
        axes.set_ylabel("left along the\nvelocity, au/yr²")
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return float(drag["value"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("picture")
    print(f"k = {left_over(parser.parse_args().picture):.4g} au^2/yr")
