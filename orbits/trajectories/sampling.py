"""Even sampling: tracks are cut at gaps, put on one grid, and cut into rows of equal length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orbits.config import SAMPLES_LIMIT
from orbits.trajectories.splines import derivative, smoothed
from orbits.trajectories.tracks import FEWEST_STATES, Remarks, Track
from orbits.units import GivenUnits

APART = 20.0
"""Ratio of two steps beyond which no one step suits both: units of time are 24 apart or more."""
MEASURABLE = 9
"""States in a row that accelerations need."""


@dataclass(frozen=True)
class Segment:
    """An evenly sampled stretch of a track.

    Attributes:
        orbit: name of the trajectory.
        start: time of the first state, yr.
        dt: yr.
        position: (time, body, axis) au.
        velocity: (time, body, axis) au/yr, given or estimated.
        noise: au, the largest of the bodies', if the positions were smoothed.
    """

    orbit: str
    start: float
    dt: float
    position: np.ndarray
    velocity: np.ndarray
    noise: float | None = None


def segments_of(tracks: Sequence[Track], remarks: Remarks, samples: int = 0) -> list[Segment]:
    """Stretches without gaps, all at one step and of one length: rows of a dataset.

    Args:
        tracks: at any times.
        remarks: where what was done is noted.
        samples: states in each row; 0 picks the length that keeps most states.

    Raises:
        ValueError: if no stretch has enough states.
    """
    _require_one_clock(tracks, remarks.units)
    pieces = [piece for track in tracks for piece in _cut_at_gaps(track, remarks)]
    # where some show accelerations, shorter ones are left out
    longest = max(len(piece.time) for piece in pieces)
    least = MEASURABLE if longest >= MEASURABLE else FEWEST_STATES
    short = sum(len(piece.time) < least for piece in pieces)
    pieces = [piece for piece in pieces if len(piece.time) >= least]
    if not pieces:
        raise ValueError(
            f"no stretch without a gap has {FEWEST_STATES} states; a denser table is needed."
        )
    dt = _step(pieces)
    segments = [_on_grid(piece, dt) for piece in pieces]
    resampled = [segment.noise for segment in segments if segment.noise is not None]
    if resampled:
        units, noise = remarks.units, max(resampled)
        remarks.say(
            f"{len(resampled)} of {len(segments)} stretch(es) not sampled every "
            f"{dt * units.factor(0, 1):.6g} {units.time}: resampled with "
            f"{'smoothing' if noise else 'interpolating'} splines (noise up to "
            f"{noise * units.factor(1, 0):.2g} {units.length})"
        )
    short += sum(len(segment.position) < least for segment in segments)
    segments = [segment for segment in segments if len(segment.position) >= least]
    if short:
        remarks.say(f"{short} stretch(es) of fewer than {least} states were left out")
    return _rows(segments, samples, remarks)


def _require_one_clock(tracks: Sequence[Track], units: GivenUnits) -> None:
    """Refuse trajectories of which one is sampled as densely as if in another unit of time."""
    steps = [
        (float(track.time[-1] - track.time[0]) / (len(track.time) - 1), track.orbit)
        for track in tracks
        if len(track.time) >= MEASURABLE
    ]
    if steps and max(steps)[0] > APART * min(steps)[0]:
        told = " and ".join(
            f"orbit {orbit} every {step * units.factor(0, 1):.3g} {units.time}"
            for step, orbit in (min(steps), max(steps))
        )
        raise ValueError(
            f"{told} are sampled too differently for one step. Times of all are to be in one unit, "
            f"here {units.time}; if they are, import such trajectories apart."
        )


def _step(pieces: Sequence[Track]) -> float:
    """The step of the longest stretch from end to end, with the least rounding; or the median."""
    longest = max(pieces, key=lambda piece: len(piece.time)).time
    mean = float((longest[-1] - longest[0]) / (len(longest) - 1))
    median = float(np.median(np.concatenate([np.diff(piece.time) for piece in pieces])))
    return mean if abs(mean - median) <= 1e-3 * median else median


def _cut_at_gaps(track: Track, remarks: Remarks) -> list[Track]:
    # in usual steps: across four missing of twenty states a turn a quintic spline errs by 1e-3 of
    # the orbit's size (e = 0 and 0.5), across nine by 0.03 to 0.5
    gap = 5.0
    steps = np.diff(track.time)
    # the usual step: of random times a tenth are 2.3 mean steps apart
    wide = np.flatnonzero(steps > gap * float(np.quantile(steps, 0.9)))
    if not len(wide):
        return [track]
    of = f" of orbit {track.orbit}" if track.orbit else ""
    remarks.say(
        f"{len(wide)} gap(s){of} longer than {gap:g} steps, the first after "
        f"{track.time[wide[0]] * remarks.units.factor(0, 1):.6g} {remarks.units.time}: cut there, "
        "nothing was filled in"
    )
    return [track.part(rows) for rows in np.split(np.arange(len(track.time)), wide + 1)]


def _on_grid(track: Track, dt: float) -> Segment:
    time, first = track.time, float(track.time[0])
    grid = first + dt * np.arange(len(time))
    # a millionth of a step, and the rounding of times far from 0, as of Julian dates
    off = 1e-6 * dt + 4 * np.finfo(np.float64).eps * np.max(np.abs(time))
    if np.max(np.abs(time - grid)) <= off:
        velocity = track.velocity
        if velocity is None:
            velocity = derivative(dt * np.arange(len(time)), track.position)
        return Segment(track.orbit, first, dt, track.position, velocity)
    states = (time[-1] - first) / dt + 1e-9
    if states > SAMPLES_LIMIT:
        raise ValueError(
            f"sampled every {dt:.3g} yr like the others, orbit {track.orbit or '0'} would have "
            f"{states:.3g} states; at most {SAMPLES_LIMIT} are allowed: leave it out."
        )
    grid = first + dt * np.arange(int(states) + 1)
    fits = [smoothed(time, body) for body in np.moveaxis(track.position, 1, 0)]
    noise = max(float(np.sqrt(np.mean(fit.noise**2))) for fit in fits)
    position = np.stack([fit.spline(grid) for fit in fits], axis=1)
    velocity = np.stack([fit.spline.derivative()(grid) for fit in fits], axis=1)
    return Segment(track.orbit, first, dt, position, velocity, noise)


def _rows(segments: Sequence[Segment], samples: int, remarks: Remarks) -> list[Segment]:
    lengths = np.array([len(segment.position) for segment in segments])
    samples = samples or _best_length(lengths)
    if samples > lengths.max():
        raise ValueError(
            f"--samples {samples} is more than the longest stretch has, {lengths.max()} states."
        )
    rows = [
        replace(
            segment,
            start=segment.start + first * segment.dt,
            position=segment.position[first : first + samples],
            velocity=segment.velocity[first : first + samples],
        )
        for segment in segments
        for first in range(0, len(segment.position) - samples + 1, samples)
    ]
    left = int(lengths.sum()) - samples * len(rows)
    if left:
        remarks.say(
            f"{left} of {lengths.sum()} state(s) were left out: every row of a dataset has as many "
            f"states, here {samples} (--samples)"
        )
    return rows


def _best_length(lengths: np.ndarray) -> int:
    """Of the lengths present, the one whose whole multiples keep most states."""
    candidates = np.unique(lengths)
    states = np.array([np.sum(lengths // length * length) for length in candidates])
    # a twentieth of the states is given for longer rows
    good = candidates[states >= 0.95 * states.max()]
    return int(good[-1])
