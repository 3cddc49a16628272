"""How good a field of accelerations is, and its powers of distance and masses."""

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float

from orbits.estimates import Estimate
from orbits.force_samples import attracting_gm, axes_of, vectors
from orbits.powers import non_central_part, power_law, radial_part, third_law
from orbits.statistics import r_squared, varies


def measure(table: pd.DataFrame, seed: int) -> dict[str, Any]:
    """Metrics of a table of force samples; errors if it holds the true accelerations. Intervals of
    exponents come from resamplings over orbits."""
    position, implied = vectors(table), vectors(table, "a_")
    orbit = table["orbit"].to_numpy()
    metrics: dict[str, Any] = {}
    known = "true_a_x" in table
    if known:
        true = vectors(table, "true_a_")
        off, size = (np.linalg.norm(vectors, axis=-1) for vectors in (implied - true, true))
        metrics |= {"r2": r_squared(implied, true)}
        metrics |= {"median_relative_error": float(np.median(off / size))}
    metrics |= {
        "non_central": non_central_part(implied, position),
        **power_of_distance(implied, position, attracting_gm(table), orbit, seed),
        **_mass_metrics(table, implied, position, seed),
        "rows": len(table),
        "orbits": int(table["orbit"].nunique()),
    }
    if known and "steps_since_kick" in table:
        metrics["kick_r2"] = {}
        for k in sorted(table["steps_since_kick"].unique()):
            at = (table["steps_since_kick"] == k).to_numpy()
            if at.sum() > 1:
                metrics["kick_r2"][str(int(k))] = r_squared(implied[at], true[at])
    return metrics


def _mass_metrics(
    table: pd.DataFrame, implied: np.ndarray, position: np.ndarray, seed: int
) -> dict[str, Any]:
    """What only data with different masses reveal, and the third law.

    The fit |a_r| = c · Π m^q · r^−n assumes nothing about the masses that vary: GM of the
    attracting body, mass of the attracted one. NAME_exponent is q of each; the values are None if
    too few rows attract.
    """
    masses = {"gm": attracting_gm(table)}
    if "m1" in table:
        masses["own_mass"] = table["m1"].to_numpy()
    varying = {name: values for name, values in masses.items() if varies(values)}
    metrics: dict[str, Any] = {"gm_varies": "gm" in varying}
    if varying:
        radial = -radial_part(implied, position)
        kept = radial > 0
        orbit, exponents = table["orbit"].to_numpy()[kept], dict.fromkeys(varying, Estimate())
        if len(np.unique(orbit)) >= 2 * (len(varying) + 2):
            features = {name: values[kept] for name, values in varying.items()}
            features["r"] = np.linalg.norm(position[kept], axis=-1)
            exponents = power_law(radial[kept], features, orbit, seed=seed).exponents
        metrics |= {f"{name}_exponent": dataclasses.asdict(exponents[name]) for name in varying}
    if "m1" in table:
        both = [table[[f"a{axis}{body}" for axis in axes_of(table)]] for body in (1, 2)]
        metrics["third_law"] = third_law(np.stack(both, axis=1), table[["m1", "m2"]].to_numpy())
    return metrics


def power_of_distance(
    acceleration: Float[np.ndarray, "row axis"],
    position: Float[np.ndarray, "row axis"],
    gm: Float[np.ndarray, " row"],
    orbit: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    """Fit |a_r| = c · GM · r^−n (`orbits.powers.power_law`), intervals over orbits.

    Rows with a repulsive radial part have no logarithm and are left out; `attractive` is the
    fraction that remains.

    Returns:
        `exponent` {value, low, high}: n; `scale` {value, low, high}: c, 1 for Newton's law;
        `attractive`. The values are None if fewer than two orbits or three rows remain.
    """
    radial = -radial_part(acceleration, position)
    kept = radial > 0
    r = np.linalg.norm(position[kept], axis=-1)
    fit = power_law(radial[kept] / gm[kept], {"r": r}, orbit[kept], seed=seed)
    return {
        "exponent": dataclasses.asdict(fit.exponents["r"].times(-1)),
        "scale": dataclasses.asdict(fit.constant),
        "attractive": float(kept.mean()),
    }
