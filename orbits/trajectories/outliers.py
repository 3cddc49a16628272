"""States that are not of the motion through their neighbours: single slips, blocks moved as one.

The motion is predicted at every state from its nearest neighbours, by the polynomial through them.
A slip stands out, and its neighbours no longer do without it. Of a block that is displaced only the
edges stand out; it is one if a single shift of all its states makes the motion smooth at both.
Where the motion is sampled too coarsely for a polynomial, neighbours err alike, and nothing stands
out.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import maximum_filter1d, median_filter

from orbits.trajectories.tracks import Remarks, Track

NODES = 8
"""Neighbours that a state is predicted from: a polynomial of degree seven."""
FAR = 10.0
"""Robust standard errors that make an outlier; one state in 10^22 has them by chance."""
QUIET = 5.0
"""Standard errors that a neighbour may have without it."""
MOST = 0.05
"""Largest part of the states for single slips: what is more frequent is not an exception."""
MOST_OF_BLOCKS = 0.25
"""Largest part of the states for blocks, each of which a single shift makes smooth at its edges."""
MOST_GROUPS = 20
"""Of states far from their predictions: each takes up to half a second."""
LEAST_ROWS = 30
BRIDGED = 3
"""States in a row that are predicted from the others, so that the sampling stays even."""
FAST = 5.0
"""Times the typical second difference, which is a fast turn."""
SMALLEST = 1e-3
"""Of the typical second difference: smaller slips are of no matter for a force."""


@dataclass(frozen=True)
class Outliers:
    """States that do not belong to the motion.

    Attributes:
        single: their numbers, from 0.
        blocks: first and last number of states that are displaced as one.
        shifts: (axis,) by how much, one for each block.
    """

    single: tuple[int, ...] = ()
    blocks: tuple[tuple[int, int], ...] = ()
    shifts: tuple[tuple[float, ...], ...] = ()


def outliers_of(time: np.ndarray, values: np.ndarray) -> Outliers:
    """Outlying states of a (time, column) track, at any rising (time,) times."""
    count = len(time)
    if count < LEAST_ROWS:
        return Outliers()
    second = np.linalg.norm(np.diff(values, 2, axis=0), axis=1)
    motion = _Motion(time, values, SMALLEST * float(np.median(second)))
    single: list[int] = []
    blocks: list[tuple[int, int]] = []
    shifts: list[tuple[float, ...]] = []
    longest, after = int(MOST_OF_BLOCKS * count), 0
    runs = motion.runs()
    if len(runs) > MOST_GROUPS:
        return Outliers()
    for place, (first, last) in enumerate(runs):
        if first < after:  # inside a block
            continue
        near = range(first, last + 1)
        later = runs[place + 1 :]
        span = motion.span(near, longest) or motion.far_span((first, last), later, longest)
        if span is None:
            single += motion.states(near)
            continue
        (begin, end), shift = span
        after = max(last, end) + 1
        if begin == end:
            single.append(begin)
        else:
            blocks.append((begin, end))
            shifts.append(shift)
    in_blocks = sum(b - a + 1 for a, b in blocks)
    if len(single) > MOST * count or in_blocks > MOST_OF_BLOCKS * count:
        return Outliers()
    return Outliers(_slips(time, values, single), tuple(blocks), tuple(shifts))


def _filled(time: np.ndarray, values: np.ndarray, out: np.ndarray) -> np.ndarray:
    """The values with the (time,) states that are out predicted from the others."""
    filled = values.copy()
    nodes, weights = _weights(time, ~out, np.flatnonzero(out))
    filled[out] = np.einsum("tn,tnc->tc", weights, values[nodes])
    return filled


def _slips(time: np.ndarray, values: np.ndarray, states: list[int]) -> tuple[int, ...]:
    """Those off by more than a fast turn of the motion, which no polynomial follows."""
    out = np.zeros(len(time), dtype=bool)
    out[states] = True
    filled = _filled(time, values, out)
    turn = np.pad(np.linalg.norm(np.diff(filled, 2, axis=0), axis=1), 1, mode="edge")
    off = np.linalg.norm(values - filled, axis=1)
    slow = turn <= FAST * np.median(turn)
    return tuple(k for k in sorted(states) if slow[k] or off[k] > turn[k])


def screened(
    track: Track, places: Callable[[Sequence[int]], str], remarks: Remarks, first: int = 0
) -> Track:
    """A track without outliers; up to `BRIDGED` of them in a row are predicted from the others.

    Args:
        track: at any times.
        places: what the source calls some of its rows.
        remarks: where the states that were left out are named.
        first: number of the source's first row.
    """
    count, unit = len(track.time), remarks.units
    values = track.position.reshape(count, -1)
    found = outliers_of(track.time, values)
    spans = [(k, k) for k in found.single] + list(found.blocks)
    if not spans:
        return track
    out = np.zeros(count, dtype=bool)
    for a, b in spans:
        out[a : b + 1] = True
    # those in a row, from the first to the last
    edges = np.flatnonzero(np.diff(np.concatenate([[0], out.astype(int), [0]]))).reshape(-1, 2)
    filled = _filled(track.time, values, out)
    rows = np.arange(count) if track.rows is None else track.rows
    groups: list[tuple[Sequence[int], tuple[float, ...] | None]] = []
    if found.single:
        apart = np.max(np.linalg.norm((values - filled)[list(found.single)], axis=1))
        remarks.say(
            f"far from the motion through their neighbours, by up to "
            f"{apart * unit.factor(1, 0):.2g} {unit.length}, and left out: "
            f"{places(rows[list(found.single)].tolist())}"
        )
        groups.append((found.single, None))
    for (a, b), shift in zip(found.blocks, found.shifts, strict=True):
        own = tuple(each * unit.factor(1, 0) for each in shift)
        begin, end = (places([int(rows[k])]) for k in (a, b))
        remarks.say(
            f"{b - a + 1} states displaced together by ({', '.join(f'{s:.4g}' for s in own)}) "
            f"{unit.length} and left out: from {begin} to {end}"
        )
        groups.append((range(a, b + 1), own))
    for states, by in groups:
        numbers = (rows[list(states)] + first).tolist()
        remarks.left_out.append({"orbit": track.orbit, "rows": numbers, "shift": by})
    lost = np.zeros(count, dtype=bool)
    for a, b in edges:
        lost[a:b] = b - a > BRIDGED
    position = filled.reshape(track.position.shape)
    return replace(track, position=position).part(np.flatnonzero(~lost))


class _Motion:
    """Every state beside its prediction."""

    def __init__(self, time: np.ndarray, values: np.ndarray, least: float) -> None:
        self.time = time
        rows = np.arange(len(time))
        self.nodes, self.weights = _weights(time, np.ones(len(time), dtype=bool), rows)
        self.gain = np.sqrt(1 + np.sum(self.weights**2, axis=1))
        self.off = values - np.einsum("tn,tnc->tc", self.weights, values[self.nodes])
        size = np.linalg.norm(self.off, axis=1) / self.gain
        # of all, and about a state; slips move their neighbours, so that the window is wide
        window = min(12 * NODES + 1, len(size) - 1 + len(size) % 2)
        local = median_filter(size, window, mode="nearest")
        # a norm of normal numbers has about its standard deviation as its median
        self.scale = np.maximum(np.maximum(local, np.median(size)), least / FAR)
        self.far = size / self.scale

    def runs(self) -> list[tuple[int, int]]:
        """First and last of every group of states far from their predictions.

        With twelve on each side, which must not be far without the outliers.
        """
        far = maximum_filter1d((self.far >= FAR).astype(int), 3 * NODES + 1) > 0
        edges = np.flatnonzero(np.diff(np.concatenate([[0], far.astype(int), [0]])))
        return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]

    def span(self, near: range, longest: int) -> "Span | None":
        """The states of a group that one shift puts in their place, all of them together."""
        spans = [
            (begin, end)
            for begin in near
            for end in range(begin, min(begin + longest, near[-1] + 1))
        ]
        best = min(spans, key=lambda span: self._shifted([span], near)[0])
        left, shifts = self._shifted([best], near)
        return (best, tuple(shifts[0].tolist())) if left <= QUIET else None

    def states(self, near: range) -> list[int]:
        """The fewest states of a group that hide a smooth motion; none if too many are needed."""
        sets: list[Sequence[int]] = list(itertools.combinations(near, 2))
        best = min(sets, key=lambda states: self._freed(states, near))
        while len(best) < 5 and self._freed(best, near) > QUIET:
            more = [(*best, k) for k in near if k not in best]
            best = min(more, key=lambda states: self._freed(states, near))
        if self._freed(best, near) <= QUIET:
            return sorted(best)
        runs = [range(a, a + size) for size in range(3, NODES + 1) for a in near[: -size + 1]]
        best = min(runs, key=lambda states: self._freed(states, near))
        return list(best) if self._freed(best, near) <= QUIET else []

    def _freed(self, states: Sequence[int], near: range) -> float:
        return self._shifted([(k, k) for k in states], near)[0]

    def far_span(
        self, group: tuple[int, int], later: list[tuple[int, int]], longest: int
    ) -> "Span | None":
        """The span between this group of states and a later one that one shift puts in place."""
        start = self._edge(*group)
        ends = [self._edge(*each) for each in later if each[0] - group[1] <= longest]
        for stop in [*ends, len(self.time)]:
            if not 0 < stop - start <= longest:
                continue
            near = range(max(0, start - NODES), min(len(self.time), stop + NODES))
            left, shifts = self._shifted([(start, stop - 1)], near)
            if left <= QUIET:
                return (start, stop - 1), tuple(shifts[0].tolist())
        return None

    def _edge(self, first: int, last: int) -> int:
        """The state before which the motion jumps: one step there makes the most of it smooth."""
        end = len(self.time) - 1
        near = range(max(0, first - NODES), min(end, last + NODES) + 1)
        return min(range(max(1, first), min(end, last) + 1),
                   key=lambda at: self._shifted([(at, end)], near, 2)[0])  # fmt: skip

    def _shifted(
        self, spans: list[tuple[int, int]], near: range, power: float = np.inf
    ) -> tuple[float, np.ndarray]:
        """What is left of a group's errors if spans are shifted, at most or by rms; the shifts."""
        rows = np.array(near)
        inside = [(self.nodes[rows] >= a) & (self.nodes[rows] <= b) for a, b in spans]
        own = [((rows >= a) & (rows <= b)).astype(float) for a, b in spans]
        step = np.column_stack(
            [mine - np.sum(self.weights[rows] * each, axis=1)
             for mine, each in zip(own, inside, strict=True)]
        )  # fmt: skip
        weight = 1 / (self.gain * self.scale)[rows, None]
        off = self.off[rows]
        shifts = np.linalg.lstsq(step * weight, off * weight, rcond=1e-12)[0]
        left = np.linalg.norm((off - step @ shifts) * weight, axis=1)
        return float(np.max(left) if power == np.inf else np.sum(left**power)), shifts


Span = tuple[tuple[int, int], tuple[float, ...]]


def _weights(time: np.ndarray, kept: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row, node) nearest other states on both sides, and Lagrange's weights at each state."""
    there = np.flatnonzero(kept)
    place = np.searchsorted(there, rows)
    own = kept[rows].astype(int)
    first = np.clip(place - NODES // 2, 0, len(there) - NODES - 1)
    window = there[first[:, None] + np.arange(NODES + 1)]
    # the state itself is left out, or the last where it is not among them
    out = np.where(own > 0, place - first, NODES)
    out = np.where((out >= 0) & (out <= NODES), out, NODES)
    keep = np.arange(NODES + 1)[None] != out[:, None]
    nodes = window[keep].reshape(len(rows), NODES)
    t, at = time[nodes], time[rows]
    weights = np.ones_like(t)
    for k in range(NODES):
        for j in range(NODES):
            if j != k:
                weights[:, k] *= (at - t[:, j]) / (t[:, k] - t[:, j])
    return nodes, weights
