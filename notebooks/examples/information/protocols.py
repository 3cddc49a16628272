"""What could have shown Newton at all: the least error on the exponent n, protocol by protocol.

    python notebooks/examples/information/protocols.py

Prints the table of the page "What could have shown Newton at all?". Nothing is trained. What
is not known from a source is marked as assumed, and another value of it has a row of its own.
"""

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from orbits import GM_SUN

sys.path.insert(0, str(Path(__file__).parent))
from information import LeastError, Observations, Ranges, least_error

FLOAT32 = 2.0**-23
"""au: spacing of single precision between 1 and 2 au."""

CONTEXTS = 3, 8, 32


@dataclass(frozen=True)
class Protocol:
    """Who showed what to a model, and where it is written."""

    name: str
    source: str
    shown: Observations


VAFA = Observations(
    orbits=5_000_000,  # half of ten million: every sequence draws one of the two steps of time
    positions=500,  # 1 000 tokens, planet and star in turn
    dt=7 * 0.0027,
    bin_width=100 / 7000,
    gm="own",  # masses of stars vary, and are not given
    ranges=Ranges((0.3, 32.0), (0.0, 0.95), 0.0, "exoplanets"),
)
TEN_PLANETS = {"orbits": 50_000_000, "positions": 91}
HALF_A_YEAR = 6 * 30 * 0.0027
LIU = Observations(
    orbits=10_000,
    positions=100,
    dt=0.2 * 100 / 99 / (2 * np.pi),  # at GM = 4π²; 100 points from 0 to 100 × 0.2
    bin_width=FLOAT32,
    ranges=Ranges((0.5, 2.0), (0.0, 0.8), 0.1),  # semi-major axes even in log, not in a
)

_BIAS = "generate_data.py of github.com/keyonvafa/inductive-bias-probes; one planet, assumed"
_TEN = "the same; ten planets, assumed"
_KEPLER = "generate_kepler_cv.py of github.com/KindXiaoming/newton-kepler"
_NOISY = "noise_scale of its kepler_cv.py; drawn once, where training draws it at every step"

PROTOCOLS = (
    Protocol("`symreg run`", "its defaults", Observations(orbits=1000, bin_width=FLOAT32)),
    Protocol("Vafa et al., a week", _BIAS, VAFA),
    Protocol("Vafa et al., a week", _TEN, replace(VAFA, **TEN_PLANETS)),
    Protocol("Vafa et al., half a year", _BIAS, replace(VAFA, dt=HALF_A_YEAR)),
    Protocol("Vafa et al., half a year", _TEN, replace(VAFA, dt=HALF_A_YEAR, **TEN_PLANETS)),
    Protocol("Liu et al., what is asked", _KEPLER, LIU),
    Protocol("Liu et al., what is seen", _NOISY, replace(LIU, bin_width=0.0, sigma=0.1)),
)
"""Gao, Spratling & Gionfrida (arXiv:2501.13428v5) are assumed to have the data of Vafa et al."""


def shown(error: LeastError, floor: bool) -> str:
    """The error on n, and the floor of bins below it; from 1 on nothing is known of n."""
    values = (error.n, error.n_floor) if floor else (error.n,)
    return " / ".join("> 1" if value > 1 else f"{value:.0e}" for value in values)


HEADS = (
    "protocol", "orbits × positions", "step, yr", "resolution, au",
    "all: error on n", "all: error on GM",
    *(f"one orbit, {k} positions" for k in CONTEXTS), "one orbit, all",
)  # fmt: skip


def row(protocol: Protocol) -> tuple[str, ...]:
    """Of the table."""
    o = protocol.shown
    seen = f"bins of {o.bin_width:.2g}" if o.bin_width else f"noise of {o.sigma:g}"
    contexts = (*(replace(o, positions=k) for k in CONTEXTS), o)
    every, *alone = least_error(o), *(least_error(context, alone=True) for context in contexts)
    n, *of_one = (shown(error, bool(o.bin_width)) for error in (every, *alone))
    size = f"{o.orbits:,} × {o.positions}".replace(",", " ")
    return protocol.name, size, f"{o.dt:.3g}", seen, n, f"{every.gm:.0e}", *of_one


def bins_of_acceleration(a: float, dt: float) -> float:
    """Second difference of a circular orbit's positions, in bins of Vafa et al."""
    return GM_SUN / a**2 * dt**2 / VAFA.bin_width


def beyond(a: float) -> Observations:
    """The orbits of VAFA that are larger than a, au."""
    low, high = VAFA.ranges.semi_major_axis
    share = (high - a) / (high - low)
    ranges = replace(VAFA.ranges, semi_major_axis=(a, high))
    return replace(VAFA, orbits=round(share * VAFA.orbits), ranges=ranges)


def facts() -> list[str]:
    """What the page says beside the table."""
    lines = []
    for dt in (7 / 365.25, VAFA.dt, HALF_A_YEAR):
        places = (f"{bins_of_acceleration(a, dt):.3g} at {a:g} au" for a in (1.0, 16.0, 32.0))
        lines.append(f"step {dt:.4g} yr: second difference in bins {', '.join(places)}")
    arc = (VAFA.positions - 1) * VAFA.dt
    lines.append(f"500 weeks are {arc / 16**1.5:.2f} of a turn at 16 au")
    outer = beyond(3.0)
    share, error = outer.orbits / VAFA.orbits, least_error(outer).n / least_error(VAFA).n
    lines.append(f"orbits beyond 3 au: {share:.0%}, error {error:.1f} times that of all")
    return lines


if __name__ == "__main__":
    for cells in (HEADS, ("---",) * len(HEADS), *map(row, PROTOCOLS)):
        print(f"| {' | '.join(cells)} |")
    print("", *facts(), sep="\n")
