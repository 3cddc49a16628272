"""The equations of motion of one body along its path, integrated against bumps: no differences.

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

NARROWEST, WIDEST = 6, 60
"""Samples in half a bump."""
ANGLE = 0.6
"""Radians by which a velocity turns in half a bump at most: sums are integrals to 1e-7 there."""
LONGEST = 800
"""Samples weighed together: a covariance of so many is fast."""
FLOOR = 1e-6
"""Share of an acceleration that curves and sums leave without noise."""

Vectors = Float[np.ndarray, "row axis"]


@dataclass(frozen=True)
class Path:
    """States of one body in order of time, in one or several stretches.

    Attributes:
        time: (row,) yr.
        position: (row, axis) from the centre of the force, au.
        moved: (row, axis) whose second derivative is the acceleration, au; of two bodies the first.
        velocity: (row, axis) au/yr.
        stretches: rows of each, evenly sampled.
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


@lru_cache(maxsize=64)
def _bumps(half_width: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """(bump, time) phi and phi'' by the number of samples, phi of sum one."""
    phi, _, second = bump(half_width)
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
                              / np.linalg.norm(values, axis=1)[1:].clip(1e-300), 0.98))
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

    def unexplained(self, residual: np.ndarray) -> float:
        """Rms of (equation,) residuals beyond their errors, of one coordinate, au/yr^2."""
        sizes = [len(factor) for factor in self.factors]
        parts = np.split(residual, np.cumsum(sizes)[:-1])
        square = [np.mean((f @ part) ** 2) - np.mean(f**2) * len(f)
                  for f, part in zip(self.factors, parts, strict=True)]  # fmt: skip
        return float(np.sqrt(max(np.average(square, weights=sizes), 0.0)))

    def rows(
        self, accelerations: Float[np.ndarray, "row axis column"]
    ) -> Float[np.ndarray, "equation column"]:
        """Integrals of accelerations, in standard errors."""
        return self._weighed(accelerations, 0)
