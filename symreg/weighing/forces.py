"""Bodies weighed by accelerations, state by state: implied by a model, or measured."""

from typing import cast

import numpy as np
import pandas as pd
from scipy import sparse

from orbits.force_samples import ForceSamples, axes_of
from symreg.recovery.config import FIELD_FLOOR
from symreg.weighing.weak import Bumps, Equations, System

LEAST_STATES = 16
"""Fewer are useless for three bodies."""


class PointEquations(Equations):
    """The equations for the masses from every body's acceleration in every state.

    The same equations as those of the bumps, each bump one state; the accelerations are given.
    A model's field may be off smoothly by a few per cent: that is no misfit of a law.
    """

    CENTRAL = FIELD_FLOOR
    ADEQUATE = FIELD_FLOOR

    def __init__(self, system: System, acceleration: np.ndarray) -> None:
        """Take (stretch, time, body, axis) accelerations, au/yr^2, in the system's frame."""
        states = system.position.shape[1]
        one, none = sparse.identity(states, format="csr"), sparse.csr_matrix((states, states))
        # positions are exact: what is left is the model's own error
        self._arranged(system, [Bumps(1, one, none, 0.0, 1.0, 1.0)])
        moved = np.moveaxis(acceleration, 1, 0)
        self.left = np.concatenate([moved[:, :, i].ravel() for i in self.seen])


def system_of(samples: ForceSamples, orbit: int = -1) -> tuple[System, np.ndarray, list[str]]:
    """The bodies of a table of forces, (stretch, time, body, axis) accelerations, and remarks.

    The bodies are relative to the first (`worldmodel probe` of three or more visible bodies,
    `orbits forces`), or two about their barycentre. Orbit -1 means all that are one system, else
    the first.

    Raises:
        ValueError: if the table shows one body, or too few states.
    """
    table, attributes, notes = samples.table, samples.attributes, list[str]()
    numbers = np.unique(table["orbit"])
    if orbit >= 0 and orbit not in numbers:
        raise ValueError(f"--orbit {orbit} is not in the table; it has {numbers[0]} and others.")
    if orbit >= 0 or not attributes.get("one_system"):
        number = orbit if orbit >= 0 else int(numbers[0])
        if orbit < 0 and len(numbers) > 1:
            notes.append(f"the first of {len(numbers)} systems was weighed (--orbit)")
        table = table[table["orbit"] == number]
    axes = axes_of(table)
    pair = {f"a{axes[0]}2", f"{axes[0]}2"} <= set(table.columns)
    if pair:
        position, acceleration = (
            np.stack([table[[f"{p}{n}{k}" for n in axes]].to_numpy() for k in (1, 2)], axis=1)
            for p in ("", "a")
        )
    elif "body" in table and table["body"].nunique() > 1:
        position, acceleration = _seen_from_the_first(table, axes)
    else:
        raise ValueError(
            "the table shows one body; weighing needs two or more: force samples of three visible "
            "bodies, or of two about their barycentre."
        )
    if len(position) < LEAST_STATES:
        raise ValueError(
            f"{len(position)} state(s) show all bodies; weighing needs {LEAST_STATES}."
        )
    count = position.shape[1]
    names = tuple(attributes.get("bodies") or [f"body{k + 1}" for k in range(count)])
    dt = cast(float, attributes.get("dt") or 1.0)
    system = System(position[None], dt, names, inertial=pair)
    return system, acceleration[None], notes


def _seen_from_the_first(
    table: pd.DataFrame, axes: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """(state, body, axis) positions and accelerations of states that show all bodies."""
    bodies = np.unique(table["body"])
    whole = table.pivot_table(index=["orbit", "time"], columns="body", aggfunc="first").dropna()
    vectors = []
    for prefix in ("", "a_"):
        columns = [[(f"{prefix}{n}", k) for n in axes] for k in bodies]
        states = np.stack([whole[names].to_numpy() for names in columns], axis=1)
        vectors.append(np.concatenate([np.zeros_like(states[:, :1]), states], axis=1))
    return vectors[0], vectors[1]
