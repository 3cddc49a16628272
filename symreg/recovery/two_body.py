"""The force between two bodies from their accelerations and masses, and the third law."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from symreg.fit.samples import Samples

COLUMNS = ("m1", "m2", "x1", "y1", "x2", "y2", "ax1", "ay1", "ax2", "ay2")
"""Columns that a table of two bodies has; z1, z2, az1 and az2 are read where they are."""
SPATIAL = ("z1", "z2", "az1", "az2")


@dataclass(frozen=True)
class PairForce:
    """The force on the first body towards the second.

    Attributes:
        samples: F = m1 a1 along the line between the bodies, against r, m1 and m2.
        non_central: rms of the part of m1 a1 across that line over rms of the whole.
        third_law: rms of m1 a1 + m2 a2 over rms of m1 a1; zero where action equals reaction.
    """

    samples: Samples
    non_central: float
    third_law: float


def pair_force(table: pd.DataFrame, groups: np.ndarray) -> PairForce:
    """F = m1 a1 from barycentric positions and accelerations of two bodies.

    Args:
        table: `COLUMNS`, one row per state of the pair; any consistent units.
        groups: (row,) statistical units.

    Raises:
        ValueError: if a mass is not positive, or the bodies coincide.
    """
    axes = "xyz" if all(name in table for name in SPATIAL) else "xy"
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
    force, reaction = m1[:, None] * a1, m2[:, None] * a2
    along = np.sum(force * line, axis=1) / r
    size = np.sum(force**2, axis=1)
    whole = float(np.sqrt(np.mean(size)))
    across = float(np.sqrt(np.mean(np.maximum(size - along**2, 0))))
    unbalanced = float(np.sqrt(np.mean(np.sum((force + reaction) ** 2, axis=1))))
    samples = Samples(
        np.column_stack([r, m1, m2]), along, ("r", "m1", "m2"), np.asarray(groups), target="F"
    )
    return PairForce(samples, across / whole, unbalanced / whole)
