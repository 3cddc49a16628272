"""Tables of observers: dates, offsets on the sky, radial velocities, each with its error."""

import os
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from orbits.importing.dates import years_of
from orbits.importing.tables import name_of, read_columns, require_column
from orbits.simulators.relativity import SPEED_OF_LIGHT
from orbits.units import ANGLES, SPEEDS, YEARS
from symreg.weighing.config import SkyConfig

ERRORS = ("{}_error", "{}_err", "e_{}", "{}err")
"""Names of the column of standard errors, by that of the values."""
ARC_SECONDS = {name: size / ANGLES["arcsec"] for name, size in ANGLES.items()}
J2000 = {"JD": 2_451_545.0, "MJD": 51_544.5}
"""Dates of J2000.0, days."""
FEWEST = 8
"""Dates."""
DATES = {"JD": (2_000_000, 3_000_000), "MJD": (15_000, 100_000), "yr": (1500, 2500)}
"""By their size: Julian dates, modified ones, and decimal years."""
SEXAGESIMAL = re.compile(r"^\s*([+-]?)(\d+)[:hd°\s]+(\d+)[:m'\s]+(\d+(?:\.\d*)?)s?\"?\s*$")


@dataclass(frozen=True)
class Block:
    """Values of one quantity.

    Attributes:
        quantity: `x` (east) and `y` (north), arcsec; `rv`, au/yr, positive for what recedes.
        times: (row,) yr since the first observation of all.
        value: (row,).
        sigma: (row,) standard errors.
        group: (row,) which instrument.
    """

    quantity: str
    times: np.ndarray
    value: np.ndarray
    sigma: np.ndarray
    group: np.ndarray


@dataclass(frozen=True)
class Observations:
    """All that was seen of one body: values by quantity, since the epoch, a decimal year."""

    blocks: tuple[Block, ...]
    instruments: tuple[str, ...]
    epoch: float
    notes: tuple[str, ...]

    @property
    def on_sky(self) -> bool:
        """Whether places on the sky are among them."""
        return any(block.quantity != "rv" for block in self.blocks)

    @property
    def velocities(self) -> bool:
        """Whether radial velocities are among them."""
        return any(block.quantity == "rv" for block in self.blocks)

    @property
    def span(self) -> float:
        """From the first to the last, yr."""
        return float(max(block.times[-1] for block in self.blocks))


def read_observations(
    source: pd.DataFrame | str | os.PathLike[str], config: SkyConfig
) -> Observations:
    """Read a table in which a row holds some of the quantities, and blanks for the others.

    Raises:
        ValueError: for a column that is missing or holds no numbers, an error that is not above 0,
            dates of no known kind, or too few rows (says which and where).
    """
    named = config.columns
    wanted = [config.time, *named.values(), config.instrument]
    wanted += [form.format(column) for column in named.values() for form in ERRORS]
    (frame, known), name = read_columns(source, wanted), name_of(source)
    for column in (config.time, *named.values(), *filter(None, [config.instrument])):
        require_column(column, known, name)
    years, how = _decimal_years(frame[config.time], f"{name}, column {config.time}")
    labels = frame[config.instrument].astype(str) if config.instrument else None
    groups, instruments = pd.factorize(labels) if labels is not None else (None, ["all"])
    epoch = float(np.min(years))
    degree = ANGLES["deg"] / ANGLES[config.angle_unit]
    values = {
        q: _values(frame[column], f"{name}, column {column}", degree, q == "ra")
        for q, column in named.items()
    }
    scales = dict.fromkeys(("x", "y", "ra", "dec"), ARC_SECONDS[config.angle_unit])
    scales["rv"] = SPEEDS[config.velocity_unit]
    errors: dict[str, np.ndarray] = {}
    for quantity, column in named.items():
        own = next((form.format(column) for form in ERRORS if form.format(column) in known), None)
        if own is None:
            tried = ", ".join(form.format(column) for form in ERRORS)
            raise ValueError(f"{name}: {column} has no column of standard errors (tried: {tried}).")
        errors[quantity] = _values(frame[own], f"{name}, column {own}") * scales[quantity]
        bad = np.flatnonzero(np.isfinite(values[quantity]) & ~(errors[quantity] > 0))
        if len(bad):
            raise ValueError(f"{name}, row {bad[0] + 1}: {own} is no standard error above 0.")
    if "rv" in values:
        faster = np.flatnonzero(np.abs(values["rv"]) * scales["rv"] >= SPEED_OF_LIGHT)
        if len(faster):
            speed = f"{values['rv'][faster[0]]:g} {config.velocity_unit}"
            raise ValueError(
                f"{name}, row {faster[0] + 1}: {speed} is not below the speed of light; see "
                "--velocity-unit."
            )
    notes = [how]
    if "ra" in values:
        values, note = _offsets(values, scales["ra"])
        errors["x"], errors["y"] = errors.pop("ra"), errors.pop("dec")
        notes.append(note)
    blocks = []
    for quantity, value in values.items():
        there = np.flatnonzero(np.isfinite(value))
        there = there[np.argsort(years[there], kind="stable")]
        scale = 1.0 if "ra" in named and quantity != "rv" else scales[quantity]
        group = np.zeros(len(there), int) if groups is None else groups[there]
        times = years[there] - epoch
        blocks.append(Block(quantity, times, value[there] * scale, errors[quantity][there], group))
    if len(np.unique(np.concatenate([block.times for block in blocks]))) < FEWEST:
        raise ValueError(f"{name} has fewer than {FEWEST} dates; an orbit needs more.")
    return Observations(tuple(blocks), tuple(map(str, instruments)), epoch, tuple(notes))


