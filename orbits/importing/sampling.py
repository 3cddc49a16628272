"""Even sampling: tracks are cut at gaps, put on one grid, and cut into rows of equal length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from orbits.config import ImportConfig
from orbits.importing.splines import derivative, resampled
from orbits.importing.tracks import FEWEST_STATES, Remarks, Track

JITTER = 1e-6
"""Part of a step by which evenly sampled times may be off their grid."""
USUAL = 0.9
"""Quantile that is the usual step: of random times a tenth are 2.3 mean steps apart."""
ROUNDING = 4 * np.finfo(np.float64).eps
"""Relative rounding of times, as in Julian dates."""


@dataclass(frozen=True)
class Segment:
    """An evenly sampled stretch of a track.

    Attributes:
        orbit: name of the trajectory.
        start: time of the first state, yr.
        dt: yr.
        position: (time, body, axis) au.
        velocity: (time, body, axis) au/yr, given or estimated.
        noise: (body,) au, if the positions were smoothed.
    """

    orbit: str
    start: float
    dt: float
    position: np.ndarray
    velocity: np.ndarray
    noise: np.ndarray | None = None


def segments_of(tracks: Sequence[Track], config: ImportConfig, remarks: Remarks) -> list[Segment]:
    """Stretches without gaps, all at one step.

    Raises:
        ValueError: if no stretch has enough states.
    """
    pieces = [piece for track in tracks for piece in _cut_at_gaps(track, config, remarks)]
    pieces = [piece for piece in pieces if len(piece.time) >= FEWEST_STATES]
    if not pieces:
        raise ValueError(
            f"no stretch without a gap has {FEWEST_STATES} states; give a larger --gap, or a "
            "denser table."
        )
    steps = np.concatenate([np.diff(piece.time) for piece in pieces])
    dt = config.dt or _even_step(pieces, float(np.median(steps)))
    found = [_on_grid(piece, dt, remarks) for piece in pieces]
    kept = [segment for segment in found if len(segment.position) >= FEWEST_STATES]
    if not kept:
        raise ValueError(f"--dt {dt:g} yr leaves no stretch with {FEWEST_STATES} states.")
    return kept


def _even_step(pieces: Sequence[Track], median: float) -> float:
    """The step of the longest stretch from end to end, with the least rounding; or the median."""
    longest = max(pieces, key=lambda piece: len(piece.time))
    mean = float((longest.time[-1] - longest.time[0]) / (len(longest.time) - 1))
    return mean if abs(mean - median) <= 1e-3 * median else median


def _cut_at_gaps(track: Track, config: ImportConfig, remarks: Remarks) -> list[Track]:
    steps = np.diff(track.time)
    usual = float(np.quantile(steps, USUAL))
    wide = np.flatnonzero(steps > config.gap * usual)
    if not len(wide):
        return [track]
    of = f" of orbit {track.orbit}" if track.orbit else ""
    remarks.say(
        f"{len(wide)} gap(s){of} longer than {config.gap:g} steps, the first after "
        f"{track.time[wide[0]]:.6g} yr: cut there, nothing was filled in"
    )
    parts = np.split(np.arange(len(track.time)), wide + 1)
    return [
        replace(
            track,
            time=track.time[part],
            position=track.position[part],
            velocity=None if track.velocity is None else track.velocity[part],
        )
        for part in parts
    ]


def _on_grid(track: Track, dt: float, remarks: Remarks) -> Segment:
    time, first = track.time, float(track.time[0])
    grid = first + dt * np.arange(len(time))
    if np.max(np.abs(time - grid)) <= JITTER * dt + ROUNDING * np.max(np.abs(time)):
        velocity = track.velocity
        if velocity is None:
            velocity = derivative(dt * np.arange(len(time)), track.position)
        return Segment(track.orbit, first, dt, track.position, velocity, track.noise)
    grid = first + dt * np.arange(int((time[-1] - first) / dt + 1e-9) + 1)
    bodies = list(np.moveaxis(track.position, 1, 0))
    position, velocity, noise = resampled([time] * len(bodies), bodies, grid)
    kind = "interpolating" if not noise.any() else "smoothing"
    remarks.say(
        f"not sampled every {dt:.6g} yr: resampled with {kind} splines (noise {noise.max():.2g} au)"
    )
    return Segment(track.orbit, first, dt, position, velocity, noise)


def rows_of(segments: Sequence[Segment], config: ImportConfig, remarks: Remarks) -> list[Segment]:
    """Stretches of one length: the one requested, or that which keeps most states.

    Raises:
        ValueError: if no stretch is as long as requested.
    """
    lengths = np.array([len(segment.position) for segment in segments])
    samples = config.samples or _best_length(lengths)
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
    kept = np.array([np.sum(lengths // length * length) for length in candidates])
    # a twentieth of the states is given for longer rows
    good = candidates[kept >= 0.95 * kept.max()]
    return int(good[-1])
