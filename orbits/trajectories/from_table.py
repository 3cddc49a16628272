"""Datasets from trajectories measured or simulated elsewhere: of a table, or of arrays."""

import hashlib
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from orbits import dataset
from orbits.config import ImportConfig
from orbits.dataset.schema import ESTIMATED, Layout
from orbits.files import parsing, require_input, sha256_of_file
from orbits.forces import UNKNOWN, known_law
from orbits.options import Quantified, checked, keywords_of, options_from, require_known
from orbits.provenance import provenance
from orbits.quantities import without_unit
from orbits.tables import LARGEST, as_table, read_npz
from orbits.trajectories.outliers import screened
from orbits.trajectories.plausibility import (
    remark_on_scale,
    remark_on_times,
    require_law,
    require_velocities,
)
from orbits.trajectories.sampling import Segment, segments_of
from orbits.trajectories.tracks import (
    FEWEST_STATES,
    Remarks,
    Track,
    read_table,
    tracks_of,
)
from orbits.units import LENGTHS, YEARS, GivenUnits

MOST_NAMED = 1000
"""Rows whose origin is recorded one by one."""


@keywords_of(ImportConfig)
def from_table(
    table: str | os.PathLike[str] | pd.DataFrame | np.ndarray,
    out: str | os.PathLike[str] | None = None,
    config: ImportConfig | None = None,
    announce: Callable[[str], object] | None = None,
    **options: Any,
) -> xr.Dataset:
    """A dataset from trajectories measured or simulated elsewhere.

        orbits.from_table(frame, time="t", position=("x,y,z",), time_unit="d")
        orbits.from_table("stars.csv", position=("x1,y1", "x2,y2"), length_unit="km")

    Evenly sampled positions are kept as they are. What is done to others (cut at gaps, resampled)
    and anything odd about their scale is noted in the attribute `remarks`.

    Args:
        table: a DataFrame, an array, or a CSV, Parquet or NumPy file. A .npz file may hold arrays
            instead of columns: `position` (orbit, time, axis) or (orbit, time, body, axis), `time`
            (time,) or (orbit, time) and, if known, `velocity`, as for `orbits.from_arrays`.
        out: folder to write to; by default all stays in memory.
        config: what the columns are, and in which units.
        announce: called with every remark, in one line.
        **options: fields of `ImportConfig` that differ from `config`.

    Returns:
        The dataset: `relative` for one body, `barycentric` for two, `nbody` for more. Without a
        law, its law is `unknown`, and gm, masses and elements are NaN.

    Raises:
        ValueError: for a missing or non-numeric column, rows out of order, too few states,
            velocities that do not match the positions, or an `out` that holds something else.
    """
    values = {
        name: (value,) if name in ("position", "velocity") and isinstance(value, str) else value
        for name, value in options.items()
    }
    config = options_from(ImportConfig, config, values)
    table = table if isinstance(table, np.ndarray) else as_table(table)
    arrays = _arrays_in(table)
    if arrays is not None:
        return from_arrays(
            arrays["position"], time=arrays["time"], law=config.law, gm=config.gm,
            velocities=arrays.get("velocity"), length_unit=config.length_unit,
            time_unit=config.time_unit, out=out,
        )  # fmt: skip
    remarks = Remarks(GivenUnits(asdict(config)))
    read = read_table(table, config)
    remark_on_times(read.frame[config.time].to_numpy(), config.time_unit, remarks)
    tracks, names = tracks_of(read, config)
    given = _counts(tracks)
    tracks = [screened(track, read.places, remarks, 1) for track in tracks]
    segments = segments_of(tracks, remarks, config.samples)
    source = _Source(
        {**asdict(config), **_identity(table)}, names, bool(config.velocity), config.law, config.gm,
        config.origin, remarks, given,
    )  # fmt: skip
    data = _dataset(segments, source, out)
    for line in remarks.lines if announce else ():
        announce(line)  # type: ignore[misc]
    return data


