"""From tables of forces to the regression problem: the radial attraction and what goes with it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from orbits.records.force_samples import varies, vectors
from orbits.units import G
from symreg.fit.samples import Samples
from symreg.recovery.two_body import COLUMNS, pair_force

MASS_COLUMNS = ("gm", "m1", "m2", "mass")
"""Columns that become features where they vary; where `gm` does, `mass` says nothing new."""
PAIR = ("m1", "m2")
FEW_REPELLED = 0.02
"""Largest fraction of rows with a repulsion that are left out, so that logarithms can be taken."""


@dataclass(frozen=True)
class RadialField:
    """The radial attraction of a table of force samples, and what is not radial.

    Attributes:
        samples: -(a·x)/r against r and every mass or GM that varies; groups are orbits. Of two
            bodies whose masses vary the target is the force on the first, -m1 (a·x)/r.
        non_central: rms of the tangential acceleration over rms of the whole.
        constants: value of every mass or GM column that does not vary; `gm` also where a mass
            gives it.
        notes: what was done to the rows.
        third_law: rms of m1 a1 + m2 a2 over rms of m1 a1, where both accelerations are there.
    """

    samples: Samples
    non_central: float
    constants: dict[str, float]
    notes: tuple[str, ...] = ()
    third_law: float | None = None


def attraction(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Distance and attraction (minus the radial acceleration) of every row, au and au/yr^2."""
    r = table["r"].to_numpy()
    return r, -np.sum(vectors(table) * vectors(table, "a_"), axis=1) / r


def radial_field(table: pd.DataFrame) -> RadialField:
    """The radial attraction of force samples (`orbits.records.force_samples`).

    With columns m1 and m2, positions are those of the first body seen from the second, and
    accelerations the first body's own in an inertial frame.

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
    size = np.sum(vectors(table, "a_") ** 2, axis=1)
    across = np.maximum(size - inward**2, 0.0)
    non_central = float(np.sqrt(across.sum() / size.sum())) if size.sum() > 0 else 0.0
    columns, constants = _masses(table)
    force = any(name in columns for name in PAIR)
    target = inward * table["m1"].to_numpy() if force else inward
    attracted = inward > 0
    kept = np.ones(len(r), dtype=bool)
    notes: tuple[str, ...] = ()
    if not attracted.all() and attracted.mean() >= 1 - FEW_REPELLED:
        kept = attracted
        notes = (f"{np.sum(~attracted)} of {len(r)} rows repel and were left out",)
    groups = groups_of(table)
    samples = Samples(
        np.column_stack([r, *columns.values()]),
        target,
        ("r", *columns),
        groups,
        target="F" if force else "a",
    )
    third_law = None
    if set(COLUMNS) <= set(table.columns):
        third_law = pair_force(table, groups).third_law
    return RadialField(samples.rows(kept), non_central, constants, notes, third_law)


def _masses(table: pd.DataFrame) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Masses and GM that vary, and the values of those that do not.

    Raises:
        ValueError: if one is not positive, or only one of m1 and m2 is there.
    """
    there = [name for name in MASS_COLUMNS if name in table.columns]
    if len([name for name in there if name in PAIR]) == 1:
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


def groups_of(table: pd.DataFrame) -> np.ndarray:
    """(row,) group numbers: the orbit, and the body where there are several."""
    keys = [name for name in ("orbit", "body") if name in table.columns]
    return table.groupby(keys, sort=True).ngroup().to_numpy()
