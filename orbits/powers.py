"""Which powers a field of accelerations follows; whether it is central and balanced.

One fit for every exponent: `power_law` fits y = c · Π x^p by weighted least squares
of logarithms. Rows are weighted by their own scatter, and intervals come from resampled groups
(orbits), since rows of one orbit are not independent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from orbits.estimates import ENDS, Estimate


@dataclass(frozen=True)
class PowerFit:
    """A fit of y = c · Π x^p."""

    exponents: dict[str, Estimate]
    """p by the name of each feature."""
    constant: Estimate
    """c."""


def power_law(
    values: np.ndarray,
    features: Mapping[str, np.ndarray],
    groups: np.ndarray,
    bootstrap: int = 200,
    seed: int = 0,
) -> PowerFit:
    """Fit values = c · Π feature^p by weighted least squares of logarithms.

    The intervals are empty (None) for fewer than two groups, where no degree of freedom is left,
    and where the rows cannot separate the exponents.

    A prediction's error is about the same everywhere in au, and so a hundred times larger
    relative to the acceleration at 3 au than at 0.3 au: `weights_by_scatter` weights rows along the
    last feature, once an unweighted fit has removed the effect of the others.

    Args:
        values: (row,) positive.
        features: (row,) positive, by name; the last is the one along which scatter is measured.
        groups: (row,) statistical units.
        bootstrap: resamplings over groups.
        seed: of the resampling.
    """
    nothing = PowerFit({name: Estimate() for name in features}, Estimate())
    names, group = np.unique(groups, return_inverse=True)
    if len(names) < 2 or len(values) < len(features) + 2:
        return nothing
    y = np.log(values)
    design = np.log(np.stack(list(features.values()), axis=-1))
    # Logarithms about their means: the constant goes, but for what resampling moves.
    middle, others = design.mean(axis=0), len(features) - 1
    design = np.concatenate((design - middle, np.ones((len(y), 1))), axis=-1)
    first = np.linalg.lstsq(design, y, rcond=None)[0]
    weight = weights_by_scatter(design[:, others], y - design[:, :others] @ first[:others])
    root = np.sqrt(weight)
    whole, drawn = normal_equations(
        root[:, None] * design, root * y, group, np.random.default_rng(seed), bootstrap
    )
    solution = _solved(*whole)
    if not np.isfinite(solution).all():
        return nothing
    resampled = _solved(*drawn)
    with np.errstate(over="ignore"):  # of a steep law far from 1 au: no constant is known
        constant, constants = (
            np.exp(fit[:, -1] - fit[:, :-1] @ middle) for fit in (solution, resampled)
        )
    return PowerFit(
        {
            name: _interval(solution[0, number], resampled[:, number])
            for number, name in enumerate(features)
        },
        _interval(constant[0], constants),
    )


def normal_equations(
    design: np.ndarray, target: np.ndarray, group: np.ndarray, rng: np.random.Generator, draws: int
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Normal equations of a least-squares fit: of all rows, then of resampled groups.

    Groups are drawn with replacement, as many as there are: rows of one group are not independent.
    Matrices are (fit, coefficient, coefficient), right sides (fit, coefficient).
    """
    matrix, side = of_groups(design, target, group)
    count = len(side)
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=draws).astype(float)
    return (
        (matrix.sum(axis=0)[None], side.sum(axis=0)[None]),
        (np.einsum("dn,nij->dij", drawn, matrix), drawn @ side),
    )


def of_groups(
    design: np.ndarray, target: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Each group's share in the normal equations of a least-squares fit.

    Of a (row, coefficient) design, a (row,) target and (row,) numbers of groups, from 0: matrices
    (group, coefficient, coefficient) and right sides (group, coefficient).
    """
    count, width = int(group.max()) + 1, design.shape[1]
    matrix, side = np.zeros((count, width, width)), np.zeros((count, width))
    np.add.at(matrix, group, design[:, :, None] * design[:, None, :])
    np.add.at(side, group, design * target[:, None])
    return matrix, side


def weights_by_scatter(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(row,) one over the variance of y about a straight line fitted in a window of x.

    Neighbourhoods are groups of equal size along x. No law enters: what is smooth in x is not
    scatter.
    """
    weight = np.empty_like(x)
    for rows in np.array_split(np.argsort(x, kind="stable"), max(1, min(20, len(x) // 10))):
        local = x[rows] - x[rows].mean()
        spread = np.sum(local**2)
        slope = np.sum(local * y[rows]) / spread if spread else 0.0
        residual = y[rows] - y[rows].mean() - slope * local
        # an error of 1 % at least keeps a few exact rows from deciding everything
        weight[rows] = 1 / (np.mean(residual**2) + 0.01**2)
    return weight


def scaled_columns(design: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (row, column) design with columns of length one, but for zeros, and their lengths."""
    size = np.linalg.norm(design, axis=0)
    size[size == 0] = 1.0
    return design / size, size


def radial_part(acceleration: np.ndarray, position: np.ndarray) -> np.ndarray:
    """(row,) component of (row, axis) accelerations along the position; negative is attraction."""
    return np.sum(acceleration * position, axis=-1) / np.linalg.norm(position, axis=-1)


def non_central_part(acceleration: np.ndarray, position: np.ndarray) -> float:
    """Median over the rows of the part across the position, as a share of the whole.

    Every row counts the same: a mean square would be dominated by the innermost rows. Positions,
    (row, axis), are from the centre of attraction.
    """
    whole = np.sum(acceleration**2, axis=-1)
    across = whole - radial_part(acceleration, position) ** 2
    some = whole > 0
    return float(np.sqrt(np.median(across[some].clip(min=0) / whole[some]))) if some.any() else 0.0


def third_law(acceleration: np.ndarray, mass: np.ndarray) -> float:
    """Root mean square of m1 a1 + m2 a2 over that of m1 a1; 0 where action equals reaction, as it
    does without any, and infinite where only the second body is pulled.

    Accelerations are (row, body, axis) of two bodies, masses (row, body).
    """
    force = mass[..., None] * acceleration
    unbalanced, size = np.mean(force.sum(axis=1) ** 2), np.mean(force[:, 0] ** 2)
    return float(np.sqrt(unbalanced / size)) if size else np.inf if unbalanced else 0.0


def _solved(square: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(fit, coefficient) solutions of normal equations; NaN where undetermined."""
    solution = np.full(along.shape, np.nan)
    with np.errstate(all="ignore"):
        decided = np.linalg.cond(square) < 1e14  # beyond, rounding dominates
    solution[decided] = np.linalg.solve(square[decided], along[decided][..., None])[..., 0]
    return solution


def _interval(value: float, resampled: np.ndarray) -> Estimate:
    finite = resampled[np.isfinite(resampled)]
    if not np.isfinite(value) or not len(finite):
        return Estimate()
    low, high = np.quantile(finite, ENDS)
    return Estimate(float(value), float(low), float(high))
