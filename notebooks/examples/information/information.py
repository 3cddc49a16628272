"""What positions along orbits reveal of the force: the least error that any reader can reach.

The motion is planar under an attraction GM/r^n, r in au, so that GM is the attraction at 1 au; the
truth is Newton's law, n = 2. Every orbit's initial state is unknown. No model, no training.

Each orbit is followed at the scale where its semi-major axis and its GM are 1, together with its
variational equations; there an orbit has one strength g, and ln g = ln GM - n ln a links the orbits
to one another. What the initial state explains is projected out orbit by orbit, so ten million
orbits are no problem. Two things then determine n: the shape of each orbit (its strength being
free, the way its axis turns), and how the strengths of orbits of different sizes compare (Kepler's
third law).
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv

from orbits import G

TWO_PI = 2 * math.pi

SAMPLE = 128
"""Orbits from which the information of all is extrapolated."""

RESOLVED = 1e-8
"""Share of a change in the positions below which its remainder is rounding, taken as 0."""


@dataclass(frozen=True)
class Ranges:
    """Sizes and shapes of the orbits, drawn as `orbits.generate` draws them."""

    semi_major_axis: tuple[float, float] = (0.3, 2.0)
    """au, low and high."""
    eccentricity: tuple[float, float] = (0.0, 0.6)
    """Low and high."""
    min_perihelion: float = 0.28
    """au; no orbit comes closer."""
    population: Literal["controlled", "exoplanets"] = "controlled"
    """controlled (semi-major axes log-uniform, eccentricities uniform) or exoplanets (uniform;
    beta distribution of Kipping, MNRAS 434, L51 (2013))."""

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(orbit,) semi-major axes, au, and eccentricities."""
        (low, high), (least, most) = self.semi_major_axis, self.eccentricity
        place, shape = rng.random((2, count))
        controlled = self.population == "controlled"
        a = low * (high / low) ** place if controlled else low + (high - low) * place
        top = np.clip(1 - self.min_perihelion / a, least, most)
        if controlled:
            return a, least + (top - least) * shape
        kipping = 0.867, 3.03
        below, above = betainc(*kipping, least), betainc(*kipping, top)
        return a, np.clip(betaincinv(*kipping, below + (above - below) * shape), least, top)


@dataclass(frozen=True)
class Observations:
    """What a reader sees: positions of bound orbits with Gaussian noise, or in uniform bins."""

    orbits: int = 400
    """Number of orbits."""
    positions: int = 128
    """Positions along each."""
    dt: float = 0.008
    """Time between them, yr."""
    sigma: float = 0.0
    """Standard deviation of each coordinate's noise, au; 0 for bins."""
    bin_width: float = 0.0
    """Width of each coordinate's bins, au; 0 for noise."""
    gm: Literal["shared", "own", "known"] = "shared"
    """shared (one unknown GM), own (an unknown one for each orbit, as where masses vary and are not
    given), known. A mass is GM/G: its relative error is that of GM."""
    ranges: Ranges = field(default_factory=Ranges)
    """Of semi-major axes and eccentricities; the phase is uniform in time."""
    mass: float = 1.0
    """True central mass of every orbit, M_sun."""

    def __post_init__(self) -> None:
        if self.orbits < 1 or self.positions < 2:
            raise ValueError(
                f"{self.orbits} orbits of {self.positions} positions; "
                "at least one of two positions is needed."
            )
        for name in ("dt", "mass"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} is {getattr(self, name):g}; it must be above 0.")
        widths = self.sigma, self.bin_width
        if not (min(widths) == 0 < max(widths) < np.inf):
            raise ValueError(
                f"sigma is {self.sigma:g} and bin_width {self.bin_width:g} au; "
                "one of them must be above 0, the other 0."
            )
        if self.gm not in ("shared", "own", "known"):
            raise ValueError(f"gm is {self.gm!r}; it must be shared, own or known.")


