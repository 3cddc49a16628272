"""Forces that depend on velocity, found beside one that depends on the distance alone.

Along trajectories whose law nobody gave, the acceleration is written as

    a = f(r) r/|r| + sum_k c_k t_k(v),

with f a free curve (cubic splines in log r, times the nearest power of r) and terms t_k that have
a name: a drag -v, a drag -|v| v, a part v x e across the velocity (a magnetic field, or Coriolis's
in a turning frame) and a uniform field. All is linear in the curve's coefficients and the c_k, so
every combination of terms is one least-squares fit. The smallest that leaves nothing but noise is
taken, if each coefficient is far from zero by the scatter among parts of the time. Less will not
do: nearly circular motion turns its velocity as a magnetic field would, so that beside an unseen
body such a term can explain 99.9 % of what the curve does not.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.interpolate import BSpline

from orbits.estimates import Estimate
from orbits.force_samples import axes_of, vectors

CURVE_ERROR = 3e-5
"""Relative error of accelerations that no term needs to explain: that of the curve, with pieces of
a fifth of a factor e in distance."""
PIECE, MOST_PIECES, DEGREE = 0.2, 16, 3
NOISE_LIKE = 2.0
"""Mean square residual, in standard errors, up to which nothing is left to explain."""
NOTHING = 0.25
"""Mean square residual below which there is not even noise: no term of any size is missing."""
MISSED = 0.1
"""Share of what all terms explain, in noise, that fewer may miss."""
SURE = 6.0
"""Standard errors by which a coefficient must differ from zero: of `BLOCKS` parts, chance does so
twice in ten thousand (Student's t)."""
BLOCKS = 10
"""Parts of the time, left out one at a time."""
MOST_ROWS = 2000

Vectors = Float[np.ndarray, "row axis"]


@dataclass(frozen=True)
class VelocityPart:
    """One term of the force, with a name.

    Attributes:
        name: drag, quadratic drag, magnetic or uniform.
        axis: of a vector's component; empty for a number, and for what is across the velocity in a
            plane.
        coefficient: au and yr.
        powers: of length and of time in the coefficient's unit.
    """

    name: str
    axis: str
    coefficient: Estimate
    powers: tuple[int, int]


@dataclass(frozen=True)
class VelocityLaw:
    """The terms needed beside a central force, if any, and whether one is there at all.

    Attributes:
        parts: the terms; none where a central force suffices, or where they explain too little.
        acceleration: (row, axis) of these terms, au/yr^2.
        central: whether a force along the line to the centre is needed too.
        explained: whether central force and terms together explain the accelerations.
    """

    parts: tuple[VelocityPart, ...]
    acceleration: Vectors
    central: bool
    explained: bool


def velocity_law(table: pd.DataFrame) -> VelocityLaw | None:
    """The terms in the accelerations of force samples; None for a table without velocities."""
    axes = axes_of(table)
    if not {f"v_{axis}" for axis in axes} <= set(table.columns):
        return None
    position, velocity, acceleration = (vectors(table, p) for p in ("", "v_", "a_"))
    size = np.linalg.norm(acceleration, axis=1)
    error = CURVE_ERROR * np.broadcast_to(size[:, None], acceleration.shape)
    if f"sigma_a_{axes[0]}" in table:
        error = np.hypot(error, table[[f"sigma_a_{axis}" for axis in axes]].to_numpy())
    weight = 1 / np.maximum(error, np.finfo(float).tiny)
    every = max(1, -(-len(table) // MOST_ROWS))
    fit = _Fit(position[::every], velocity[::every], acceleration[::every], weight[::every])
    return fit.law(axes, position, velocity)


class _Fit:
    """Least squares of accelerations by a curve and any combination of terms."""

    def __init__(self, position: Vectors, velocity: Vectors, a: Vectors, weight: Vectors) -> None:
        self.size = np.maximum(np.linalg.norm(a, axis=1), np.finfo(float).tiny)
        self.weight, self.wanted = weight, (a * weight).ravel()
        self.curve = _curve(position, a)
        self.terms = _terms(velocity)

    def design(self, names: tuple[str, ...], curve: bool = True) -> Float[np.ndarray, "row term"]:
        """(row * axis, term) weighted columns, those of the terms first."""
        columns = [self.terms[name] for name in names] + [self.curve] * curve
        if not columns:
            return np.zeros((self.wanted.size, 0))
        whole = np.concatenate(columns, axis=2) * self.weight[:, :, None]
        return whole.reshape(self.wanted.size, -1)

    def left(self, names: tuple[str, ...], curve: bool = True) -> float:
        """Mean square residual, in squared standard errors."""
        design = self.design(names, curve)
        residual = self.wanted - design @ _solution(design, self.wanted)
        return float(np.mean(residual**2))

    def law(self, axes: tuple[str, ...], position: Vectors, velocity: Vectors) -> VelocityLaw:
        """The fewest terms that explain what the curve does not; a curve counts as one of them."""
        none = np.zeros_like(position)
        alone, every = self.left(()), tuple(self.terms)
        if alone < NOTHING:
            return VelocityLaw((), none, True, True)
        least = self.left(every)
        noise_like = alone <= NOISE_LIKE
        for count in range(1, len(every) + 2):
            for names, curve in _sets(every, count):
                left = self.left(names, curve)
                # in noise, only what a term explains beyond it counts
                enough = least + MISSED * (alone - least) if noise_like else NOISE_LIKE
                if not names or left > enough:
                    continue
                coefficients, errors = self.coefficients(names, curve)
                if self._all_sure(names, coefficients, errors):
                    parts = self._parts(names, axes, coefficients, errors)
                    terms = np.concatenate([_terms(velocity)[name] for name in names], axis=2)
                    return VelocityLaw(parts, terms @ coefficients, curve, True)
        return VelocityLaw((), none, True, noise_like)

    def _all_sure(self, names: tuple[str, ...], c: np.ndarray, errors: np.ndarray) -> bool:
        """Whether every term has a component far from zero, and far above the curve's own error."""
        ends = np.cumsum([self.terms[name].shape[2] for name in names])[:-1]
        for name, part, error in zip(names, np.split(c, ends), np.split(errors, ends), strict=True):
            term = self.terms[name] @ part
            share = np.median(np.linalg.norm(term, axis=1) / self.size)
            if share < SURE * CURVE_ERROR or not np.any(np.abs(part) > SURE * error):
                return False
        return True

    def coefficients(self, names: tuple[str, ...], curve: bool) -> tuple[np.ndarray, np.ndarray]:
        """(term,) coefficients, and their standard errors by leaving out parts of the time."""
        design = self.design(names, curve)
        count = sum(self.terms[name].shape[2] for name in names)
        block = np.arange(self.wanted.size) * BLOCKS // self.wanted.size
        others = np.array(
            [_solution(design[block != k], self.wanted[block != k])[:count] for k in range(BLOCKS)]
        )
        spread = np.sum((others - others.mean(axis=0)) ** 2, axis=0)
        errors = np.sqrt((BLOCKS - 1) / BLOCKS * spread)
        return _solution(design, self.wanted)[:count], errors

    def _parts(
        self, names: tuple[str, ...], axes: tuple[str, ...], values: np.ndarray, errors: np.ndarray
    ) -> tuple[VelocityPart, ...]:
        parts, estimates = [], iter(map(Estimate.of, values.tolist(), errors.tolist()))
        for name in names:
            count = self.terms[name].shape[2]
            components = axes if count > 1 else ("",)
            parts += [
                VelocityPart(name, axis, next(estimates), POWERS[name]) for axis in components
            ]
        return tuple(parts)


def _sets(every: tuple[str, ...], count: int) -> list[tuple[tuple[str, ...], bool]]:
    """Terms, and whether the curve is beside them: so many in all, those without it first."""
    without = [(names, False) for names in itertools.combinations(every, count)]
    return without + [(names, True) for names in itertools.combinations(every, count - 1)]


POWERS = {"drag": (0, -1), "quadratic drag": (-1, 0), "magnetic": (0, -1), "uniform": (1, -2)}
"""Of length and time in a coefficient's unit."""


def _terms(velocity: Vectors) -> dict[str, Float[np.ndarray, "row axis term"]]:
    """Acceleration by every named term at unit coefficients."""
    axes = velocity.shape[1]
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    if axes == 2:  # v x e with e out of the plane
        across = (velocity[:, ::-1] * [1, -1])[:, :, None]
    else:
        across = np.stack([np.cross(velocity, axis) for axis in np.eye(3)], axis=2)
    return {
        "drag": -velocity[:, :, None],
        "quadratic drag": (-speed * velocity)[:, :, None],
        "magnetic": across,
        "uniform": np.broadcast_to(np.eye(axes), (len(velocity), axes, axes)),
    }


def _curve(position: Vectors, acceleration: Vectors) -> Float[np.ndarray, "row axis spline"]:
    """Accelerations along the line to the centre: splines in log r times the nearest power of r."""
    r = np.linalg.norm(position, axis=1)
    unit = position / r[:, None]
    logs = np.log(r)
    size = np.abs(np.sum(acceleration * unit, axis=1))
    some = size > 0
    slope = 0.0
    span = float(np.ptp(logs))
    if span > 0 and some.sum() > 1:
        slope = float(np.polyfit(logs[some], np.log(size[some]), 1)[0])
    pieces = int(np.clip(np.ceil(span / PIECE), 1, min(MOST_PIECES, max(1, len(r) // 50))))
    low, high = logs.min() - 1e-9, logs.max() + 1e-9
    even = np.linspace(low, high, pieces + 1)
    dense = np.quantile(logs, np.linspace(0, 1, pieces + 1))
    inner = np.unique(0.5 * (even + dense)[1:-1])
    ends = np.full(DEGREE + 1, 1.0)
    knots = np.concatenate([low * ends, inner, high * ends])
    splines = BSpline.design_matrix(logs, knots, DEGREE).toarray() * (r**slope)[:, None]
    return unit[:, :, None] * splines[:, None, :]


def _solution(design: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares, columns scaled to one."""
    scale = np.linalg.norm(design, axis=0)
    scale[scale == 0] = 1.0
    return np.asarray(np.linalg.lstsq(design / scale, wanted, rcond=1e-10)[0] / scale)