def _decimal_years(column: pd.Series, where: str) -> tuple[np.ndarray, str]:
    dated = years_of(column)
    if dated is not None:
        require_rows(~np.isnan(dated), where, "holds no date")
        return 2000.0 + dated, "the times are dates, read as Julian years"
    values = _values(column, where)
    require_rows(~np.isnan(values), where, "holds no time")
    for kind, (low, high) in DATES.items():
        if low <= values.min() and values.max() <= high:
            if kind == "yr":
                return values, "the times are decimal years"
            return 2000.0 + (values - J2000[kind]) * YEARS["d"], f"the times are {kind}, in days"
    raise ValueError(
        f"{where}: times from {values.min():g} to {values.max():g} are neither decimal years, JD "
        "nor MJD; dates as 2015-01-31T12:00 are read too."
    )


def _values(column: pd.Series, where: str, degree: float = 1.0, hours: bool = False) -> np.ndarray:
    """Numbers, also from sexagesimal text; NaN where a cell is blank.

    A degree is in the column's unit; `hours` tells whether 17:45:40 is hours, as in right
    ascensions.
    """
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, copy=True)
    for row in np.flatnonzero(np.isnan(numbers) & column.notna().to_numpy()):
        text = str(column.iloc[row])
        found = SEXAGESIMAL.match(text)
        if found is None:
            raise ValueError(f"{where}: row {row + 1} holds {text[:30]!r}; a number is needed.")
        sign, whole, minutes, seconds = found.groups()
        size = int(whole) + int(minutes) / 60 + float(seconds) / 3600
        in_hours = "h" in text or (hours and "d" not in text and "°" not in text)
        numbers[row] = (-size if sign == "-" else size) * degree * (15.0 if in_hours else 1.0)
    require_rows(~np.isinf(numbers), where, "is not finite")
    return numbers


def require_rows(good: np.ndarray, where: str, what: str) -> None:
    """Refuse a column with a row that is not good, and name the first."""
    if not good.all():
        raise ValueError(f"{where}: row {int(np.argmin(good)) + 1} {what}.")


def _offsets(values: dict[str, np.ndarray], scale: float) -> tuple[dict[str, np.ndarray], str]:
    """Places as offsets, arcsec, from their mean: tangential projection about it."""
    to_radians = scale / 3600 * np.pi / 180
    ra, dec = (values[name] * to_radians for name in ("ra", "dec"))
    ra0, dec0 = np.nanmean(ra), np.nanmean(dec)
    apart = np.sin(dec0) * np.sin(dec) + np.cos(dec0) * np.cos(dec) * np.cos(ra - ra0)
    east = np.cos(dec) * np.sin(ra - ra0) / apart
    north = (np.cos(dec0) * np.sin(dec) - np.sin(dec0) * np.cos(dec) * np.cos(ra - ra0)) / apart
    to_arcsec = np.degrees(1.0) * 3600
    offsets = {"x": east * to_arcsec, "y": north * to_arcsec}
    rest = {name: value for name, value in values.items() if name not in ("ra", "dec")}
    note = "ra and dec are taken as offsets from their mean, without parallax"
    return offsets | rest, note
