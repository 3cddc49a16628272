"""Units of every file and every number: astronomical unit, year, solar mass."""

import numpy as np

G = 4 * np.pi**2
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
