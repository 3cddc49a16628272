"""The equations of motion of one body: integrated along its path, or state by state.

Integrals against bumps need no differences.

For bumps phi_j of compact support, int phi_j'' x dt = int phi_j a dt. Narrow bumps, begun every
half of their half-width, span what wider ones see too, once the rows are weighed by their whole
covariance: every error of a position enters both sides, so that row j is off by

    sum_t (phi_j''(t) - phi_j(t) K(t)) e(t),   K = da/dx,

and with white e the covariance is exact to first order. Rows are divided by its Cholesky factor;
a sum of squares is then as probable as it says.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.linalg import solve_triangular

from orbits.derivatives.bumps import bump
from orbits.derivatives.methods import truncation
from orbits.force_samples import ForceSamples, axes_of, vectors
from orbits.statistics import TINY

NARROWEST, WIDEST = 6, 60
"""Samples in half a bump."""
ANGLE = 0.6
"""Radians by which a velocity turns in half a bump at most: sums are integrals to 1e-7 there."""
LONGEST = 800
"""Samples weighed together: a covariance of so many is fast."""
FLOOR = 1e-6
"""Share of an acceleration that curves and sums leave without noise."""

CURVE_ERROR = 1e-5
"""Relative error of an acceleration state by state, apart from its noise."""

Vectors = Float[np.ndarray, "row axis"]


@dataclass(frozen=True)
class Path:
    """States of one body in order of time, in one or several stretches.

    Attributes:
        time: (row,) yr.
        position: (row, axis) from the centre of the force, au.
        moved: (row, axis) whose second derivative is the acceleration, au; of two bodies the first.
        velocity: (row, axis) au/yr.
        stretches: rows of each, evenly sampled; none for forces that are known state by state.
        dt: yr.
        noise: standard error of a coordinate, au.
        truncation: (row, axis) error of an acceleration that is not noise, au/yr^2.
    """

    time: np.ndarray
    position: Vectors
    moved: Vectors
    velocity: Vectors
    stretches: Sequence[slice]
    dt: float
    noise: float
    truncation: Vectors


def path_of(samples: ForceSamples) -> Path | None:
    """The path along which forces were measured, or their states; None without velocities."""
    table, attributes = samples.table, samples.attributes
    if f"v_{axes_of(table)[0]}" not in table:
        return None
    position, velocity, dt = vectors(table), vectors(table, "v_"), float(attributes.get("dt") or 0)
    several = "body" in table or len(attributes.get("bodies") or ()) > 2
    if attributes.get("readout") != "measured" or not dt or several:
        return Path(np.zeros(len(table)), position, position, velocity, (), dt, 0.0, 0 * position)
    moved, time = position, table["time"].to_numpy()
    if "x1" in table:
        moved = table[[f"{axis}1" for axis in axes_of(table)]].to_numpy()
    orbit = table["orbit"].to_numpy()
    cuts = np.flatnonzero((np.diff(orbit) != 0) | (np.abs(np.diff(time) / dt - 1) > 1e-3)) + 1
    ends = [0, *cuts.tolist(), len(table)]
    stretches = [slice(a, b) for a, b in itertools.pairwise(ends) if b - a >= 2 * NARROWEST - 1]
    noise = float(samples.metrics["noise"])
    if starts := attributes.get("starts"):
        time = time + np.array(starts)[orbit] - min(starts)
    coarse = np.zeros_like(moved)
    for rows in stretches:
        coarse[rows] = truncation(moved[rows], dt, noise)
    return Path(time, position, moved, velocity, stretches, dt, noise, coarse)


class PointRows:
    """Accelerations state by state, in their standard errors."""

    def __init__(self, acceleration: Vectors, error: Vectors) -> None:
        size = np.linalg.norm(acceleration, axis=1)[:, None]
        self.weight = 1 / np.maximum(np.hypot(error, CURVE_ERROR * size), TINY)
        self.wanted = (acceleration * self.weight).ravel()

    def rows(self, accelerations: Float[np.ndarray, "row axis column"]) -> np.ndarray:
        """(equation, column) accelerations in standard errors."""
        return (accelerations * self.weight[:, :, None]).reshape(self.wanted.size, -1)


@lru_cache
def _bumps(half_width: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """(bump, time) phi and phi'' by the number of samples, phi of sum one."""
    phi, second = bump(half_width)
    starts = range(0, samples - len(phi) + 1, max(1, half_width // 2))
    values = np.zeros((2, len(starts), samples))
    for row, first in enumerate(starts):
        values[:, row, first : first + len(phi)] = phi / phi.sum(), second / phi.sum()
    return values[0], values[1]


class WeakPath:
    """The rows of a path: integrals of its motion, and of any acceleration along it.

    `acceleration` is (row, axis), roughly, and `slope` (row, axis, axis) the derivative of its
    central part by the position.
    """

    def __init__(self, path: Path, acceleration: Vectors, slope: np.ndarray) -> None:
        size = np.linalg.norm(acceleration, axis=1)
        turning = max(
            float(np.quantile(np.linalg.norm(np.diff(values, axis=0), axis=1)
                              / np.linalg.norm(values, axis=1)[1:].clip(TINY), 0.98))
            for values in (path.velocity, acceleration)
        )  # fmt: skip
        half = int(np.clip(ANGLE / max(turning, 1e-9), NARROWEST, WIDEST))
        shortest = min(s.stop - s.start for s in path.stretches)
        self.half_width = min(half, (shortest + 1) // 2)
        self.path, self.factors = path, []
        self.pieces = [piece for s in path.stretches for piece in self._cut(s)]
        # sums differ from integrals as differences of the same order do from derivatives
        floor = np.hypot(FLOOR * size[:, None], path.truncation)
        for rows in self.pieces:
            self.factors.append(self._factor(rows, floor, slope))
        self.wanted = self._weighed(path.moved[:, :, None], 1)[:, 0]

    def _cut(self, stretch: slice) -> list[slice]:
        """Pieces that overlap by a bump, less one sample: none is lost at a cut."""
        samples, overlap = stretch.stop - stretch.start, 2 * self.half_width - 2
        count = max(1, -(-(samples - overlap) // LONGEST))
        ends = np.linspace(0, samples - overlap, count + 1).astype(int)
        return [
            slice(stretch.start + int(a), stretch.start + int(b) + overlap)
            for a, b in itertools.pairwise(ends)
        ]

    def _factor(self, rows: slice, floor: Vectors, slope: np.ndarray) -> np.ndarray:
        phi, second = _bumps(self.half_width, rows.stop - rows.start)
        second = second / self.path.dt**2
        own, axes = slope[rows], slope.shape[1]
        square = own @ np.swapaxes(own, 1, 2)
        relative = self.path.moved is not self.path.position
        blocks = [[np.zeros(0)] * axes for _ in range(axes)]
        for a in range(axes):
            for b in range(axes):
                cross = (second * own[:, b, a]) @ phi.T
                # of two bodies the other's errors turn and stretch the line too
                tide = (phi * square[:, a, b] * (2 if relative else 1)) @ phi.T
                mixed = cross + ((second * own[:, a, b]) @ phi.T).T
                blocks[a][b] = tide - mixed + (second @ second.T if a == b else 0)
        covariance = self.path.noise**2 * np.block(blocks)
        diagonal = np.diag_indices_from(covariance)
        covariance[diagonal] += ((phi @ floor[rows]) ** 2).T.ravel()
        # rounding leaves a matrix whose smallest eigenvalues are below it
        covariance[diagonal] *= 1 + 1e-11
        covariance[diagonal] += 1e-13 * covariance[diagonal].max()
        return np.linalg.cholesky(covariance)

    def _weighed(self, values: np.ndarray, derivative: int) -> Float[np.ndarray, "equation column"]:
        parts = []
        for rows, factor in zip(self.pieces, self.factors, strict=True):
            phi, second = _bumps(self.half_width, rows.stop - rows.start)
            matrix = second / self.path.dt**2 if derivative else phi
            some = values[rows]
            if derivative:  # the mean would only add its rounding
                some = some - some.mean(axis=0)
            flat = np.einsum("jt,tac->ajc", matrix, some).reshape(len(factor), -1)
            parts.append(solve_triangular(factor, flat, lower=True))
        return np.concatenate(parts)

    def rows(
        self, accelerations: Float[np.ndarray, "row axis column"]
    ) -> Float[np.ndarray, "equation column"]:
        """Integrals of accelerations, in standard errors."""
        return self._weighed(accelerations, 0)
