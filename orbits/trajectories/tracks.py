"""From rows of a table, or from arrays, to tracks: the same bodies at the same times, in order."""

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from orbits.config import ImportConfig
from orbits.quantities import carried_unit, without_unit
from orbits.tables import (
    LARGEST,
    Source,
    as_table,
    frame_of,
    name_of,
    named_rows,
    numbers_of,
    read_columns,
    require_column,
)
from orbits.units import LENGTHS, YEARS, GivenUnits

FEWEST_STATES = 3
"""With fewer states there is no acceleration."""


@dataclass(frozen=True)
class Track:
    """Bodies seen at the same times.

    Attributes:
        orbit: name of the trajectory.
        time: (time,) yr, rising.
        position: (time, body, axis) au.
        velocity: (time, body, axis) au/yr, if given.
        rows: (time,) of the source, from 0, where the first body's are.
    """

    orbit: str
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray | None
    rows: np.ndarray | None = None

    def part(self, rows: np.ndarray) -> "Track":
        """Some of its states."""
        velocity, own = (None if v is None else v[rows] for v in (self.velocity, self.rows))
        return Track(self.orbit, self.time[rows], self.position[rows], velocity, own)


@dataclass
class Remarks:
    """What was done to a table, and what is odd about it, for the record; in its own units."""

    units: GivenUnits
    lines: list[str] = field(default_factory=list)
    left_out: list[dict[str, Any]] = field(default_factory=list)
    """Groups of outlying states: orbit, `rows` as the source counts them, and a block's shift."""

    def say(self, line: str) -> None:
        """Remember a line, once."""
        if line not in self.lines:
            self.lines.append(line)


@dataclass(frozen=True)
class TrackTable:
    """The columns of a trajectory.

    Attributes:
        frame: numbers as float64; names of bodies and trajectories as they are.
        name: of the source, for messages.
        source: where the rows are from.
    """

    frame: pd.DataFrame
    name: str
    source: Source

    def place(self, row: int) -> str:
        """A row's name, by its position in the source."""
        return named_rows(self.source, [row], blank_lines=True)

    def places(self, rows: Sequence[int]) -> str:
        """Names of several rows."""
        return named_rows(self.source, rows, blank_lines=True)


def read_table(source: Source | np.ndarray, config: ImportConfig) -> TrackTable:
    """The columns of a source that hold its trajectories.

    Raises:
        ValueError: if there is no such file, it is not a table, or a column is missing or holds
            anything but numbers (says which and where).
    """
    source = frame_of(source) if isinstance(source, np.ndarray) else as_table(source)
    states = itertools.chain(*config.position_names, *config.velocity_names)
    labels = [name for name in (config.body, config.orbit) if name]
    columns = list(dict.fromkeys([config.time, *states, *labels]))
    frame, there = read_columns(source, columns, labels=labels)
    table = TrackTable(frame, name_of(source), source)
    for column in columns:
        require_column(column, there, table.name)
    frame = frame[columns].reset_index(drop=True)
    moving = {name for names in config.velocity_names for name in names}
    units: dict[str, str] = dict.fromkeys(columns, str(config.length_unit))
    units |= {config.time: config.time_unit} | dict.fromkeys(
        moving, f"{config.length_unit}/{config.time_unit}"
    )
    numbers = {c: v.astype("category") if c in labels else _numbers(v, table, units[str(c)])
               for c, v in frame.items()}  # fmt: skip
    return TrackTable(pd.DataFrame(numbers), table.name, source)


def _numbers(values: pd.Series, table: TrackTable, unit: str) -> pd.Series:
    if carried_unit(values) is not None or (values.dtype.kind == "m" and unit in YEARS):
        name = f"{table.name}, the column {values.name}"
        values = pd.Series(without_unit(values, unit, name), values.index, name=values.name)
    numbers = pd.Series(numbers_of(values), values.index)
    too_large = numbers.abs().between(LARGEST, np.inf, inclusive="neither")
    wrong = (numbers.isna() & values.notna()).to_numpy() | too_large.to_numpy()
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{table.name}, {table.place(row)}: {values.name} is {str(values.iloc[row])[:30]!r}; a "
            f"number is needed, all of one unit, at most {LARGEST:g}."
        )
    return numbers


def tracks_of(table: TrackTable, config: ImportConfig) -> tuple[list[Track], tuple[str, ...]]:
    """The tracks of a table, one for each trajectory, and the names of their bodies.

    Raises:
        ValueError: for rows out of order, repeated or without a value, a body that is missing
            or does not move, or too few states (says where).
    """
    _require_values(table)
    frame = table.frame
    if frame.empty:
        raise ValueError(f"{table.name} holds no rows.")
    names = _body_names(frame, config)
    length, time = LENGTHS[config.length_unit], YEARS[config.time_unit]
    groups = frame.groupby(config.orbit, sort=False, observed=True) if config.orbit else None
    tracks = []
    for orbit, rows in groups or [("", frame)]:
        labels = [f"{name} of orbit {orbit}" if config.orbit else name for name in names]
        tracks.append(_track(str(orbit), rows, labels, table, config))
    return [
        Track(
            each.orbit, each.time * time, each.position * length,
            None if each.velocity is None else each.velocity * length / time, each.rows,
        )
        for each in tracks
    ], names  # fmt: skip


