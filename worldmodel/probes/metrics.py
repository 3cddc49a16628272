"""How good a field of accelerations is, and which power of the distance it follows."""

from typing import Any

import numpy as np
from jaxtyping import Float


def r_squared(found: Float[np.ndarray, "row axis"], true: Float[np.ndarray, "row axis"]) -> float:
    """1 − Σ|found − true|² / Σ|true − mean|², over rows and axes."""
    spread = np.sum((true - true.mean(axis=0)) ** 2)
    return float(1 - np.sum((found - true) ** 2) / spread)


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
    """Fit |a_r| = c · GM · r^−n by least squares of logarithms, with intervals over orbits.

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
    sums = np.stack(
        [np.bincount(group, weights=w) for w in (np.ones_like(x), x, y, x * x, x * y)], axis=-1
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


def _line(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept from Σ1, Σx, Σy, Σx², Σxy."""
    count, x, y, xx, xy = np.moveaxis(sums, -1, 0)
    slope = (count * xy - x * y) / (count * xx - x**2)
    return slope, (y - slope * x) / count


def _interval(value: Any, resampled: np.ndarray) -> dict[str, float]:
    low, high = np.quantile(resampled[np.isfinite(resampled)], (0.025, 0.975))
    return {"value": float(value), "low": float(low), "high": float(high)}
