"""Force fields in tables: radial attraction, the force between two bodies, isotropy."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from orbits.force_samples import axes_of, vectors
from orbits.powers import non_central_part, radial_part, third_law
from orbits.statistics import NORMAL_MEDIAN, TINY, varies
from orbits.units import G
from symreg.fit.monomial import fit_monomial, usable
from symreg.fit.noise import MOST_BINS, ROWS_IN_A_BIN, weighed
from symreg.fit.samples import Samples, relative_weights

MASSES = ("m1", "m2")
PAIR_COLUMNS = ("m1", "m2", "x1", "y1", "x2", "y2", "ax1", "ay1", "ax2", "ay2")
"""Columns of a table of two bodies; z1, z2, az1 and az2 are read if present."""
PAIR_SPATIAL = ("z1", "z2", "az1", "az2")


@dataclass(frozen=True)
class RadialField:
    """The radial attraction in a table of force samples, and the rest.

    Attributes:
        samples: -(a·x)/r against r and every mass or GM that varies; groups are orbits (and
            bodies). For two bodies with varying masses the target is the force on the first,
            -m1 (a·x)/r.
        non_central: median share of the acceleration across the line to the centre.
        constants: value of every constant mass or GM column; `gm` also if a mass gives it.
        notes: what was done to the rows.
        third_law: rms of m1 a1 + m2 a2 over rms of m1 a1, if both accelerations are given.
    """

    samples: Samples
    non_central: float
    constants: dict[str, float]
    notes: tuple[str, ...] = ()
    third_law: float | None = None


def attraction(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Distance and attraction (minus the radial acceleration) of every row, au and au/yr^2."""
    return table["r"].to_numpy(), -radial_part(vectors(table, "a_"), vectors(table))


def radial_field(table: pd.DataFrame) -> RadialField:
    """The radial attraction of force samples (`orbits.force_samples`).

    With columns m1 and m2, positions are the first body's relative to the second, and accelerations
    the first body's own in an inertial frame.

    Raises:
        ValueError: if a separation is zero, or there are fewer than 8 rows.
    """
    if len(table) < 8:
        raise ValueError(
            f"the table has {len(table)} row(s); a law needs at least 8, better hundreds."
        )
    if np.any(table["r"] <= 0):
        raise ValueError("the table has rows with r = 0; a direction to the centre needs r > 0.")
    r, inward = attraction(table)
    non_central = non_central_part(vectors(table, "a_"), vectors(table))
    columns, constants = _masses(table)
    force = any(name in columns for name in MASSES)
    target = inward * table["m1"].to_numpy() if force else inward
    attracted = inward > 0
    kept = np.ones(len(r), dtype=bool)
    notes: tuple[str, ...] = ()
    # few repulsive rows are left out, so that logarithms can be taken
    if not attracted.all() and attracted.mean() >= 0.98:
        kept = attracted
        notes = (f"{np.sum(~attracted)} of {len(r)} rows repel and were left out",)
    keys = [name for name in ("orbit", "body") if name in table.columns]
    groups = table.groupby(keys, sort=True).ngroup().to_numpy()
    samples = Samples(
        np.column_stack([r, *columns.values()]),
        target,
        ("r", *columns),
        groups,
        _weights(table, inward),
        target="F" if force else "a",
        smooth=_across(table, inward),
        row_numbers=np.arange(len(r)),
    )
    unbalanced = None
    if {*PAIR_COLUMNS, "m1", "m2"} <= set(table.columns):
        unbalanced = pair_force(table, groups).third_law
    return RadialField(samples.rows(kept), non_central, constants, notes, unbalanced)


def _weights(table: pd.DataFrame, inward: np.ndarray) -> np.ndarray | None:
    """(row,) weights by the standard errors of measured accelerations, if any."""
    names = [f"sigma_a_{axis}" for axis in axes_of(table)]
    if not set(names) <= set(table.columns):
        return None
    direction = vectors(table) / table["r"].to_numpy()[:, None]
    error = np.sqrt(np.sum((direction * table[names].to_numpy()) ** 2, axis=1))
    return relative_weights(inward, error)