@dataclass(frozen=True)
class LeastError:
    """Least standard errors without a prior; infinite where the positions reveal nothing."""

    n: float
    """Of the exponent, by Cramér and Rao. Bins count as noise of variance w²/12; least squares on
    bin centres reaches it where the motion covers several bins."""
    n_floor: float
    """Of the exponent, for any reader. With noise it is `n`. Sharp bins reveal a little more: two
    laws differ once a single coordinate changes its bin."""
    gm: float
    """Of GM, relative, by Cramér and Rao, with n unknown too; for the median orbit where every
    orbit has its own GM."""


@dataclass(frozen=True)
class _Told:
    """What one orbit's positions reveal once its initial state has been fitted."""

    strength: np.ndarray
    """(position * axis,) au: change of the positions with ln g."""
    shape: np.ndarray
    """(position * axis,) au: with n, once ln g has been fitted too."""
    slope: float
    """Change of ln GM that moves the positions like one unit of n, apart from the shape."""


def least_error(observations: Observations, seed: int = 0, alone: bool = False) -> LeastError:
    """The least errors in n and GM that any reader of these positions can reach.

    `n_floor` of bins is Le Cam's two-point bound; it assumes only that coordinates are spread
    evenly within their bins, as over many orbits. Let D be the width of a bin over the sum of all
    changes of coordinates with n, where the other unknowns offset n. Between n and n + d some
    coordinate changes its bin with probability at most d/D; the mean square error is then at least
    (d²/4)(1 - d/D), whose maximum is D²/27, at d = 2D/3.

    Args:
        observations: which orbits are seen, and how well.
        seed: of the orbits drawn.
        alone: for the median orbit by itself, as in one context; otherwise for all together.

    Source: Cramér-Rao bound, e.g. Kay, Fundamentals of Statistical Signal Processing I (1993),
    section 3.7; Le Cam's two points, e.g. Tsybakov, Nonparametric Estimation (2009), section 2.2.
    """
    count = min(observations.orbits, SAMPLE)
    a, e, phase = draw_orbits(observations, count, seed)
    turn = TWO_PI * np.sqrt(a**3 / (G * observations.mass))
    angles = TWO_PI * observations.dt / turn[:, None] * np.arange(observations.positions)
    told = [_told(*row) for row in zip(a, e, phase, angles, strict=True)]
    if alone:
        each = [_bound([one], observations, 1.0) for one in told]
        n, floor, gm = np.median([(one.n, one.n_floor, one.gm) for one in each], axis=0).tolist()
        return LeastError(n, floor, gm)
    return _bound(told, observations, observations.orbits / count)


