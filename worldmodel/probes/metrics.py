"""How good a field of accelerations is, and which power of the distance it follows."""

from typing import Any

import numpy as np
from jaxtyping import Float

ERROR_FLOOR = 0.01
"""Relative error that no row is thought to be better than, when rows are weighed."""


def median_relative_error(
    found: Float[np.ndarray, "row axis"], true: Float[np.ndarray, "row axis"]
) -> float:
    """Median of |found − true| / |true|."""
    return float(np.median(np.linalg.norm(found - true, axis=-1) / np.linalg.norm(true, axis=-1)))


def radial_part(
    acceleration: Float[np.ndarray, "row axis"], position: Float[np.ndarray, "row axis"]
) -> Float[np.ndarray, " row"]:
    """Component along the position; negative is attraction."""
    return np.sum(acceleration * position, axis=-1) / np.linalg.norm(position, axis=-1)


def non_central_part(
    acceleration: Float[np.ndarray, "row axis"], position: Float[np.ndarray, "row axis"]
) -> float:
    """Root mean square of the part across the position, over that of the part along it."""
    along = radial_part(acceleration, position)
    across = np.sum(acceleration**2, axis=-1) - along**2
    return float(np.sqrt(np.mean(across.clip(min=0)) / np.mean(along**2)))


def power_of_distance(
    acceleration: Float[np.ndarray, "row axis"],
    position: Float[np.ndarray, "row axis"],
    gm: Float[np.ndarray, " row"],
    orbit: np.ndarray,
    bootstrap: int,
    seed: int,
) -> dict[str, Any]:
    """Fit |a_r| = c · GM · r^−n by weighted least squares of logarithms, intervals over orbits.

    A prediction's error is about the same everywhere in au, and so a hundred times larger
    relative to the acceleration at 3 au than at 0.3 au: rows count by `weights_by_scatter`.
    Rows whose radial part is not attractive have no logarithm and are left out; `attractive` is
    the fraction of rows that remain. Intervals are the 2.5 % and 97.5 % quantiles of resampled
    orbits, since rows of one orbit are not independent.

    Returns:
        `exponent` {value, low, high}: n; `scale` {value, low, high}: c, 1 for Newton's law;
        `attractive`. The values are None where fewer than two orbits or three rows remain.
    """
    radial = -radial_part(acceleration, position)
    kept = radial > 0
    attractive = float(kept.mean())
    names, group = np.unique(orbit[kept], return_inverse=True)
    if len(names) < 2 or kept.sum() < 3:
        nothing = {"value": None, "low": None, "high": None}
        return {"exponent": nothing, "scale": nothing, "attractive": attractive}
    x = np.log(np.linalg.norm(position[kept], axis=-1))
    y = np.log(radial[kept] / gm[kept])
    weight = weights_by_scatter(x, y)
    sums = np.stack(
        [np.bincount(group, weights=weight * w) for w in (np.ones_like(x), x, y, x * x, x * y)],
        axis=-1,
    )
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=bootstrap)
    n, log_c = _line(sums.sum(axis=0))
    ns, log_cs = _line(draws @ sums)
    return {
        "exponent": _interval(-n, -ns),
        "scale": _interval(np.exp(log_c), np.exp(log_cs)),
        "attractive": attractive,
    }


def powers_of_mass(
    acceleration: Float[np.ndarray, "row axis"],
    position: Float[np.ndarray, "row axis"],
    masses: dict[str, Float[np.ndarray, " row"]],
    orbit: np.ndarray,
    bootstrap: int,
    seed: int,
) -> dict[str, Any]:
    """Fit |a_r| = c · Π m^q · r^−n, by weighted least squares of logarithms, intervals over orbits.

    As `power_of_distance`, but nothing is taken for granted about the masses.

    Args:
        acceleration: au/yr^2.
        position: of the attracted body as seen from the one that attracts, au.
        masses: by name: GM of what attracts, the attracted body's own mass; those that vary.
        orbit: (row,) statistical units.
        bootstrap: resamplings over orbits.
        seed: of the resampling.

    Returns:
        NAME_exponent {value, low, high}: q of each; the values are None where too few rows attract.
    """
    radial = -radial_part(acceleration, position)
    kept = radial > 0
    names, group = np.unique(orbit[kept], return_inverse=True)
    if len(names) < 2 * (len(masses) + 2):
        return {f"{name}_exponent": {"value": None, "low": None, "high": None} for name in masses}
    x, y = np.log(np.linalg.norm(position[kept], axis=-1)), np.log(radial[kept])
    design = np.stack([np.log(values[kept]) for values in masses.values()] + [x], axis=-1)
    # Logarithms about their means: the constant goes, but for what resampling moves.
    design = np.concatenate((design - design.mean(axis=0), np.ones((len(y), 1))), axis=-1)
    first = np.linalg.lstsq(design, y, rcond=None)[0]
    weight = weights_by_scatter(x, y - design[:, :-2] @ first[: len(masses)])
    square = np.zeros((len(names), design.shape[1], design.shape[1]))
    along = np.zeros((len(names), design.shape[1]))
    np.add.at(square, group, np.einsum("n,ni,nj->nij", weight, design, design))
    np.add.at(along, group, (weight * y)[:, None] * design)
    random = np.random.default_rng(seed)
    draws = random.multinomial(len(names), np.full(len(names), 1 / len(names)), size=bootstrap)
    found = np.linalg.solve(square.sum(axis=0), along.sum(axis=0))
    resampled = np.linalg.solve(
        np.einsum("bg,gij->bij", draws, square), (draws @ along)[..., None]
    )[..., 0]
    return {
        f"{name}_exponent": _interval(found[number], resampled[:, number])
        for number, name in enumerate(masses)
    }


def third_law(
    acceleration: Float[np.ndarray, "row body axis"], mass: Float[np.ndarray, "row body"]
) -> float:
    """Root mean square of m1 a1 + m2 a2 over that of m1 a1; 0 where action equals reaction."""
    force = mass[..., None] * acceleration
    return float(np.sqrt(np.mean(force.sum(axis=1) ** 2) / np.mean(force[:, 0] ** 2)))


def weights_by_scatter(
    x: Float[np.ndarray, " row"], y: Float[np.ndarray, " row"]
) -> Float[np.ndarray, " row"]:
    """One over the variance of y about its own straight line in a neighbourhood of x.

    Neighbourhoods are groups of equal size along x. No law enters: what is smooth in x is not
    scatter. The error floor keeps a few exact rows from deciding everything.
    """
    weight = np.empty_like(x)
    for rows in np.array_split(np.argsort(x, kind="stable"), max(1, min(20, len(x) // 10))):
        local = x[rows] - x[rows].mean()
        spread = np.sum(local**2)
        slope = np.sum(local * y[rows]) / spread if spread else 0.0
        residual = y[rows] - y[rows].mean() - slope * local
        weight[rows] = 1 / (np.mean(residual**2) + ERROR_FLOOR**2)
    return weight


def _line(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept from Σ1, Σx, Σy, Σx², Σxy."""
    count, x, y, xx, xy = np.moveaxis(sums, -1, 0)
    slope = (count * xy - x * y) / (count * xx - x**2)
    return slope, (y - slope * x) / count


def _interval(value: Any, resampled: np.ndarray) -> dict[str, float]:
    low, high = np.quantile(resampled[np.isfinite(resampled)], (0.025, 0.975))
    return {"value": float(value), "low": float(low), "high": float(high)}