def _across(table: pd.DataFrame, inward: np.ndarray) -> np.ndarray | None:
    """(row,) relative smooth error of an attraction, from its own field.

    A central force has no component across the line to the centre, so any such component is error.
    The error along the line is assumed equal, and smooth, as most of it is. A model off by a fixed
    length is off by r²/dt² relative to gravity: bins of distance show that.
    """
    bins = min(MOST_BINS, len(table) // ROWS_IN_A_BIN)
    if bins < 2:
        return None
    acceleration, r = vectors(table, "a_"), table["r"].to_numpy()
    across = np.sum(acceleration**2, axis=-1) - inward**2
    share = across.clip(min=0) / np.maximum(inward**2, TINY) / (acceleration.shape[-1] - 1)
    scatter = np.zeros(len(r))
    for rows in np.array_split(np.argsort(r, kind="stable"), bins):
        scatter[rows] = NORMAL_MEDIAN * np.sqrt(np.median(share[rows]))
    return scatter


def _masses(table: pd.DataFrame) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Masses and GM that vary, and the values of those that do not."""
    there = [name for name in ("gm", "m1", "m2", "mass") if name in table.columns]
    if len([name for name in there if name in MASSES]) == 1:
        raise ValueError("the table has one of the columns m1 and m2; a force needs both masses.")
    columns: dict[str, np.ndarray] = {}
    constants: dict[str, float] = {}
    for name in there:
        values = table[name].to_numpy()
        if np.any(values <= 0):
            raise ValueError(f"the column {name} has values that are not above 0.")
        if not varies(values):
            constants[name] = float(np.mean(values))
        elif name != "mass" or "gm" not in columns:
            columns[name] = values
    # what attracts: the second body, or the central mass
    for name in ("m2", "mass"):
        if name in constants and "gm" not in (*columns, *constants):
            constants["gm"] = G * constants[name]
    return columns, constants


def pair_force(table: pd.DataFrame, groups: np.ndarray) -> RadialField:
    """F = m1 a1 from barycentric positions and accelerations of two bodies, in consistent units.

    The table has `PAIR_COLUMNS` and one row per state of the pair; (row,) groups are statistical
    units.

    Raises:
        ValueError: if a mass is not positive, or the bodies coincide.
    """
    axes = "xyz" if all(name in table for name in PAIR_SPATIAL) else "xy"
    first, second, a1, a2 = (
        table[[pattern.format(axis) for axis in axes]].to_numpy(dtype=float)
        for pattern in ("{}1", "{}2", "a{}1", "a{}2")
    )
    m1, m2 = (table[name].to_numpy(dtype=float) for name in ("m1", "m2"))
    if np.any(m1 <= 0) or np.any(m2 <= 0):
        raise ValueError("m1 and m2 must be above 0 in every row.")
    line = second - first
    r = np.linalg.norm(line, axis=1)
    if np.any(r == 0):
        raise ValueError("the two bodies are at the same place in some rows; F needs r > 0.")
    force = m1[:, None] * a1
    samples = Samples(
        np.column_stack([r, m1, m2]),
        radial_part(force, line),
        ("r", "m1", "m2"),
        np.asarray(groups),
        target="F",
        row_numbers=table.index.to_numpy(),
    )
    balance = third_law(np.stack([a1, a2], axis=1), np.column_stack([m1, m2]))
    return RadialField(samples, non_central_part(force, line), {}, third_law=balance)


def anisotropy(samples: Samples, directions: np.ndarray, floor: float) -> float | None:
    """Relative rms of the part of an attraction that depends on (row, axis) direction.

    The dependence on features is removed first: a product of powers, then the mean in every bin of
    distance. The rest is fitted by the first two harmonics of direction; the part of such a fit due
    to chance is subtracted. None if undetermined: not all rows attract, or there are too few.
    """
    bins = min(MOST_BINS, len(samples.y) // ROWS_IN_A_BIN)
    if not usable(samples) or bins < 1:
        return None
    monomial = fit_monomial(samples)
    residuals = np.log(samples.y) - monomial.log_constant - np.log(samples.X) @ monomial.exponents
    weights = weighed(samples, floor).weights
    weights = np.ones(len(residuals)) if weights is None else weights
    axes = directions.shape[1]
    harmonics = [directions[:, i] for i in range(axes)]
    harmonics += [
        directions[:, i] * directions[:, j] - (1 / axes if i == j else 0)
        for i in range(axes)
        for j in range(i, axes)
        if (i, j) != (axes - 1, axes - 1)  # the squares sum to one
    ]
    design = np.column_stack(harmonics)
    distance = samples.X[:, samples.names.index("r")]
    for rows in np.array_split(np.argsort(distance, kind="stable"), bins):
        share = weights[rows] ** 2 / np.sum(weights[rows] ** 2)
        residuals[rows] -= share @ residuals[rows]
        design[rows] -= share @ design[rows]
    weighted = design * weights[:, None]
    solution, *_ = np.linalg.lstsq(weighted, residuals * weights, rcond=None)
    explained = np.mean((weighted @ solution) ** 2)
    rest = np.mean((residuals * weights - weighted @ solution) ** 2)
    free = len(residuals) - bins - design.shape[1]
    chance = rest * design.shape[1] / max(free, 1)
    return float(np.sqrt(max(explained - chance, 0.0)))