def _require_values(table: TrackTable) -> None:
    """Refuse rows without a finite value in some column."""
    bad = table.frame.isna() | table.frame.isin([np.inf, -np.inf])
    rows = bad.any(axis=1).to_numpy()
    if rows.any():
        row = int(np.argmax(rows))
        column = bad.columns[int(np.argmax(bad.iloc[row]))]
        raise ValueError(
            f"{table.name}, {table.place(row)}: {column} has no finite value (nor have "
            f"{rows.sum()} row(s) in all); repair the table, or leave such rows out (dropna in "
            "pandas)."
        )


def _body_names(frame: pd.DataFrame, config: ImportConfig) -> tuple[str, ...]:
    """In long form those of the table; in wide form what the columns of a body have in common."""
    if config.body:
        return tuple(str(name) for name in pd.unique(frame[config.body]))
    stems = tuple(
        os.path.commonprefix(list(columns)).strip("_-. ")  # noqa: RUF071 - star1 of star1_x, ...
        for columns in config.position_names
    )
    if all(stems) and len(set(stems)) == len(stems):
        return stems
    return tuple(f"body{k + 1}" for k in range(len(stems))) if len(stems) > 1 else ("body",)


def _track(
    orbit: str, rows: pd.DataFrame, names: Sequence[str], table: TrackTable, config: ImportConfig
) -> Track:
    """One trajectory, in the table's units."""
    parts = [rows] * len(names)
    if config.body:
        by_name = {str(n): r for n, r in rows.groupby(config.body, sort=False, observed=True)}
        if lost := set(by_name) ^ {name.split(" of orbit ")[0] for name in names}:
            raise ValueError(
                f"{table.name}: body {min(lost)} has no rows in orbit {orbit}; leave it out of the "
                "table."
            )
        parts = list(by_name.values())
    states: list[tuple[np.ndarray, ...]] = []
    for body, (name, own) in enumerate(zip(names, parts, strict=True)):
        at = 0 if config.body else body
        columns = [*config.position_names[at], *(config.velocity and config.velocity_names[at])]
        label = f" of {name}" if config.body else ""
        time, values = own[config.time].to_numpy(), own[columns].to_numpy()
        _require_order(time, own[list(config.position_names[at])], label, table, config)
        if len(time) < FEWEST_STATES:
            raise ValueError(
                f"{table.name}: {name} has {len(time)} state(s); at least {FEWEST_STATES} are "
                "needed, better hundreds."
            )
        states.append((time, *np.split(values, 2 if config.velocity else 1, axis=1)))
    times, *others = zip(*states, strict=True)
    for name, time in zip(names, times, strict=True):
        if not np.array_equal(time, times[0]):
            alone = np.setxor1d(time, times[0])[0]
            raise ValueError(
                f"{table.name}: {names[0]} and {name} are not seen at the same times, the first "
                f"{alone:.12g}; leave such rows out, or interpolate them."
            )
    position, *velocity = (np.stack(each, axis=1) for each in others)
    _require_motion(position, names, table.name)
    source = parts[0].index.to_numpy()
    return Track(orbit, times[0], position, velocity[0] if velocity else None, source)


def _require_order(
    time: np.ndarray, position: pd.DataFrame, of: str, table: TrackTable, config: ImportConfig
) -> None:
    """Refuse times that do not rise from row to row; of one that is there twice it is said by how
    much the positions differ."""
    steps = np.diff(time)
    if np.all(steps > 0):
        return
    at = int(np.argmax(steps <= 0)) + 1
    what, advice = "goes backwards", "sort the table (sort_values in pandas)"
    if steps[at - 1] == 0:
        apart = np.linalg.norm(position.diff()[1:][steps == 0], axis=1).max()
        what = f"is there twice, at positions up to {apart:.3g} {config.length_unit} apart"
        advice = "keep one row of each time, or their mean (groupby in pandas)"
    more = "" if config.body or config.orbit else (
        " Where the table holds several trajectories or bodies, name their column (--orbit, "
        "--body)."
    )  # fmt: skip
    raise ValueError(
        f"{table.name}, {table.place(int(position.index[at]))}: the time{of} {what} "
        f"({time[at - 1]:.12g}, then {time[at]:.12g}); {advice}.{more}"
    )


def _require_motion(position: np.ndarray, names: Sequence[str], table: str) -> None:
    for body, name in enumerate(names):
        if not np.any(position[:, body]):
            raise ValueError(
                f"{table}: every position of {name} is zero; where positions are relative "
                f"to it, leave its columns out and give its name by --origin."
            )
        if not np.any(np.ptp(position[:, body], axis=0)):
            raise ValueError(f"{table}: {name} does not move; leave it out.")
    for j, k in itertools.combinations(range(len(names)), 2):
        same = np.all(position[:, k] == position[:, j], axis=-1)
        if same.any():
            raise ValueError(
                f"{table}: {names[j]} and {names[k]} are at one place in {int(same.sum())} "
                "state(s)."
            )
