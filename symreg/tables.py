"""From tables of forces to the regression problem: the radial attraction and what goes with it."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from orbits.force_samples import vectors
from symreg.samples import Samples

MASS_COLUMNS = ("gm", "m1", "m2", "mass")
"""Columns that become features where they vary."""
VARIES = 1e-3
"""Relative range from which a column varies; the planets' own masses change GM by 3e-6."""

FEW_REPELLED = 0.02
"""Largest fraction of rows with a repulsion that are left out, so that logarithms can be taken."""


@dataclass(frozen=True)
class RadialField:
    """The radial attraction of a table of force samples, and what is not radial.

    Attributes:
        samples: -(a·x)/r against r and every mass or GM that varies; groups are orbits.
        non_central: rms of the tangential acceleration over rms of the whole.
        constants: value of every mass or GM column that does not vary.
        notes: what was done to the rows.
    """

    samples: Samples
    non_central: float
    constants: dict[str, float]
    notes: tuple[str, ...] = ()


def attraction(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Distance and attraction (minus the radial acceleration) of every row, au and au/yr^2."""
    r = table["r"].to_numpy()
    return r, -np.sum(vectors(table) * vectors(table, "a_"), axis=1) / r


def radial_field(table: pd.DataFrame) -> RadialField:
    """The radial attraction of force samples (`orbits.force_samples`).

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
    columns, constants = {"r": r}, {}
    for name in MASS_COLUMNS:
        if name in table.columns:
            values = table[name].to_numpy()
            middle = float(np.mean(values))
            if np.ptp(values) > VARIES * abs(middle):
                columns[name] = values
            else:
                constants[name] = middle
    attracted = inward > 0
    kept = np.ones(len(r), dtype=bool)
    notes: tuple[str, ...] = ()
    if not attracted.all() and attracted.mean() >= 1 - FEW_REPELLED:
        kept = attracted
        notes = (f"{np.sum(~attracted)} of {len(r)} rows repel and were left out",)
    samples = Samples(
        np.column_stack(list(columns.values())),
        inward,
        tuple(columns),
        groups_of(table),
        target="a",
    )
    return RadialField(samples.rows(kept), non_central, constants, notes)


def groups_of(table: pd.DataFrame) -> np.ndarray:
    """(row,) group numbers: the orbit, and the body where there are several."""
    keys = [name for name in ("orbit", "body") if name in table.columns]
    return table.groupby(keys, sort=True).ngroup().to_numpy()