@checked
def from_arrays(
    positions: np.ndarray | Quantified,
    dt: float | Quantified | None = None,
    law: str = UNKNOWN,
    gm: float | np.ndarray | Quantified = 0.0,
    velocities: np.ndarray | Quantified | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    time: np.ndarray | Quantified | None = None,
    length_unit: str = "au",
    time_unit: str = "yr",
) -> xr.Dataset:
    """A dataset from arrays of orbits, with the law that moves them if it is known.

        data = orbits.from_arrays(positions, 0.01, law="newton", gm=orbits.G)
        worldmodel.probe(model, data, states="kicked")
        orbits.from_arrays(positions, time=days, length_unit="km", time_unit="d")

    Evenly sampled positions are kept as they are; others are cut at gaps and resampled by splines,
    as the attribute `remarks` says.

    Arrays and numbers that carry units (of astropy or pint), and durations, are converted to
    `length_unit` and `time_unit`.

    Args:
        positions: (orbit, time, axis), of one body about the origin, or (orbit, time, body, axis),
            of bodies whose law is unknown; in `length_unit`.
        dt: time between states, in `time_unit`; or give `time`.
        law: that moves the body, as for `orbits.parse_law`.
        gm: gravitational parameter, au^3/yr^2 whatever the units; one number, or (orbit,); with
            `law`.
        velocities: as positions, `length_unit` a `time_unit`; by default estimated from the
            positions.
        out: folder to write to; by default all stays in memory.
        time: (time,) or (orbit, time) times, rising, in `time_unit`.
        length_unit: au, km, m, cm or pc.
        time_unit: yr (of 365.25 days), d, h, min or s.

    Raises:
        ValueError: for other shapes or units, numbers that are not finite, times that do not rise,
            a law or velocities that do not match the positions.
    """
    length = LENGTHS[require_known("length_unit", length_unit, LENGTHS)]
    year = YEARS[require_known("time_unit", time_unit, YEARS)]
    states = _checked(positions, velocities, length_unit, time_unit)
    shape = states[0].shape
    dt = None if dt is None else numbers(dt, "dt", time_unit).tolist()
    times = _times(time, dt, shape, time_unit)
    states = [
        each.reshape(*shape[:2], -1, shape[-1]) * unit
        for each, unit in zip(states, (length, length / year), strict=False)
    ]
    gm = of_orbits = numbers(gm, "gm", "au**3/yr**2")
    largest = float(np.max(of_orbits, initial=0.0))
    ImportConfig(law=law, gm=largest)  # together, and of a size that can be computed with
    if of_orbits.shape not in ((), shape[:1]) or (largest and not np.all(of_orbits > 0)):
        raise ValueError(f"gm must be above 0, one number or one for each of {shape[0]} orbits.")
    remarks = Remarks(GivenUnits({"length_unit": length_unit, "time_unit": time_unit}))
    if dt is None:
        remark_on_times(times, time_unit, remarks)
    tracks = [
        Track(str(k), times[k] * year, states[0][k], states[1][k] if len(states) > 1 else None)
        for k in range(shape[0])
    ]
    given = _counts(tracks)
    tracks = [screened(track, partial(_states, track.orbit), remarks) for track in tracks]
    segments = segments_of(tracks, remarks)
    if law != UNKNOWN and of_orbits.ndim:
        of_orbits = of_orbits[[int(segment.orbit) for segment in segments]]
    configuration = {
        "law": law, "gm": gm.tolist(), "dt": dt, "length_unit": length_unit,
        "time_unit": time_unit, **_identity(np.concatenate([each.ravel() for each in states])),
    }  # fmt: skip
    names = tuple(f"body{k + 1}" for k in range(states[0].shape[2]))
    source = _Source(configuration, names, len(states) > 1, law, of_orbits, "", remarks, given)
    return _dataset(segments, source, out)


def numbers(values: Any, name: str, unit: str = "") -> np.ndarray:
    """An array of real numbers in float64, in `unit` if it carries one of its own; masked ones are
    NaN. ValueError if they are none, or ragged."""
    if unit:
        values = without_unit(values, unit, name)
    try:
        array = np.ma.asarray(values) if np.ma.isMaskedArray(values) else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} are no array: {error}") from None
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: of type {array.dtype}; an array of numbers is needed.")
    return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))


def _checked(positions: Any, velocities: Any, length: str, time: str) -> list[np.ndarray]:
    """Positions and, if given, velocities in float64, in units of length and time."""
    states = [numbers(positions, "positions", length)]
    if velocities is not None:
        states.append(numbers(velocities, "velocities", f"{length}/{time}"))
    shape = states[0].shape
    if len(shape) not in (3, 4) or shape[-1] not in (2, 3) or shape[1] < FEWEST_STATES:
        raise ValueError(
            f"positions have the shape {shape}; (orbit, time, axis) or (orbit, time, body, axis) "
            f"is needed, with 2 or 3 axes and at least {FEWEST_STATES} times."
        )
    if states[-1].shape != shape:
        raise ValueError(f"velocities have the shape {states[-1].shape}, positions {shape}.")
    if not all(np.max(np.abs(each), initial=0.0) <= LARGEST for each in states):
        raise ValueError(
            f"positions and velocities must be finite throughout, and at most {LARGEST:g}."
        )
    at_rest = ~np.any(np.ptp(states[0], axis=1), axis=1)
    if len(shape) == 3 and at_rest.any():
        raise ValueError(
            f"the body of orbit {int(np.argmax(at_rest))} does not move; leave it out."
        )
    return states


def _times(time: Any, dt: Any, shape: tuple[int, ...], unit: str) -> np.ndarray:
    """(orbit, time) times in the unit, from either argument."""
    if (time is None) == (dt is None):
        raise ValueError("give either dt, the time between states, or time, the times themselves.")
    if dt is not None:
        if np.ndim(dt) or not 0 < dt <= LARGEST:
            raise ValueError(
                f"dt is {dt}; one time above 0, and at most {LARGEST:g}, is needed, or give the "
                "times as time=."
            )
        return np.broadcast_to(dt * np.arange(shape[1]), shape[:2])
    times = numbers(time, "time", unit)
    if times.shape not in (shape[:2], shape[1:2]):
        raise ValueError(
            f"time has the shape {times.shape}; {shape[1:2]} or {shape[:2]} is needed."
        )
    times = np.broadcast_to(times, shape[:2])
    if not np.max(np.abs(times), initial=0.0) <= LARGEST:
        raise ValueError(f"times must be finite throughout, and at most {LARGEST:g}.")
    falls = np.any(np.diff(times, axis=1) <= 0, axis=1)
    if np.any(falls):
        orbit = int(np.argmax(falls))
        raise ValueError(
            f"the times of orbit {orbit} do not rise; sort each orbit, each time once."
        )
    return times


