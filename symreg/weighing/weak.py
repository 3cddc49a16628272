"""Positions and forces integrated against bumps of many widths: linear equations for the masses.

For a smooth bump phi of compact support, int phi'' x dt = int phi a dt. The left side needs only
positions; the right side is a sum over all other bodies, linear in their masses. Narrow bumps see
the fast bodies, wide ones the slow, and noise depends on the width.
"""

# Why integrals and no differences. Twice by parts, with phi and phi' zero at both ends,
#
#     int phi'' x dt = [phi' x] - int phi' x' dt = -[phi x'] + int phi x'' dt = int phi a dt,
#
# so that the equation of motion x_i'' = sum_j m_j g(r_ij) e_ij becomes, without a derivative of
# anything measured,
#
#     int phi'' x_i dt = sum_j m_j int phi g(r_ij) e_ij dt.
#
# One such row for each bump, body and axis: linear in the masses, with g's parameters inside. The
# error of a row is that of the positions times |phi''|, which falls as width^-2.5: a bump of half-
# width h samples averages h of them and divides by h^2. But a bump wider than a body's period
# averages that body's own motion away. No width is right for Mercury and for Pluto, so every width
# has its rows, and each group of rows (a width and a body) is weighed by what is left of it.

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from orbits.derivatives.bumps import bump
from symreg.formulas.watch import Watch

NARROWEST = 8
"""Samples in half the narrowest bump."""

PAIRS_AT_ONCE = 64
"""Pairs of bodies with forces in memory at once."""

Field = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Bumps:
    """Bumps of one width, along all times.

    Attributes:
        half_width: samples.
        phi: (bump, time) values, each row summing to one.
        second: (bump, time) their second time derivatives, yr^-2.
        noise: standard error of an integral for unit noise in positions, yr^-2.
        overlap: roughly, number of equivalent bumps.
        square: sum of the squares of the values.
    """

    half_width: int
    phi: sparse.csr_matrix
    second: sparse.csr_matrix
    noise: float
    overlap: float
    square: float


def bumps(samples: int, dt: float, ratio: float, stretches: int = 1) -> list[Bumps]:
    """Sets of bumps of rising width, from a few samples to the whole time, for all stretches.

    Raises:
        ValueError: if the trajectories are shorter than one bump.
    """
    sets, width = [], float(NARROWEST)
    while 2 * round(width) - 1 <= samples:
        sets.append(_of_width(samples, dt, round(width), stretches))
        width *= ratio
    if not sets:
        raise ValueError(
            f"the trajectories have {samples} states each; weighing needs {2 * NARROWEST - 1} at "
            "least, better thousands."
        )
    return sets


