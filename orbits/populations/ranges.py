"""Ranges of the sizes and shapes of orbits."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betainc, betaincinv

from orbits.elements import require_eccentricity
from orbits.forces import ForceLaw


@dataclass(frozen=True)
class Ranges:
    """Ranges of sizes and shapes.

    Args:
        semi_major_axis: au, low and high.
        eccentricity: low and high; `min_perihelion` cuts it off.
        min_perihelion: au; no orbit comes closer.
        population: `controlled` draws semi-major axes log-uniformly and eccentricities uniformly;
            `exoplanets` draws semi-major axes uniformly and eccentricities from the Beta
            distribution of Kipping (2013).
    """

    semi_major_axis: tuple[float, float] = (0.3, 2.0)
    eccentricity: tuple[float, float] = (0.0, 0.6)
    min_perihelion: float = 0.28
    population: Literal["controlled", "exoplanets"] = "controlled"

    def __post_init__(self) -> None:
        low, high = self.semi_major_axis
        if not 0 < low <= high < np.inf:
            raise ValueError(
                f"semi-major axis from {low:g} to {high:g} au; it must be 0 < low <= high."
            )
        require_eccentricity(np.asarray(self.eccentricity))
        if self.eccentricity[0] > self.eccentricity[1]:
            raise ValueError(
                f"eccentricity from {self.eccentricity[0]:g} to {self.eccentricity[1]:g}; "
                "the first must not be above the second."
            )
        if not 0 <= self.min_perihelion < np.inf:
            raise ValueError(f"min-perihelion is {self.min_perihelion:g} au; it must be >= 0.")
        if low * (1 - self.eccentricity[0]) < self.min_perihelion:
            raise ValueError(
                f"an orbit of {low:g} au with e = {self.eccentricity[0]:g} comes closer than "
                f"min-perihelion = {self.min_perihelion:g} au; raise the semi-major axes or lower "
                "min-perihelion."
            )

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """(orbit,) semi-major axes, au, and eccentricities."""
        low, high = self.semi_major_axis
        least, most = self.eccentricity
        place, shape = rng.random((2, count))
        if self.population == "controlled":
            a = low * (high / low) ** place
            top = np.clip(1 - self.min_perihelion / a, least, most)
            return a, least + (top - least) * shape
        a = low + (high - low) * place
        top = np.clip(1 - self.min_perihelion / a, least, most)
        kipping = 0.867, 3.03  # beta distribution of exoplanets' eccentricities: MNRAS 434, L51
        below, above = betainc(*kipping, least), betainc(*kipping, top)
        e = betaincinv(*kipping, below + (above - below) * shape)
        return a, np.clip(e, least, top)


def require_attraction(law: ForceLaw, ranges: Ranges, gm: float) -> None:
    """Refuse a law that repels, or has a pole, where orbits would be drawn.

    Raises:
        ValueError: says at which separation.
    """
    low = min(ranges.min_perihelion or np.inf, ranges.semi_major_axis[0])
    low = min(low, ranges.semi_major_axis[0] * (1 - ranges.eccentricity[1]))
    high = ranges.semi_major_axis[1] * (1 + ranges.eccentricity[1])
    r = np.geomspace(low, high, 4097)
    with np.errstate(all="ignore"):
        pull = -np.asarray(law.radial_acceleration(r, gm), dtype=float) * np.ones_like(r)
    bad = ~np.isfinite(pull)
    if np.any(bad):
        raise ValueError(
            f"law {law.spec} is not finite at r = {r[bad][0]:.4g} au, inside the range "
            f"{low:.3g}-{high:.3g} au that orbits would cross; narrow --semi-major-axis."
        )
    if np.any(pull <= 0):
        raise ValueError(
            f"law {law.spec} does not attract at r = {r[pull <= 0][0]:.4g} au, inside the range "
            f"{low:.3g}-{high:.3g} au that orbits would cross; narrow --semi-major-axis."
        )
    apart = np.maximum(np.diff(np.log(r)), 1e-9)  # circular orbits of one size are all at one r
    slope = np.abs(np.diff(np.log(pull)) / apart)
    if np.max(slope) > 200:  # r^-200 between neighbours 0.1 % apart: no law, a pole
        raise ValueError(
            f"law {law.spec} has a pole near r = {r[np.argmax(slope)]:.4g} au, inside the range "
            f"{low:.3g}-{high:.3g} au that orbits would cross; narrow --semi-major-axis."
        )