def draw_orbits(
    observations: Observations, count: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(orbit,) semi-major axes, au, eccentricities and mean anomalies of the first positions."""
    rng = np.random.default_rng(seed)
    return *observations.ranges.draw(count, rng), rng.uniform(0, TWO_PI, count)


def position_changes(eccentricity: float, mean_anomaly: float, angles: np.ndarray) -> np.ndarray:
    """(position, axis, 6) changes of the positions of a Kepler orbit with the four numbers of its
    first state, with n and with ln g.

    The orbit has semi-major axis 1, g = 1 and so the period 2π; `angles` are the (position,) times,
    ascending from 0.
    """
    once = _one_turn(eccentricity, mean_anomaly)
    turns = np.floor(angles / TWO_PI)
    changes = once.sol(angles - TWO_PI * turns).reshape(4, 7, -1)[:2, 1:].transpose(2, 0, 1)
    # The orbit is closed, so that what one turn adds (a shift along it, a turn of its axis) is
    # added again by every other: with N = monodromy - 1, N² = 0.
    added = np.zeros((6, 6))
    added[:4] = once.y[:, -1].reshape(4, 7)[:, 1:] - np.eye(4, 6)
    return changes @ (np.eye(6) + turns[:, None, None] * added)


@lru_cache(maxsize=4 * SAMPLE)
def _one_turn(eccentricity: float, mean_anomaly: float) -> Any:
    """scipy's solution of the variational equations; tolerances are relative, as arcs are short."""
    state = first_state(eccentricity, mean_anomaly)
    start = np.concatenate([state[:, None], np.eye(4, 6)], axis=1).ravel()
    options = {"method": "DOP853", "dense_output": True, "rtol": 1e-12, "atol": 1e-15}
    return solve_ivp(_variations, (0, TWO_PI), start, **options)


def first_state(e: float, mean_anomaly: float) -> np.ndarray:
    """(4,) position and velocity on the ellipse of semi-major axis 1 and strength 1, perihelion on
    the x axis: Kepler's equation M = E - e sin E.
    """
    anomaly = brentq(
        lambda x: x - e * math.sin(x) - mean_anomaly, mean_anomaly - e, mean_anomaly + e,
        xtol=1e-15,
    )  # fmt: skip
    c, s, minor = math.cos(anomaly), math.sin(anomaly), math.sqrt(1 - e * e)
    return np.array([c - e, minor * s, *(np.array([-s, minor * c]) / (1 - e * c))])


def _variations(_: float, flat: np.ndarray) -> np.ndarray:
    """Rates of a state and of its changes with the first state, with n and with ln g."""
    y, rate = flat.reshape(4, 7), np.empty((4, 7))
    place = y[:2, 0]
    r = math.hypot(*place.tolist())
    pull = place * -(r**-3)
    rate[:2] = y[2:]
    rate[2:] = y[:2] * -(r**-3) + place[:, None] * (place @ y[:2] * (3 / r**5))
    rate[2:, 0] = pull
    rate[2:, 5] -= math.log(r) * pull  # the change of -g r^-n with n
    rate[2:, 6] += pull
    return rate.ravel()


def _told(a: float, e: float, phase: float, angles: np.ndarray) -> _Told:
    changes = a * position_changes(e, phase, angles).reshape(-1, 6)
    states = np.linalg.qr(changes[:, :4] / np.linalg.norm(changes[:, :4], axis=0))[0]
    rounding = float(RESOLVED * np.linalg.norm(changes[:, 4:]))
    exponent, strength = (_left(column, states, rounding) for column in changes[:, 4:].T)
    size = np.sum(strength**2)
    slope = float(strength @ exponent / size) if size else 0.0
    shape = _left(exponent, strength[:, None] / (np.sqrt(size) or 1), rounding)
    return _Told(strength, shape, slope - float(np.log(a)))


def _left(column: np.ndarray, base: np.ndarray, rounding: float) -> np.ndarray:
    """A column's remainder outside an orthonormal basis; 0 where that is rounding."""
    rest = column - base @ (base.T @ column)
    rest -= base @ (base.T @ rest)  # once more: the first leaves rounding of the whole column
    return rest * (np.linalg.norm(rest) > rounding)


def _bound(told: list[_Told], observations: Observations, times: float) -> LeastError:
    """For all these orbits together, each so many times."""
    sigma = observations.sigma or observations.bin_width / np.sqrt(12)
    slope = np.array([one.slope for one in told])
    weight = np.array([np.sum(one.strength**2) for one in told])
    mean = np.average(slope, weights=weight) if weight.any() else 0.0
    makes_up = {"shared": slope - mean, "own": np.zeros_like(slope), "known": slope}
    left = makes_up[observations.gm]
    left = np.where(np.abs(left) > RESOLVED * (1 + np.abs(slope)), left, 0)
    by_n = [one.shape + c * one.strength for one, c in zip(told, left, strict=True)]
    n = sigma * _root_of_inverse(times * np.sum([np.sum(column**2) for column in by_n]))
    floor = n
    if observations.bin_width:
        change = times * np.sum([np.sum(np.abs(column)) for column in by_n])
        floor = observations.bin_width / change / np.sqrt(27) if change else np.inf
    of_strength = sigma * _root_of_inverse(
        times * weight.sum() if observations.gm == "shared" else weight
    )
    with np.errstate(invalid="ignore"):  # 0 times infinity: a strength alone tells GM at 1 au
        by_exponent = np.abs((mean if observations.gm == "shared" else slope) * n)
    by_exponent = np.where(np.isnan(by_exponent), 0.0, by_exponent)
    gm = 0.0 if observations.gm == "known" else float(np.median(np.hypot(of_strength, by_exponent)))
    return LeastError(float(n), float(floor), gm)


def _root_of_inverse(information: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return 1 / np.sqrt(information)
