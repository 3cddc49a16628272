"""Tables of forces with a known law, noise and systematic error."""

import numpy as np
import pandas as pd
import pytest

from orbits.forces import parse_law
from orbits.units import GM_SUN

INNER, OUTER = 0.28, 3.0


def force_table(law="newton", seed=0, orbits=100, rows=10, noise=0.0, bias=0.0, gm_spread=0.0):
    """Force samples of a law on r in [0.28, 3] au, as a probe of a world model writes them.

    Args:
        law: of force.
        seed: of everything random.
        orbits: groups.
        rows: of each group.
        noise: of each component, relative to |a|, independent.
        bias: rms of a relative error that is smooth in r and the same for all orbits.
        gm_spread: half-range of log GM between orbits.
    """
    rng = np.random.default_rng(seed)
    law = parse_law(law)
    middle = np.log(INNER) + rng.uniform(0, np.log(OUTER / INNER), (orbits, 1))
    swing = rng.uniform(0, 0.5, (orbits, 1)) * np.sin(np.linspace(0, 2 * np.pi, rows))
    r = np.clip(np.exp(middle + swing), INNER, OUTER).ravel()
    angle = rng.uniform(0, 2 * np.pi, r.size)
    position = r[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    gm = np.repeat(GM_SUN * np.exp(rng.uniform(-gm_spread, gm_spread, orbits)), rows)
    true = law.acceleration(position, gm)
    depth = np.log(r / INNER) / np.log(OUTER / INNER)
    wave = np.sin(2 * np.pi * (rng.uniform(0.4, 1.3) * depth + rng.uniform()))
    read = true * (1 + bias * np.sqrt(2) * wave)[:, None]
    read += noise * np.linalg.norm(true, axis=1)[:, None] * rng.standard_normal(true.shape)
    table = pd.DataFrame(
        {
            "orbit": np.repeat(np.arange(orbits), rows),
            "time": np.tile(0.008 * np.arange(rows), orbits),
            "r": np.hypot(*position.T),
            "x": position[:, 0],
            "y": position[:, 1],
            "a_x": read[:, 0],
            "a_y": read[:, 1],
            "a_norm": np.hypot(*read.T),
            "true_a_x": true[:, 0],
            "true_a_y": true[:, 1],
            "gm": gm,
        }
    )
    attributes = {
        "readout": "implied",
        "states": "orbit",
        "model": {"kind": "synthetic"},
        "law": law.spec,
        "dt": 0.008,
    }
    return table, attributes


@pytest.fixture(scope="session")
def make_force_table():
    """The function above."""
    return force_table
