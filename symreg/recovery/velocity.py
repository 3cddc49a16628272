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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.interpolate import BSpline

from orbits.estimates import Estimate
from orbits.force_samples import axes_of, vectors

CURVE_ERROR = 3e-5
"""Relative error of accelerations that no term needs to explain."""
NOISE_LIKE = 2.0
"""Mean square residual, in standard errors, up to which nothing is left to explain."""
SURE = 6.0
"""Standard errors by which a coefficient must differ from zero: of `BLOCKS` parts, chance does so
twice in ten thousand (Student's t)."""
BLOCKS = 10
"""Parts of the time, left out one at a time."""

Vectors = Float[np.ndarray, "row axis"]


@dataclass(frozen=True)
class Term:
    """A force that depends on the velocity alone, or on nothing.

    Attributes:
        name: of it.
        words: what it is, for people.
        powers: of length and of time in the coefficient's unit.
        columns: (row, axis, component) accelerations of unit coefficients, by the velocities.
    """

    name: str
    words: str
    powers: tuple[int, int]
    columns: Callable[[Vectors], Float[np.ndarray, "row axis component"]]


def _across(velocity: Vectors) -> np.ndarray:
    if velocity.shape[1] == 2:  # v x e, e out of the plane
        return (velocity[:, ::-1] * [1, -1])[:, :, None]
    return np.stack([np.cross(velocity, axis) for axis in np.eye(3)], axis=2)


def _quadratic(velocity: Vectors) -> np.ndarray:
    return (-np.linalg.norm(velocity, axis=1, keepdims=True) * velocity)[:, :, None]


def _uniform(velocity: Vectors) -> np.ndarray:
    return np.tile(np.eye(velocity.shape[1]), (len(velocity), 1, 1))


TERMS = (
    Term("drag", "a drag proportional to the velocity, against it", (0, -1),
         lambda velocity: -velocity[:, :, None]),
    Term("quadratic drag", "a drag proportional to the velocity's square, against it", (-1, 0),
         _quadratic),
    Term("magnetic",
         "a part across the velocity, as of a magnetic field or a turning frame (Coriolis)",
         (0, -1), _across),
    Term("uniform", "a uniform field", (1, -2), _uniform),
)  # fmt: skip


