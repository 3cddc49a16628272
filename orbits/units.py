"""Units of every file and every number: astronomical unit, year, solar mass."""

import math

G = 4 * math.pi**2
"""Newton's constant, au^3 yr^-2 M_sun^-1: 2 pi radians a year at 1 au around 1 M_sun."""

GM_SUN = G
"""Gravitational parameter of the Sun, au^3/yr^2."""

JULIAN_YEAR_DAYS = 365.25
"""Days in the year used here."""

UNITS = {
    "length": "au",
    "time": "yr",
    "mass": "M_sun",
    "velocity": "au/yr",
    "acceleration": "au/yr^2",
    "gm": "au^3/yr^2",
}

YEARS = {
    "yr": 1.0,
    "d": 1 / JULIAN_YEAR_DAYS,
    "h": 1 / (24 * JULIAN_YEAR_DAYS),
    "min": 1 / (1440 * JULIAN_YEAR_DAYS),
    "s": 1 / (86400 * JULIAN_YEAR_DAYS),
}
"""Units of time in years of 365.25 days."""
ASTRONOMICAL_UNIT_M = 149_597_870_700.0
"""Metres in an au. Source: IAU 2012 Resolution B2."""
LENGTHS = {
    "au": 1.0,
    "km": 1e3 / ASTRONOMICAL_UNIT_M,
    "m": 1 / ASTRONOMICAL_UNIT_M,
    "pc": 648_000 / math.pi,
}
"""Units of length in au."""
SPEEDS = {
    "au/yr": 1.0,
    "au/d": JULIAN_YEAR_DAYS,
    "km/s": LENGTHS["km"] / YEARS["s"],
    "m/s": LENGTHS["m"] / YEARS["s"],
}
"""Units of speed in au/yr."""
