"""Force fields in tables: the radial attraction, and the force between two bodies."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from orbits.force_samples import axes_of, vectors
from orbits.powers import non_central_part, radial_part, third_law
from orbits.statistics import NORMAL_MEDIAN, TINY, varies
from orbits.units import G
from symreg.fit.noise import MOST_BINS, ROWS_IN_A_BIN
from symreg.fit.samples import Samples, relative_weights

MASSES = ("m1", "m2")


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
    return RadialField(samples.rows(kept), non_central, constants, notes, _unbalanced(table))


def _unbalanced(table: pd.DataFrame) -> float | None:
    """rms of m1 a1 + m2 a2 over rms of m1 a1; None if the accelerations of both are not there."""
    if not {*MASSES, "ax1", "ay1", "ax2", "ay2"} <= set(table.columns):
        return None
    axes = "xyz" if {"az1", "az2"} <= set(table.columns) else "xy"
    both = [[f"a{axis}{body}" for axis in axes] for body in (1, 2)]
    accelerations = np.stack([table[names].to_numpy() for names in both], axis=1)
    return third_law(accelerations, table[[*MASSES]].to_numpy())


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
