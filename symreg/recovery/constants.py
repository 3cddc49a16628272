"""Constants of physics that a fitted number may be: proposed, never substituted."""

from collections.abc import Iterator
from dataclasses import dataclass

from orbits.estimates import Estimate
from orbits.units import CONSTANTS, ONE, Unit, parse_unit

RECOGNISED = 0.03
"""Relative distance beyond which no known constant is proposed, however wide the interval."""


@dataclass(frozen=True)
class KnownConstant:
    """A constant of physics that a fitted number may be."""

    name: str
    value: float
    relative_distance: float


def recognised(estimate: Estimate, unit: Unit = ONE) -> KnownConstant | None:
    """The nearest constant, in the number's own unit, if it lies in the interval and within 3 %."""
    value, low, high = estimate.value, estimate.low, estimate.high
    if value is None or low is None or high is None:
        return None
    near = []
    for name, constant in _of_dimension(unit):
        # an interval of mere rounding is widened to a millionth
        distance, slack = abs(value / constant - 1), 1e-6 * abs(constant)
        if distance <= RECOGNISED and low - slack <= constant <= high + slack:
            near.append(KnownConstant(name, constant, distance))
    return min(near, key=lambda known: known.relative_distance, default=None)


def _of_dimension(unit: Unit) -> Iterator[tuple[str, float]]:
    """Constants of a unit's dimension, in that unit; what has none may be in any unit."""
    for name, row in CONSTANTS.items():
        value, bare = float(row["value"]), row["without_unit"]
        if unit.powers == ONE.powers and bare:
            yield bare, value
        if unit.powers == parse_unit(row["unit"]).powers != ONE.powers:
            yield name, value / unit.size
