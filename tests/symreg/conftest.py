"""Tables of forces with a known law, noise and systematic error."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import solve_ivp

import orbits
from orbits.forces import parse_law
from orbits.settings import own_settings
from orbits.units import GM_SUN

INNER, OUTER = 0.28, 3.0


def force_table(law="newton", seed=0, orbits=100, rows=10, noise=0.0, bias=0.0, gm_spread=0.0):
    """Force samples of a law on r in [0.28, 3] au, as a probe of a world model writes them.

    `noise` is that of each component, relative to |a|; `bias` the rms of a relative error that is
    smooth in r and the same for all orbits; `gm_spread` the half-range of log GM between orbits.
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


@pytest.fixture(autouse=True)
def _own_settings():
    """What a command works under: no warnings of numpy."""
    with own_settings():
        yield


@pytest.fixture(scope="session")
def make_force_table():
    """The function above."""
    return force_table


def _noisy(data, noise, seed=0):
    """The same dataset with white noise on every position, au."""
    found = data.copy(deep=True)
    random = np.random.default_rng(seed)
    found["position"].values[:] += noise * random.standard_normal(found["position"].shape)
    return found


def _world(law="newton", seed=0, planets=2, samples=1500):
    """A star and planets under a law, about the barycentre."""
    return orbits.generate(
        law=law, system="nbody", orbits=1, planets=planets, samples=samples, dt=0.004,
        dtype="float64", seed=seed, companion_mass=(3e-4, 3e-3), semi_major_axis=(0.4, 8.0),
        hill_spacing=4,
    )  # fmt: skip


def _two_stars(n=2.0, speed=0.8, drag=0.0, years=2.0, first_only=False, noise=0.0):
    """Stars of 3 and 1 solar masses, one au apart at first; positions in au, an odd origin."""
    m = np.array([3.0, 1.0])

    def rates(_, y):
        line = y[2:4] - y[:2]
        r = np.hypot(*line)
        pull = orbits.G * line / r ** (n + 1)
        first, second = m[1] * pull - drag * y[4:6], -m[0] * pull
        return np.concatenate([y[4:], first, second - (0 if first_only else drag) * y[6:]])

    v = speed * np.sqrt(orbits.G * m.sum())
    state = np.array([-0.25, 0, 0.75, 0, 0, -v / 4, 0, 3 * v / 4])
    t = np.linspace(0, years, 3000)
    found = solve_ivp(rates, (0, years), state, t_eval=t, rtol=1e-12, atol=1e-12, method="DOP853")
    x = found.y[:4] + 5 + 0.3 * t
    x = x + noise * np.random.default_rng(0).standard_normal(x.shape)
    frame = pd.DataFrame(np.column_stack([t, x.T]), columns=["time", "a_x", "a_y", "b_x", "b_y"])
    return orbits.from_table(frame, position=("a_x,a_y", "b_x,b_y"))


@pytest.fixture(scope="session")
def noisy():
    """The function above."""
    return _noisy


@pytest.fixture(scope="session")
def world():
    """The function above."""
    return _world


@pytest.fixture(scope="session")
def two_stars():
    """The function above."""
    return _two_stars
