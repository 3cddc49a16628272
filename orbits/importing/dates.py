"""Dates in a table as years since J2000.0: in ISO format, or in that of Horizons."""

import re

import numpy as np
import pandas as pd

from orbits.units import YEARS

EPOCH = np.datetime64("2000-01-01T12:00:00", "us")
JULIAN = {"jd", "mjd", "bjd", "hjd", "tjd", "rjd"}
"""Names of Julian dates, in days."""
HOW_READ = "the times are dates, read as Julian years since 2000-01-01T12:00, leap seconds left out"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATE = re.compile(
    r"^(?:A\.D\.\s+)?(\d{4})-(\d\d|[A-Za-z]{3})-(\d\d)"
    r"(?:[T ]+(\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)\d*)?\s*(?:Z|UTC|TDB|TT)?$"
)
_PARTS = re.compile(r"\d\s*[:/hHdm°]\s*\d|\d-\w+-\d|\d\.\d+\.\d")
"""Numbers with separators, as in dates, times of day and sexagesimal angles."""


def years_of(values: pd.Series) -> np.ndarray | None:
    """(row,) Julian years since J2000.0 from a column of dates, text or pandas' own.

    NaN where a row has none; None where the first value is no date.
    """
    if pd.api.types.is_datetime64_any_dtype(values):
        times = pd.to_datetime(values, utc=True).dt.tz_localize(None).to_numpy("datetime64[us]")
    elif values.empty or _iso(values.iloc[0]) is None:
        return None
    else:
        times = np.array([_iso(text) or "NaT" for text in values], dtype="datetime64[us]")
    days = (times - EPOCH) / np.timedelta64(1, "D")
    return np.asarray(days * YEARS["d"])


def _iso(text: object) -> str | None:
    """A date in ISO format; None if it is not."""
    found = _DATE.match(str(text).strip())
    if found is None:
        return None
    year, month, day, clock = found.groups()
    if month.isalpha():
        if month.lower() not in MONTHS:
            return None
        month = f"{MONTHS.index(month.lower()) + 1:02d}"
    date = f"{year}-{month}-{day}" + (f"T{clock}" if clock else "")
    try:
        np.datetime64(date)
    except ValueError:
        return None
    return date


def in_parts(text: object) -> bool:
    """Whether a text is a date, a time of day or an angle, written in parts: 12:34:56, 1/2/2015."""
    return _PARTS.search(str(text)) is not None
