"""Datasets from tables of trajectories measured or simulated elsewhere."""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from orbits import dataset
from orbits.config import ImportConfig
from orbits.files import sha256_of_file
from orbits.forces import UNKNOWN, ForceLaw, known_law
from orbits.frames import relative_states
from orbits.importing.dates import HOW_READ
from orbits.importing.sampling import Segment, rows_of, segments_of
from orbits.importing.splines import derivative
from orbits.importing.tables import Source, read_table
from orbits.importing.tracks import FEWEST_STATES, Remarks, tracks_of
from orbits.options import P, keywords_of, options_from
from orbits.provenance import provenance
from orbits.schema import ESTIMATED, Layout
from orbits.units import G

MOST_NAMED = 1000
"""Rows whose origin is recorded one by one."""
LIKELY_AU = (1e-4, 1e5)
"""Sizes of orbits, au, that need no remark: from close binaries to the Oort cloud."""
LIKELY_MASSES = (1e-9, 1e8)
"""Masses implied by the motion, M_sun, that need no remark."""
OBEYED = 0.2
"""Relative difference from a law's accelerations that no sampling explains."""
DISAGREE = 0.5
"""Relative difference of velocities from the positions' own beyond any sampling error."""


@keywords_of(ImportConfig)
def from_table(
    kind: Callable[P, ImportConfig],
    table: Source,
    out: str | os.PathLike[str] | None = None,
    config: ImportConfig | None = None,
    announce: Callable[[str], object] | None = None,
    *args: P.args,
    **options: P.kwargs,
) -> xr.Dataset:
    """A dataset from trajectories measured or simulated elsewhere.

        orbits.from_table(frame, time="t", position=("x,y,z",), time_unit="d")
        orbits.from_table("stars.csv", position=("x1,y1", "x2,y2"), length_unit="km")

    Evenly sampled positions are kept as they are. What is done to others (cut at gaps, resampled)
    and anything odd about their scale is noted in the attribute `remarks`.

    Args:
        table: a DataFrame, an array, or a CSV, Parquet, NumPy or JPL Horizons file.
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
    lists = ("position", "velocity", "bodies")
    values = {
        name: (value,) if name in lists and isinstance(value, str) else value
        for name, value in options.items()
    }
    config = options_from(ImportConfig, config, values)
    asked = config
    remarks = Remarks()
    read, config = read_table(table, config)
    if read.dated:
        remarks.say(HOW_READ)
    tracks, names = tracks_of(read, config, remarks)
    segments = rows_of(segments_of(tracks, config, remarks), config, remarks)
    configuration = {**asdict(asked), **_identity(table)}
    found = _delivered(segments, names, config, config.gm, remarks, configuration, out)
    for line in remarks.lines if announce else ():
        announce(line)  # type: ignore[misc]
    return found


def from_arrays(
    positions: np.ndarray,
    dt: float,
    law: str = UNKNOWN,
    gm: float | np.ndarray = 0.0,
    velocities: np.ndarray | None = None,
    out: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """A dataset from arrays of orbits, with the law that moves them if it is known.

        data = orbits.from_arrays(positions, 0.01, law="newton", gm=orbits.G)
        worldmodel.probe(model, data, states="kicked")

    Args:
        positions: (orbit, time, axis) au, of one body about the origin; or
            (orbit, time, body, axis), of bodies whose law is unknown.
        dt: time between states, yr.
        law: that moves the body, as for `orbits.parse_law`.
        gm: gravitational parameter, au^3/yr^2; one number, or (orbit,); with `law`.
        velocities: as positions, au/yr; by default estimated from the positions.
        out: folder to write to; by default all stays in memory.

    Raises:
        ValueError: for other shapes, numbers that are not finite, a law or velocities that do not
            match the positions.
    """
    given = [np.asarray(a, dtype=np.float64) for a in (positions, velocities) if a is not None]
    shape = given[0].shape
    if len(shape) not in (3, 4) or shape[-1] not in (2, 3) or shape[1] < FEWEST_STATES:
        raise ValueError(
            f"positions have the shape {shape}; (orbit, time, axis) or (orbit, time, body, axis) "
            f"is needed, with 2 or 3 axes and at least {FEWEST_STATES} times."
        )
    if given[-1].shape != shape:
        raise ValueError(f"velocities have the shape {given[-1].shape}, positions {shape}.")
    if not all(np.isfinite(values).all() for values in given):
        raise ValueError("positions and velocities must be finite throughout.")
    if not (math.isfinite(dt) and dt > 0):
        raise ValueError(f"dt is {dt}; a time above 0 is needed, yr.")
    of_orbits = np.asarray(gm, dtype=np.float64)
    config = ImportConfig(law=law, gm=float(np.max(of_orbits, initial=0.0)))
    if of_orbits.shape not in ((), shape[:1]) or (config.gm and not np.all(of_orbits > 0)):
        raise ValueError(f"gm must be above 0, one number or one for each of {shape[0]} orbits.")
    bodies = [values.reshape(*shape[:2], -1, shape[-1]) for values in given]
    if velocities is None:
        times = dt * np.arange(shape[1])
        bodies.append(np.stack([derivative(times, position) for position in bodies[0]]))
    segments = [
        Segment(str(k), 0.0, dt, *states) for k, states in enumerate(zip(*bodies, strict=True))
    ]
    names = tuple(f"body{k + 1}" for k in range(bodies[0].shape[2]))
    if velocities is not None:
        config = replace(config, velocity=("vx,vy",))
    configuration = {"law": law, "gm": of_orbits.tolist(), "dt": dt, **_identity(given[0])}
    return _delivered(segments, names, config, of_orbits, Remarks(), configuration, out)


def _delivered(
    segments: Sequence[Segment],
    names: tuple[str, ...],
    config: ImportConfig,
    gm: float | np.ndarray,
    remarks: Remarks,
    configuration: dict[str, Any],
    out: str | os.PathLike[str] | None,
) -> xr.Dataset:
    position = np.stack([segment.position for segment in segments])
    velocity = np.stack([segment.velocity for segment in segments])
    if config.velocity:
        some = slice(MOST_NAMED)
        _require_velocities(position[some], velocity[some], names, segments[0].dt)
    if config.relative_to:
        if config.relative_to not in names:
            raise ValueError(
                f"--relative-to {config.relative_to} is not one of {', '.join(names)}."
            )
        if len(names) == 1:
            raise ValueError(f"--relative-to {config.relative_to} leaves no body.")
        k = names.index(config.relative_to)
        order = [k, *(other for other in range(len(names)) if other != k)]
        position, velocity = ((x - x[:, :, [k]])[:, :, order] for x in (position, velocity))
        names = tuple(names[k] for k in order)
    if config.origin:
        position, velocity = (np.insert(x, 0, 0.0, axis=2) for x in (position, velocity))
        names = (config.origin, *names)
    centre = config.relative_to or config.origin
    if centre and len(names) == 2:  # of more, which attract one another, the centre is one
        position, velocity, names = position[:, :, 1:], velocity[:, :, 1:], names[1:]
    if len(names) == 1:
        position, velocity = position[:, :, 0], velocity[:, :, 0]
    usual = ImportConfig()
    if (config.length_unit, config.time_unit) == (usual.length_unit, usual.time_unit):
        _remark_on_scale(position, velocity, remarks)
    arrays, dt = {"position": position, "velocity": velocity}, segments[0].dt
    law = known_law(config.law)
    if law is not None:
        arrays["gm"] = np.broadcast_to(gm, len(segments)).astype(np.float64)
        _require_law(law, position, arrays["gm"], dt)
    described: dict[str, Any] = {
        "law": UNKNOWN if law is None else law.spec,
        "frame": f"relative to {centre}" if centre else "as in the table",
        "velocity": "as in the table" if config.velocity else ESTIMATED,
        "length_unit": config.length_unit,
        "time_unit": config.time_unit,
        "one_system": len({segment.orbit for segment in segments}) == 1,
        "remarks": list(remarks.lines),
        **provenance(configuration),
    }
    if centre:
        described["centre"] = centre
    if len(names) > 1:
        described["bodies"] = list(names)
    smoothing = [segment.noise for segment in segments if segment.noise is not None]
    if smoothing:
        described["smoothed_noise"] = float(np.max(smoothing))
    if len(segments) <= MOST_NAMED:
        described["trajectories"] = [
            {"orbit": segment.orbit, "start": segment.start} for segment in segments
        ]
    system = {1: "relative", 2: "barycentric"}.get(len(names), "nbody")
    return dataset.deliver(out, Layout.of(system, arrays, dt, described), arrays)


def _identity(table: Source) -> dict[str, str]:
    """Identifies the table, so that no other is taken for it."""
    if isinstance(table, pd.DataFrame):
        values = pd.util.hash_pandas_object(table, index=False).to_numpy()
        return {"source": "table in memory", "sha256": hashlib.sha256(values.tobytes()).hexdigest()}
    if isinstance(table, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(table).tobytes()).hexdigest()
        return {"source": "array in memory", "sha256": digest}
    return {"source": Path(table).name, "sha256": sha256_of_file(table)}


def _require_velocities(
    position: np.ndarray, velocity: np.ndarray, names: Sequence[str], dt: float
) -> None:
    """Refuse velocities whose unit cannot be the positions' over the times'."""
    central, given = (position[:, 2:] - position[:, :-2]) / (2 * dt), velocity[:, 1:-1]
    for body, name in enumerate(names):
        moved, told = central[:, :, body], given[:, :, body]
        square = np.sum(told**2, axis=(1, 2))
        if not square.any():
            raise ValueError(f"every velocity of {name} is zero; leave --velocity out.")
        moved, told, square = (values[square > 0] for values in (moved, told, square))
        ratio = np.median(np.sum(moved * told, axis=(1, 2)) / square)
        apart = np.median(np.sqrt(np.sum((moved - told) ** 2, axis=(1, 2)) / square))
        if apart > DISAGREE:
            raise ValueError(
                f"the velocities of {name} are not those of its positions: these change "
                f"{ratio:.4g} times as fast. Say the units (--velocity-unit, --time-unit, "
                "--length-unit), or leave --velocity out."
            )


def _require_law(law: ForceLaw, position: np.ndarray, gm: np.ndarray, dt: float) -> None:
    """Refuse a law that the orbits do not obey: by their second differences, near and far."""
    if position.ndim != 3:
        raise ValueError("a law can be given for one body about the origin; of more, leave it out.")
    second = np.diff(position, 2, axis=1) / dt**2
    expected = law.acceleration(position[:, 1:-1], gm[:, None])
    ratio = np.sum(second * expected, axis=-1) / np.sum(expected**2, axis=-1)
    r = np.linalg.norm(position[:, 1:-1], axis=-1)
    for where, kept in (("near", r <= np.median(r)), ("far", r >= np.median(r))):
        found = float(np.median(ratio[kept]))
        if abs(found - 1) > OBEYED:
            raise ValueError(
                f"the orbits do not obey {law.spec} with this gm: {where}, in half of the states, "
                f"their accelerations are {found:.3g} times those of the law. Say another gm, or "
                "leave the law out."
            )


def _remark_on_scale(position: np.ndarray, velocity: np.ndarray, remarks: Remarks) -> None:
    if position.ndim == 4:
        position, velocity = relative_states("nbody", position, velocity)
    size = float(np.median(np.linalg.norm(position, axis=-1)))
    speed = float(np.median(np.linalg.norm(velocity, axis=-1)))
    mass = speed**2 * size / G
    odd = not LIKELY_AU[0] <= size <= LIKELY_AU[1]
    if odd or not LIKELY_MASSES[0] <= mass <= LIKELY_MASSES[1] or not math.isfinite(mass):
        remarks.say(
            f"an unlikely scale: distances of {size:.3g} au and speeds of {speed:.3g} au/yr would "
            f"need about {mass:.2g} solar masses under Newton's law; are the units right?"
        )