def _of_width(samples: int, dt: float, half_width: int, stretches: int) -> Bumps:
    phi, second = bump(half_width)
    length = len(phi)
    # bumps begun per half-width
    # bumps of one width in all stretches: the narrowest would be tens of thousands
    step = max(1, half_width // 3, samples * stretches // 600)
    starts = np.arange(0, samples - length + 1, step)
    columns = (starts[:, None] + np.arange(length)).ravel()
    pointer = np.arange(0, len(columns) + 1, length)
    total = phi.sum()
    phi, second = phi / total, second / (total * dt**2)

    def matrix(values: np.ndarray) -> sparse.csr_matrix:
        shape = (len(starts), samples)
        return sparse.csr_matrix((np.tile(values, len(starts)), columns, pointer), shape=shape)

    # Bumps begun `step` samples apart share most of theirs: of a mean over all, only one in
    # `overlap` counts as independent. For phi of sum one, 1/sum phi^2 is its length in samples.
    square = float(np.sum(phi**2))
    overlap = max(1.0, 1 / (step * square))
    norm = float(np.linalg.norm(second))
    return Bumps(half_width, matrix(phi), matrix(second), norm, overlap, square)


@dataclass(frozen=True)
class System:
    """Mutually attracting bodies, evenly sampled, perhaps in several stretches.

    Attributes:
        position: (stretch, time, body, axis) au.
        dt: yr.
        names: of the bodies.
        inertial: whether the frame is; else the first body is at rest at its origin.
        velocity: (stretch, time, body, axis) au/yr; of what acts beside the law.
    """

    position: np.ndarray
    dt: float
    names: tuple[str, ...]
    inertial: bool = True
    velocity: np.ndarray | None = None

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return self.position.shape[2]

    @cached_property
    def pairs(self) -> list["Pair"]:
        """All pairs of bodies."""
        return [
            Pair.of(self.position, i, j)
            for i in range(self.bodies)
            for j in range(i + 1, self.bodies)
        ]

    @cached_property
    def lines(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Distances and directions of some pairs at once, (time, stretch, pair[, axis])."""
        batches = []
        for first in range(0, len(self.pairs), PAIRS_AT_ONCE):
            some = self.pairs[first : first + PAIRS_AT_ONCE]
            r = np.stack([pair.r for pair in some], axis=2)
            batches.append((r, np.stack([pair.towards for pair in some], axis=2)))
        return batches

    @cached_property
    def fastest(self) -> tuple[float, "Pair"]:
        """The two bodies whose line turns most between states, and by how much, rad."""
        turns = [
            float(np.max(np.linalg.norm(np.diff(pair.towards, axis=0), axis=-1), initial=0.0))
            for pair in self.pairs
        ]
        k = int(np.argmax(turns))
        return 2 * float(np.arcsin(min(turns[k] / 2, 1.0))), self.pairs[k]

    @cached_property
    def separations(self) -> tuple[float, float]:
        """The least and largest distance of two bodies, au."""
        ends = [(float(pair.r.min()), float(pair.r.max())) for pair in self.pairs]
        return min(low for low, _ in ends), max(high for _, high in ends)


@dataclass(frozen=True)
class Pair:
    """Two bodies: (time, stretch) distance, au, and (time, stretch, axis) unit vectors to j."""

    i: int
    j: int
    r: np.ndarray
    towards: np.ndarray

    @classmethod
    def of(cls, position: np.ndarray, i: int, j: int) -> "Pair":
        line = np.swapaxes(position[:, :, j] - position[:, :, i], 0, 1)
        r = np.sqrt(np.sum(line**2, axis=-1))
        if not np.all(r > 0):
            raise ValueError("two bodies are at one place in some state; they cannot be weighed.")
        return cls(i, j, r, line / r[..., None])


class Equations:
    """The weak equations of a system: one set per bump and body.

    Rows are in order of (width, body, bump, stretch, axis). In a non-inertial frame they are for
    bodies relative to the first, whose own are left out.
    """

    CENTRAL = 3e-5
    """Share of an acceleration that may stay unexplained. The Solar System's own is 3e-6
    (relativity, asteroids, the Moon's figure), that of an integration to 1e-6 as much."""
    ADEQUATE = 1e-5
    """Share below which no law but a power is tried: the Solar System's own departures from
    Newton's law (relativity, asteroids) are below it."""

    def __init__(self, system: System, ratio: float) -> None:
        stretches, samples = system.position.shape[:2]
        self._arranged(system, bumps(samples, system.dt, ratio, stretches))
        position = np.moveaxis(system.position, 1, 0)  # time, stretch, body, axis
        # far from the origin, positions lose digits to it
        position = position - position.mean(axis=0, keepdims=True)
        self.left = np.concatenate(
            [self._applied(s.second, position[:, :, i]) for s in self.sets for i in self.seen]
        )

    def _arranged(self, system: System, sets: list[Bumps]) -> None:
        """Number the rows: which body, which width, when."""
        self.system = system
        self.sets = sets
        self.watch = Watch()
        """Gets the progress of work on them."""
        first = 0 if system.inertial else 1
        self.seen = range(first, system.bodies)
        stretches, axes = system.position.shape[0], system.position.shape[-1]
        sizes = [s.phi.shape[0] * stretches * axes for s in self.sets for _ in self.seen]
        self.group = np.repeat(np.arange(len(sizes)), sizes)
        """(row,) index of the width and body."""
        self.when = np.concatenate(
            [
                np.repeat(np.linspace(0, 1, s.phi.shape[0] + 2)[1:-1], stretches * axes)
                for s in self.sets
                for _ in self.seen
            ]
        )
        """(row,) place of a bump in its stretch, 0 to 1."""

    @property
    def groups(self) -> int:
        """Number of pairs of width and body."""
        return len(self.sets) * len(self.seen)

    @cached_property
    def overlap(self) -> np.ndarray:
        """(group,) number of equivalent bumps."""
        return np.repeat([s.overlap for s in self.sets], len(self.seen))

    @cached_property
    def counts(self) -> np.ndarray:
        """(group,) number of rows."""
        return np.bincount(self.group, minlength=self.groups)

    def mean_square(self, values: np.ndarray) -> np.ndarray:
        """(group,) of (row,) values."""
        return np.bincount(self.group, values**2, minlength=self.groups) / self.counts

    def set_of(self, group: int) -> Bumps:
        """The bumps of a group."""
        return self.sets[group // len(self.seen)]

    def body_of(self, group: int) -> int:
        """The body of a group."""
        return self.seen[group % len(self.seen)]

    def pair_integrals(self, strength: Field) -> list[np.ndarray]:
        """Integrals of g(r) along the line of every pair, (bump, stretch, pair, axis) by width."""
        parts: list[list[np.ndarray]] = [[] for _ in self.sets]
        for r, towards in self.system.lines:
            pulls = strength(r)[..., None] * towards
            flat = pulls.reshape(len(pulls), -1)
            for integrals, s in zip(parts, self.sets, strict=True):
                integrals.append((s.phi @ flat).reshape(s.phi.shape[0], *pulls.shape[1:]))
        return [np.concatenate(integrals, axis=2) for integrals in parts]

    def by_body(self, strength: Field) -> np.ndarray:
        """(row, body) effect of each body's unit mass on every row, under g(r)."""
        pairs = [(pair.j, pair.i) for pair in self.system.pairs]
        return self._effects(strength, np.ones(self.system.bodies), pairs)

    def by_pair(self, strength: Field, masses: np.ndarray) -> np.ndarray:
        """(row, pair) effect of every pair's attraction on every row, for given masses."""
        return self._effects(strength, masses, [(k, k) for k in range(len(self.system.pairs))])

    def _effects(
        self, strength: Field, masses: np.ndarray, columns: Sequence[tuple[int, int]]
    ) -> np.ndarray:
        """(row, column) effects of every pair, which go to a column for either body's pull."""
        count, blocks = 1 + max(map(max, columns)), []
        for integrals in self.pair_integrals(strength):
            block = np.zeros((len(masses), *integrals.shape[:2], integrals.shape[-1], count))
            for k, (pair, (by_j, by_i)) in enumerate(zip(self.system.pairs, columns, strict=True)):
                block[pair.i, ..., by_j] = masses[pair.j] * integrals[:, :, k]
                block[pair.j, ..., by_i] = -masses[pair.i] * integrals[:, :, k]
            if not self.system.inertial:
                # relative to the first body, whose own acceleration is subtracted from all
                block = block[1:] - block[:1]
            blocks.append(block.reshape(-1, count))
        return np.concatenate(blocks)

    def by_shape(self, strengths: Sequence[Field], masses: np.ndarray) -> np.ndarray:
        """(row, function) effect of each function of distance on every row, for given masses."""
        columns = []
        for g in strengths:
            # all pulls on a body are added before they are integrated: n sums for n^2
            pulls = [np.zeros_like(self.system.pairs[0].towards) for _ in masses]
            for pair in self.system.pairs:
                pull = g(pair.r)[..., None] * pair.towards
                pulls[pair.i] += masses[pair.j] * pull
                pulls[pair.j] -= masses[pair.i] * pull
            columns.append(self.integrated(pulls))
        return np.stack(columns, axis=1)

    def integrated(self, forces: Sequence[np.ndarray]) -> np.ndarray:
        """(row,) integrals of (time, stretch, axis) accelerations, one per body."""
        if not self.system.inertial:
            forces = [force - forces[0] for force in forces]
        return np.concatenate(
            [self._applied(s.phi, forces[i]) for s in self.sets for i in self.seen]
        )

    def spread(self, rows: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Functions of time for (estimate, row) combinations of the rows.

        For every body (estimate, time, stretch, axis): those that accelerations are integrated
        against, and their second derivatives, against which positions are.
        """
        times, stretches, axes = self.system.pairs[0].towards.shape
        shape = (len(rows), times, stretches, axes)
        weights = [np.zeros(shape) for _ in range(self.system.bodies)]
        seconds = [np.zeros(shape) for _ in range(self.system.bodies)]
        at = 0
        for s in self.sets:
            for i in self.seen:
                size = s.phi.shape[0] * stretches * axes
                part = rows[:, at : at + size].reshape(len(rows), s.phi.shape[0], -1)
                flat = np.swapaxes(part, 0, 1).reshape(s.phi.shape[0], -1)
                for total, matrix in ((weights, s.phi), (seconds, s.second)):
                    sums = (matrix.T @ flat).reshape(times, len(rows), stretches, axes)
                    total[i] += np.swapaxes(sums, 0, 1)
                at += size
        if not self.system.inertial:
            weights[0] = -np.sum(weights[1:], axis=0)
        return weights, seconds

    @staticmethod
    def _applied(matrix: sparse.csr_matrix, values: np.ndarray) -> np.ndarray:
        return np.asarray(matrix @ values.reshape(len(values), -1)).ravel()
