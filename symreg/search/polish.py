"""Numbers of many models improved at once: Levenberg–Marquardt, linear numbers solved inside.

Models with the same count of numbers are one array (model, row, number). Their slopes are exact, so
that a step costs one evaluation, and near the end each doubles the right digits. Of a model that is
linear in some numbers these are solved for at every step, and only the others are searched.

Sources: Marquardt, J. SIAM 11, 431 (1963); Golub & Pereyra, SIAM J. Numer. Anal. 10, 413 (1973)
for variable projection; Kaufman, BIT 15, 49 (1975) for its slopes with the basis held.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from orbits.statistics import TINY

Evaluated = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Numbers (model, number) and the places of these models among all, to their residuals
(model, row) and the slopes of these (model, row, number)."""

Step = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Residuals, their slopes and the (model,) damping to the (model, number) step of numbers."""
Model = TypeVar("Model")

FIRST, LARGEST, LEAST = 1e-4, 1e8, 1e-12
"""Damping, relative to the square of a column: the first step is nearly Gauss and Newton's; more
than the largest moves nothing, less than the least is none."""
EASIER, HARDER = 0.1, 10.0
"""Factors on the damping after a step that pays, and one that does not."""
SETTLED = 1e-15
"""Relative change of numbers that is rounding."""
PAID = 1e-10
"""Share of the sum of squares below which a step that pays is the last."""
MOST_STEPS = 50
"""Of a fit from a start that is not near: a dozen suffice where it converges."""
WORST = 1e6
"""Residual where a model is not finite: above any logarithm of a float64."""
UNTOLD = 1e-10
"""Singular values of slopes of unit columns, below which the rows do not tell numbers apart."""
RANK = 1e-13
"""Singular values below this share of the largest are rounding."""


def damped_step(residuals: np.ndarray, slopes: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """(model, number) steps: with J = U S Vᵀ of unit columns, −V S/(S² + damping) Uᵀ r."""
    size = np.linalg.norm(slopes, axis=1)
    size[size == 0] = np.inf
    u, s, v = np.linalg.svd(slopes / size[:, None, :], full_matrices=False)
    along = np.einsum("mrk,mr->mk", u, residuals)
    scaled = along * s / (s**2 + damping[:, None])
    return -np.einsum("mkj,mk->mj", v, scaled) / size


def least_squares(
    evaluated: Evaluated,
    start: np.ndarray,
    steps: int = MOST_STEPS,
    step_of: Step = damped_step,
) -> np.ndarray:
    """The numbers of every model where its sum of squares is least, near where they start.

    Args:
        evaluated: residuals and their slopes.
        start: (model, number).
        steps: of each model at most, one evaluation each.
        step_of: where slopes have a structure that a step can use, as those of groups.

    Returns:
        (model, number), nowhere worse than the start.
    """
    best = np.array(start, dtype=float)
    every = np.arange(len(best))
    if not best.size:
        return best
    residuals, slopes = _finite(*evaluated(best, every))
    cost = np.sum(residuals**2, axis=1)
    damping = np.full(len(best), FIRST)
    moving = cost > 0
    for _ in range(steps):
        places = every[moving]
        if not len(places):
            break
        step = step_of(residuals[places], slopes[places], damping[places])
        trial = best[places] + step
        left, along = _finite(*evaluated(trial, places))
        total = np.sum(left**2, axis=1)
        pays = total < cost[places]
        settled = np.all(np.abs(step) <= SETTLED * np.abs(trial), axis=1)
        last = pays & (total >= (1 - PAID) * cost[places])
        taken = places[pays]
        best[taken], cost[taken] = trial[pays], total[pays]
        residuals[taken], slopes[taken] = left[pays], along[pays]
        damping[places] = np.maximum(damping[places] * np.where(pays, EASIER, HARDER), LEAST)
        moving[places[settled | last | (damping[places] > LARGEST) | (total == 0)]] = False
    return best


def _finite(residuals: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    good = np.isfinite(residuals)
    slopes = np.where(good[:, :, None] & np.isfinite(slopes), slopes, 0.0)
    return np.where(good, residuals, WORST), slopes


def uncertainty(slopes: np.ndarray) -> np.ndarray:
    """(number,) diagonal of (JᵀJ)⁻¹ for slopes J (row, number): a number moved by d, the others
    refitted, adds d² over it to the sum of squares."""
    size = np.linalg.norm(slopes, axis=0)
    size[size == 0] = 1.0
    inverse = np.linalg.pinv(slopes / size, rcond=UNTOLD)
    return np.maximum(np.sum(inverse**2, axis=1) / size**2, TINY)


class Projected(NamedTuple):
    """Models at some inner numbers, their linear ones solved for.

    Attributes:
        linear: (model, column).
        residuals: (model, row) of the target less the columns times these.
        basis: (model, row, column) orthonormal, of what the columns span.
    """

    linear: np.ndarray
    residuals: np.ndarray
    basis: np.ndarray

    def slopes(self, tangents: np.ndarray) -> np.ndarray:
        """(model, row, number) of the residuals, from the derivatives of columns times linear
        numbers held."""
        return self.basis @ (np.swapaxes(self.basis, 1, 2) @ tangents) - tangents


def projected(design: np.ndarray, wanted: np.ndarray) -> Projected:
    """The linear numbers of (model, row, column) for a target (row,) or (model, row).

    Not finite columns leave `WORST`.
    """
    wanted = np.broadcast_to(wanted, design.shape[:2])
    if not design.shape[2]:
        return Projected(np.zeros((len(design), 0)), np.array(wanted), design)
    good = np.all(np.isfinite(design), axis=(1, 2))
    design = np.where(good[:, None, None], design, 0.0)
    size = np.linalg.norm(design, axis=1)
    size[size == 0] = 1.0
    u, s, v = np.linalg.svd(design / size[:, None, :], full_matrices=False)
    known = s > RANK * s[:, :1]
    u = u * known[:, None, :]
    linear, residuals = np.zeros(size.shape), wanted
    for _ in range(2):
        # a second time from what is left, which takes the rounding of the first away
        along = np.einsum("mrc,mr->mc", u, residuals)
        linear = linear + np.einsum("mcj,mc->mj", v, along / np.where(known, s, 1.0)) / size
        residuals = wanted - np.einsum("mrc,mc->mr", design, linear)
    return Projected(linear, np.where(good[:, None], residuals, WORST), u)


def projected_with(
    design: np.ndarray, wanted: np.ndarray, linear: np.ndarray, fixed: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, Projected]:
    """All linear numbers (model, column) of a target (row,), some of them set.

    Args:
        design: (model, row, column).
        wanted: (row,).
        linear: (model, column), those that are set as they stay.
        fixed: (model, number) places of these.
        free: (model, number) places of those solved for.
    """
    held = np.take_along_axis(design, fixed[:, None, :], axis=2)
    known = np.einsum("mrc,mc->mr", held, np.take_along_axis(linear, fixed, axis=1))
    solved = projected(np.take_along_axis(design, free[:, None, :], axis=2), wanted - known)
    linear = linear.copy()
    np.put_along_axis(linear, free, solved.linear, axis=1)
    return linear, solved


def in_batches(
    models: Sequence[Model], kind: Callable[[Model], Hashable],
    improved: Callable[[Sequence[Model]], Sequence[Model]],
) -> list[Model]:  # fmt: skip
    """Models improved, those of one kind as one array, in their order."""
    groups: dict[Hashable, list[int]] = {}
    for place, model in enumerate(models):
        groups.setdefault(kind(model), []).append(place)
    whole = list(models)
    for places in groups.values():
        for place, model in zip(places, improved([models[i] for i in places]), strict=True):
            whole[place] = model
    return whole