def _counts(tracks: Sequence[Track]) -> str:
    """How many orbits and states there are."""
    states = [len(track.time) for track in tracks]
    of = f"{min(states)}" + (f" to {max(states)}" if max(states) > min(states) else "")
    return f"{len(tracks)} orbit{'s' * (len(tracks) > 1)} of {of} states"


def _states(orbit: str, rows: Sequence[int]) -> str:
    """States of an array, in words."""
    return f"state{'s' * (len(rows) > 1)} {', '.join(map(str, rows))} of orbit {orbit}"


def _arrays_in(table: Any) -> dict[str, np.ndarray] | None:
    """The arrays of a .npz file that holds orbits by orbit, time and axis; None for any other."""
    if isinstance(table, (pd.DataFrame, np.ndarray)) or Path(table).suffix != ".npz":
        return None
    path = require_input(table)
    with parsing(path, "table"):
        with zipfile.ZipFile(path) as archive:
            if "position.npy" not in archive.namelist():
                return None
        arrays = read_npz(path)
    if arrays["position"].ndim < 3:
        return None
    if "time" not in arrays:
        raise ValueError(f"{path} has no array time beside position; it has {', '.join(arrays)}.")
    return arrays


@dataclass(frozen=True)
class _Source:
    """Where segments come from, and what is known of them."""

    configuration: dict[str, Any]
    names: tuple[str, ...]
    has_velocities: bool
    law: str
    gm: float | np.ndarray
    origin: str
    remarks: Remarks
    given: str = ""
    """How many orbits and states there were."""


def _dataset(
    segments: Sequence[Segment], source: _Source, out: str | os.PathLike[str] | None
) -> xr.Dataset:
    position = np.stack([segment.position for segment in segments])
    velocity = np.stack([segment.velocity for segment in segments])
    names, dt = source.names, segments[0].dt
    if source.has_velocities:
        some = slice(MOST_NAMED)
        require_velocities(position[some], velocity[some], names, dt)
    if source.origin and len(names) > 1:  # of several, which attract one another, it is one
        position, velocity = (np.insert(x, 0, 0.0, axis=2) for x in (position, velocity))
        names = (source.origin, *names)
    if len(names) == 1:
        position, velocity = position[:, :, 0], velocity[:, :, 0]
    units = source.remarks.units
    if (units.length, units.time) == ("au", "yr"):
        remark_on_scale(position, velocity, source.remarks)
    arrays = {"position": position, "velocity": velocity}
    law = known_law(source.law)
    if law is not None:
        arrays["gm"] = np.broadcast_to(source.gm, len(segments)).astype(np.float64)
        require_law(law, position, arrays["gm"], dt)
    described: dict[str, Any] = {
        "law": UNKNOWN if law is None else law.spec,
        "frame": f"relative to {source.origin}" if source.origin else "as in the table",
        "velocity": "as in the table" if source.has_velocities else ESTIMATED,
        "length_unit": units.length,
        "time_unit": units.time,
        "one_system": len({segment.orbit for segment in segments}) == 1,
        "remarks": list(source.remarks.lines),
        **provenance(source.configuration),
        **_optional(segments, source, names),
    }
    system = {1: "relative", 2: "barycentric"}.get(len(names), "nbody")
    return dataset.deliver(out, Layout.of(system, arrays, dt, described), arrays)


def _optional(
    segments: Sequence[Segment], source: _Source, names: Sequence[str]
) -> Mapping[str, Any]:
    """Attributes that not every dataset has."""
    optional: dict[str, Any] = {"given": source.given} if source.given else {}
    if source.origin:
        optional["centre"] = source.origin
    if len(names) > 1:
        optional["bodies"] = list(names)
    if source.remarks.left_out:
        optional["left_out"] = source.remarks.left_out
    noise = [segment.noise for segment in segments if segment.noise is not None]
    if noise:
        optional["smoothed_noise"] = max(noise)
    if len(segments) <= MOST_NAMED:
        optional["trajectories"] = [{"orbit": each.orbit, "start": each.start} for each in segments]
    return optional


def _identity(table: str | os.PathLike[str] | pd.DataFrame | np.ndarray) -> dict[str, str]:
    """Identifies the table, so that no other is taken for it."""
    if isinstance(table, pd.DataFrame):
        values = pd.util.hash_pandas_object(table, index=False).to_numpy()
        return {"source": "table in memory", "sha256": hashlib.sha256(values.tobytes()).hexdigest()}
    if isinstance(table, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()
        return {"source": "array in memory", "sha256": digest}
    return {"source": Path(table).name, "sha256": sha256_of_file(table)}
