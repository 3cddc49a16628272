"""Known constants that a fitted number may be: proposed, never put in its place."""

import math

from symreg.fit.uncertainty import Interval

KNOWN = {
    "4π²": 4 * math.pi**2,
    "2π": 2 * math.pi,
    "π": math.pi,
    "π²": math.pi**2,
    "1": 1.0,
    "1/2": 0.5,
    "2": 2.0,
    "G (SI)": 6.67430e-11,
    "GM of the Sun (SI)": 1.32712440018e20,
    "GM of the Earth (SI)": 3.986004418e14,
    "G (km²/s² pc per solar mass)": 4.30091e-3,
}
"""Values that gravity's constants take in the units people use.

Source: CODATA 2018 for G; IAU 2015 Resolution B3 (nominal values) and DE421 for the products GM.
"""
TOLERANCE = 0.03
"""Relative distance from which a constant is not proposed, however wide the interval."""


def recognised(interval: Interval) -> dict[str, float | str] | None:
    """The known constant nearest to a number, if it lies in the interval and within 3 %.

    An interval of rounding errors is widened to 1e-6 of the value.
    """
    near = []
    for name, value in KNOWN.items():
        distance = abs(interval.value / value - 1)
        slack = 1e-6 * abs(value)
        inside = interval.low - slack <= value <= interval.high + slack
        if distance <= TOLERANCE and inside:
            near.append((distance, name, value))
    if not near:
        return None
    distance, name, value = min(near)
    return {"name": name, "value": value, "relative_distance": distance}
