"""From rows of a table to tracks: the same bodies at the same times, in order and gap-free."""

import itertools
import os
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from orbits.config import ImportConfig
from orbits.importing.slips import slips
from orbits.importing.splines import resampled
from orbits.importing.tables import Table
from orbits.units import LENGTHS, SPEEDS, YEARS

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
        noise: (body,) au, if the positions were smoothed.
    """

    orbit: str
    time: np.ndarray
    position: np.ndarray
    velocity: np.ndarray | None
    noise: np.ndarray | None = None


@dataclass
class Remarks:
    """What was done to a table, and what is odd about it, for the record."""

    lines: list[str] = field(default_factory=list)

    def say(self, line: str) -> None:
        """Remember a line, once."""
        if line not in self.lines:
            self.lines.append(line)


def tracks_of(
    table: Table, config: ImportConfig, remarks: Remarks
) -> tuple[list[Track], tuple[str, ...]]:
    """The tracks of a table, one for each trajectory, and the names of their bodies.

    Raises:
        ValueError: for rows out of order, repeated or without a value, a body that is missing
            or does not move, or too few states (says where).
    """
    frame = _whole(table, config, remarks)
    if frame.empty:
        raise ValueError(f"{table.name} holds no rows.")
    scales = YEARS[config.time_unit], LENGTHS[config.length_unit]
    speed = SPEEDS.get(config.velocity_unit, scales[1] / scales[0])
    found, names = [], _body_names(frame, config)
    one = [("", frame)]
    groups = frame.groupby(config.orbit, sort=False, observed=True) if config.orbit else one
    for orbit, rows in groups:
        labels = [f"{name} of orbit {orbit}" if config.orbit else name for name in names]
        if config.body:
            of_body = rows.groupby(config.body, sort=False, observed=True)
            by_name = {str(name): part for name, part in of_body}
            parts = []
            for name, label in zip(names, labels, strict=True):
                if name not in by_name:
                    raise ValueError(
                        f"{table.name}: body {label} has no rows; leave it out with --bodies."
                    )
                ordered = _ordered(by_name[name], table, config, remarks, f" of {label}")
                parts.append(_states(ordered, table, config, 0, remarks))
        else:
            ordered = _ordered(rows, table, config, remarks, "")
            bodies = range(len(config.position))
            parts = [_states(ordered, table, config, body, remarks) for body in bodies]
        time, position, velocity, noise = _together(parts, labels, table, config, remarks)
        _require_motion(position, labels, table)
        velocity = None if velocity is None else velocity * speed
        noise = None if noise is None else noise * scales[1]
        found.append(Track(str(orbit), time * scales[0], position * scales[1], velocity, noise))
    return found, names


def _whole(table: Table, config: ImportConfig, remarks: Remarks) -> pd.DataFrame:
    """Rows with a finite value in every column."""
    frame = table.frame
    numbers = frame.select_dtypes("number")
    bad = ~np.isfinite(numbers.to_numpy()).all(axis=1)
    bad |= frame.isna().any(axis=1).to_numpy()
    if not bad.any():
        return frame
    row = int(np.argmax(bad))
    column = next(
        c for c in frame
        if pd.isna(frame[c].iloc[row]) or (c in numbers and not np.isfinite(frame[c].iloc[row]))
    )  # fmt: skip
    if config.bad_rows == "refuse":
        raise ValueError(
            f"{table.name}, {table.place(row)}: {column} has no finite value (nor have {bad.sum()} "
            "row(s) in all); repair the table, or leave such rows out with --bad-rows mend."
        )
    remarks.say(f"{bad.sum()} row(s) without a value were left out, the first {table.place(row)}")
    return frame[~bad]


def _body_names(frame: pd.DataFrame, config: ImportConfig) -> tuple[str, ...]:
    if not config.body:
        stems = tuple(
            os.path.commonprefix(list(columns)).strip("_-. ")  # noqa: RUF071 - star1 of star1_x, ...
            for columns in config.position_names
        )
        if all(stems) and len(set(stems)) == len(stems):
            return config.bodies or stems
        several = tuple(f"body{k + 1}" for k in range(len(stems)))
        return config.bodies or (several if len(stems) > 1 else ("body",))
    there = [str(name) for name in pd.unique(frame[config.body])]
    for name in config.bodies:
        if name not in there:
            raise ValueError(
                f"the column {config.body} has no {name!r}; it has {', '.join(there[:20])}."
            )
    return config.bodies or tuple(there)


def _ordered(
    rows: pd.DataFrame, table: Table, config: ImportConfig, remarks: Remarks, of: str
) -> pd.DataFrame:
    """Rows in time order, each time once."""
    time = rows[config.time].to_numpy()
    steps = np.diff(time)
    if np.all(steps > 0):
        return rows
    at = int(np.argmax(steps <= 0)) + 1
    place = table.place(int(rows.index[at]))
    if config.bad_rows == "refuse":
        what = "goes backwards" if steps[at - 1] < 0 else "is there twice"
        more = "" if config.body or config.orbit else (
            " Where the table holds several trajectories or bodies, name their column (--orbit, "
            "--body)."
        )  # fmt: skip
        raise ValueError(
            f"{table.name}, {place}: the time{of} {what} ({time[at - 1]:.12g}, then "
            f"{time[at]:.12g}); repair the table, or let it be sorted with --bad-rows mend.{more}"
        )
    ordered = rows.sort_values(config.time, kind="stable")
    once = ordered[~ordered[config.time].duplicated()]
    remarks.say(
        f"rows{of} were not in order of time, the first {place}: sorted, and "
        f"{len(ordered) - len(once)} left out whose time was there already"
    )
    return once


def _states(
    rows: pd.DataFrame, table: Table, config: ImportConfig, body: int, remarks: Remarks
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    columns, velocity = config.position_names[body], None
    time, position = rows[config.time].to_numpy(), rows[list(columns)].to_numpy()
    if config.velocity:
        velocity = rows[list(config.velocity_names[body])].to_numpy()
    found = slips(time, position)
    if len(found):
        row, off = found[0]
        remarks.say(
            f"{len(found)} position(s) {','.join(columns)} far off the path of their neighbours, "
            f"the first in {table.place(int(rows.index[int(row)]))} by {off:.3g} "
            f"{config.length_unit}; kept: repair them, since forces hang on every position"
        )
    return time, position, velocity


def _together(
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    names: list[str],
    table: Table,
    config: ImportConfig,
    remarks: Remarks,
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Times shared by all bodies, with their states; bodies seen at others are interpolated."""
    times, positions, velocities = zip(*parts, strict=True)
    for name, time in zip(names, times, strict=True):
        if len(time) < FEWEST_STATES:
            raise ValueError(
                f"{table.name}: {name} has {len(time)} state(s); at least {FEWEST_STATES} are "
                "needed, better hundreds."
            )
    if all(np.array_equal(time, times[0]) for time in times[1:]):
        velocity = np.stack(velocities, axis=1) if config.velocity else None
        return times[0], np.stack(positions, axis=1), velocity, None
    first, last = max(t[0] for t in times), min(t[-1] for t in times)
    longest = max(t[-1] - t[0] for t in times)
    pause = config.gap * max(float(np.median(np.diff(t))) for t in times)
    for name, time in zip(names, times, strict=True):
        if max(t[-1] for t in times) - time[-1] > pause or last - first < longest / 2:
            raise ValueError(
                f"{table.name}: {name} is seen until time {time[-1]:.12g} only, others until "
                f"{max(t[-1] for t in times):.12g}; leave it out with --bodies, or cut the table."
            )
    step = float(np.median([np.median(np.diff(t)) for t in times]))
    grid = first + step * np.arange(int((last - first) / step + 1e-9) + 1)
    position, _, noise = resampled(times, positions, grid)
    remarks.say(
        "the bodies are seen at different times: all were resampled with smoothing splines "
        f"(noise {noise.max():.2g} {config.length_unit})"
    )
    return grid, position, None, noise


def _require_motion(position: np.ndarray, names: list[str], table: Table) -> None:
    for body, name in enumerate(names):
        if not np.any(position[:, body]):
            raise ValueError(
                f"{table.name}: every position of {name} is zero; where positions are relative "
                f"to it, leave its columns out and give its name by --origin."
            )
        if not np.any(np.ptp(position[:, body], axis=0)):
            raise ValueError(f"{table.name}: {name} does not move; leave it out.")
    for j, k in itertools.combinations(range(len(names)), 2):
        same = np.all(position[:, k] == position[:, j], axis=-1)
        if same.any():
            raise ValueError(
                f"{table.name}: {names[j]} and {names[k]} are at one place in "
                f"{int(same.sum())} state(s)."
            )
