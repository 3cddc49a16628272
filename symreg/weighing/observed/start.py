"""Where a fit begins: all periods, eccentricities and times of pericentre, the rest being linear.

With those three known, places on the sky and radial velocities are linear in what is left of an
orbit (constants of Thiele and Innes) and in the origins of the instruments.

Source: Wright & Howard, ApJS 182 (2009) 205.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from orbits.elements import solve_kepler
from symreg.weighing.observed.table import Block

ECCENTRICITIES = (0.0, 0.2, 0.4, 0.6, 0.75, 0.85, 0.92, 0.96)
PHASES = 48
"""Times of pericentre in a period."""
OVERSAMPLED = 6
"""Frequencies within one over the time that was watched."""
LONGEST = 4.0
"""Period, over the time that was watched."""
SLOW = 20
"""Turns up to which every eccentricity is tried; of faster ones the best circles are."""
CIRCLES = 12
"""Best circular orbits of short periods, whose eccentricities are tried."""
AT_ONCE = 512
ENTRIES = 8192
"""Of a table of places along an ellipse."""


@dataclass(frozen=True)
class Guess:
    """An orbit that is linear in all but three of its numbers.

    Attributes:
        period: yr.
        eccentricity: of the ellipse.
        pericentre: time of it, yr since the first observation.
        along: by quantity, the body's displacement along the axis to the pericentre: arcsec on the
            sky, au (towards us positive) for radial velocities.
        across: the same, a quarter turn ahead.
        gain: by how much chi square falls.
    """

    period: float
    eccentricity: float
    pericentre: float
    along: dict[str, float]
    across: dict[str, float]
    gain: float


class LinearFit:
    """What orbits explain of values by quantity.

    What lies in the (row, term) weighted, orthonormal bases of the blocks is put aside: origins and
    other linear terms.
    """

    def __init__(self, blocks: Sequence[Block], bases: Sequence[np.ndarray]) -> None:
        self.blocks, self.bases = blocks, bases
        self.left = [
            _beside(block.value / block.sigma, basis)
            for block, basis in zip(blocks, bases, strict=True)
        ]

    def shuffled(self, random: np.random.Generator) -> "LinearFit":
        """The same with what is to be explained drawn anew, row by row, for each instrument."""
        other = copy(self)
        other.left = []
        for left, block, basis in zip(self.left, self.blocks, self.bases, strict=True):
            drawn = left.copy()
            for group in np.unique(block.group):
                at = np.flatnonzero(block.group == group)
                drawn[at] = drawn[random.permutation(at)]
            other.left.append(_beside(drawn, basis))
        return other

    def solve(
        self, period: np.ndarray, eccentricity: float, pericentre: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """(orbit,) fall of chi square, and by block (orbit, 2) displacements along and across."""
        gain, amplitudes = np.zeros(len(period)), []
        for block, basis, left in zip(self.blocks, self.bases, self.left, strict=True):
            columns = _columns(block, period, eccentricity, pericentre)
            columns = _beside(columns / block.sigma[:, None], basis)
            across = columns.transpose(0, 2, 1)
            gram = across @ columns
            gram += 1e-9 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(2)
            right = across @ left
            found = np.linalg.solve(gram, right[..., None])[..., 0]
            gain += np.sum(found * right, axis=1)
            amplitudes.append(found)
        return gain, amplitudes


def _beside(values: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """(..., row[, column]) without what lies in the columns of a basis."""
    return values - basis @ (basis.T @ values)


def _columns(
    block: Block, period: np.ndarray, eccentricity: float, pericentre: np.ndarray
) -> np.ndarray:
    """(orbit, row, 2) of an ellipse of unit size: places, or minus their rates for velocities."""
    rates = block.quantity == "rv"
    turns = (block.times - pericentre[:, None]) / period[:, None]
    at = ((turns - np.floor(turns)) * ENTRIES).astype(np.intp)
    found = np.take(_ellipse(eccentricity, rates), at, axis=0, mode="clip")
    if rates:
        found *= -2 * np.pi / period[:, None, None]
    return np.asarray(found)


@lru_cache(maxsize=64)
def _ellipse(e: float, rates: bool) -> np.ndarray:
    """(entry, 2) places on an ellipse of unit size along a period, or their rates by phase."""
    anomaly = solve_kepler(2 * np.pi * (np.arange(ENTRIES) + 0.5) / ENTRIES, np.array(e))
    cosine, sine, root = np.cos(anomaly), np.sin(anomaly), np.sqrt(1 - e**2)
    if rates:
        return np.stack([-sine, root * cosine], axis=-1) / (1 - e * cosine)[:, None]
    return np.stack([cosine - e, root * sine], axis=-1)


def best_guesses(fit: LinearFit, span: float, shortest: float, count: int) -> list[Guess]:
    """The orbits that explain most, of different periods (yr), best first."""
    frequencies = np.arange(1 / LONGEST, span / shortest, 1 / OVERSAMPLED) / span
    slow = frequencies[frequencies * span <= SLOW]
    fast = frequencies[frequencies * span > SLOW]
    circles = _tried(fit, fast, (0.0,), 1)
    peaks = _apart(circles, CIRCLES)
    whole = _tried(fit, slow, ECCENTRICITIES, PHASES)
    for f in peaks:
        near = f[0] + np.linspace(-0.5, 0.5, 5) / (OVERSAMPLED * span)
        whole = np.vstack([whole, _tried(fit, near, ECCENTRICITIES, PHASES)])
    found = []
    for frequency, e, pericentre, _ in _apart(whole, count):
        one = np.array([1 / frequency]), float(e), np.array([pericentre])
        gain, amplitudes = fit.solve(*one)
        names = [block.quantity for block in fit.blocks]
        along, across = (
            {q: float(a[0, k]) for q, a in zip(names, amplitudes, strict=True)} for k in (0, 1)
        )
        found.append(Guess(1 / frequency, e, pericentre, along, across, float(gain[0])))
    return found


def _tried(
    fit: LinearFit, frequencies: np.ndarray, eccentricities: Sequence[float], phases: int
) -> np.ndarray:
    """(orbit, 4) frequency, eccentricity, time of pericentre and gain of a grid of orbits."""
    found = [np.empty((0, 4))]
    for e in eccentricities:
        shifts = np.arange(phases if e else 1) / phases
        f, shift = (part.ravel() for part in np.meshgrid(frequencies, shifts, indexing="ij"))
        parts = np.array_split(np.arange(len(f)), len(f) // AT_ONCE + 1)
        gains = [fit.solve(1 / f[at], e, shift[at] / f[at])[0] for at in parts]
        found.append(np.column_stack([f, np.full(len(f), e), shift / f, np.concatenate(gains)]))
    return np.concatenate(found)


def _apart(tried: np.ndarray, count: int) -> np.ndarray:
    """The best of a grid, whose periods differ by 5 % at least."""
    kept: list[np.ndarray] = []
    for row in tried[np.argsort(-tried[:, 3])]:
        if all(abs(row[0] / other[0] - 1) > 0.05 for other in kept):
            kept.append(row)
        if len(kept) == count:
            break
    return np.array(kept).reshape(-1, 4)