@dataclass(frozen=True)
class VelocityPart:
    """One term of a force: its coefficient, au and yr.

    `axis` is that of a vector's component; empty for a number, and for what is across the velocity
    in a plane.
    """

    term: Term
    axis: str
    coefficient: Estimate


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
    every = max(1, -(-len(table) // 2000))  # of neighbours, more say nothing new
    fit = _Fit(position[::every], velocity[::every], acceleration[::every], weight[::every])
    return fit.law(axes, position, velocity)


class _Fit:
    """Least squares of accelerations by a curve and any combination of terms."""

    def __init__(self, position: Vectors, velocity: Vectors, a: Vectors, weight: Vectors) -> None:
        self.size = np.maximum(np.linalg.norm(a, axis=1), np.finfo(float).tiny)
        self.weight, self.wanted = weight, (a * weight).ravel()
        self.curve = _curve(position, a)
        self.terms = {term: term.columns(velocity) for term in TERMS}

    def design(self, terms: tuple[Term, ...], curve: bool = True) -> Float[np.ndarray, "row term"]:
        """(row * axis, term) weighted columns, those of the terms first."""
        columns = [self.terms[term] for term in terms] + [self.curve] * curve
        if not columns:
            return np.zeros((self.wanted.size, 0))
        whole = np.concatenate(columns, axis=2) * self.weight[:, :, None]
        return whole.reshape(self.wanted.size, -1)

    def left(self, terms: tuple[Term, ...], curve: bool = True) -> float:
        """Mean square residual, in squared standard errors."""
        design = self.design(terms, curve)
        residual = self.wanted - design @ _solution(design, self.wanted)
        return float(np.mean(residual**2))

    def law(self, axes: tuple[str, ...], position: Vectors, velocity: Vectors) -> VelocityLaw:
        """The fewest terms that explain what the curve does not; a curve counts as one of them."""
        none = np.zeros_like(position)
        alone, every = self.left(()), tuple(self.terms)
        # not even noise is left: no term of any size is missing
        if alone < 0.25:
            return VelocityLaw((), none, True, True)
        least = self.left(every)
        noise_like = alone <= NOISE_LIKE
        for count in range(1, len(every) + 2):
            for terms, curve in _sets(every, count):
                left = self.left(terms, curve)
                # in noise, what counts is what all terms explain beyond it, nine tenths of that
                enough = least + 0.1 * (alone - least) if noise_like else NOISE_LIKE
                if not terms or left > enough:
                    continue
                coefficients, errors = self.coefficients(terms, curve)
                if self._all_sure(terms, coefficients, errors):
                    parts = self._parts(terms, axes, coefficients, errors)
                    columns = np.concatenate([term.columns(velocity) for term in terms], axis=2)
                    return VelocityLaw(parts, columns @ coefficients, curve, True)
        return VelocityLaw((), none, True, noise_like)

    def _all_sure(self, terms: tuple[Term, ...], c: np.ndarray, errors: np.ndarray) -> bool:
        """Whether every term has a component far from zero, and far above the curve's own error."""
        ends = np.cumsum([self.terms[term].shape[2] for term in terms])[:-1]
        for term, part, error in zip(terms, np.split(c, ends), np.split(errors, ends), strict=True):
            size = np.linalg.norm(self.terms[term] @ part, axis=1)
            share = np.median(size / self.size)
            if share < SURE * CURVE_ERROR or not np.any(np.abs(part) > SURE * error):
                return False
        return True

    def coefficients(self, terms: tuple[Term, ...], curve: bool) -> tuple[np.ndarray, np.ndarray]:
        """(term,) coefficients, and their standard errors by leaving out parts of the time."""
        design = self.design(terms, curve)
        count = sum(self.terms[term].shape[2] for term in terms)
        block = np.arange(self.wanted.size) * BLOCKS // self.wanted.size
        others = np.array(
            [_solution(design[block != k], self.wanted[block != k])[:count] for k in range(BLOCKS)]
        )
        spread = np.sum((others - others.mean(axis=0)) ** 2, axis=0)
        errors = np.sqrt((BLOCKS - 1) / BLOCKS * spread)
        return _solution(design, self.wanted)[:count], errors

    def _parts(
        self, terms: tuple[Term, ...], axes: tuple[str, ...], values: np.ndarray, errors: np.ndarray
    ) -> tuple[VelocityPart, ...]:
        # Student's t of nine degrees of freedom, over the normal distribution's 1.96
        wider = 1.154 * errors
        parts, estimates = [], iter(map(Estimate.of, values.tolist(), wider.tolist()))
        for term in terms:
            components = axes if self.terms[term].shape[2] > 1 else ("",)
            parts += [VelocityPart(term, axis, next(estimates)) for axis in components]
        return tuple(parts)


def _sets(every: tuple[Term, ...], count: int) -> list[tuple[tuple[Term, ...], bool]]:
    """Terms, and whether the curve is beside them: so many in all, those without it first."""
    without = [(terms, False) for terms in itertools.combinations(every, count)]
    return without + [(terms, True) for terms in itertools.combinations(every, count - 1)]


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
    # pieces of a tenth of a factor e: cubic splines err by some 1e-6 there, which is little beside
    # what is left where parts of a force cancel, as in a turning frame; 50 rows each at least
    pieces = int(np.clip(np.ceil(span / 0.1), 1, min(32, max(1, len(r) // 50))))
    low, high = logs.min() - 1e-9, logs.max() + 1e-9
    even = np.linspace(low, high, pieces + 1)
    dense = np.quantile(logs, np.linspace(0, 1, pieces + 1))
    inner = np.unique(0.5 * (even + dense)[1:-1])
    ends = np.full(3 + 1, 1.0)
    knots = np.concatenate([low * ends, inner, high * ends])
    splines = BSpline.design_matrix(logs, knots, 3).toarray() * (r**slope)[:, None]
    return unit[:, :, None] * splines[:, None, :]


def _solution(design: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares, columns scaled to one."""
    scale = np.linalg.norm(design, axis=0)
    scale[scale == 0] = 1.0
    return np.asarray(np.linalg.lstsq(design / scale, wanted, rcond=1e-10)[0] / scale)
