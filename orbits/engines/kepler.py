"""Exact Kepler propagation as an engine: Newton's law between two bodies only."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from orbits.elements import propagate_kepler
from orbits.engines.base import Engine, Progress, States
from orbits.forces import ForceLaw
from orbits.forces.newton import Newton

BATCH = 256
"""Orbits propagated at once: enough to hide Python, small enough to stay in the cache."""


@dataclass(frozen=True)
class KeplerEngine(Engine):
    """No steps and no accumulated error; the oracle of the other engines."""

    name: ClassVar[str] = "kepler"

    def relative(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
        progress: Progress | None = None,
    ) -> States:
        if not isinstance(law, Newton):
            raise ValueError(
                f"engine 'kepler' solves newton only, not {law.spec}; take scipy or heyoka."
            )
        positions = np.empty((len(position), len(times), position.shape[1]))
        velocities = np.empty_like(positions)
        for first in range(0, len(position), BATCH):
            some = slice(first, first + BATCH)
            states = propagate_kepler(position[some], velocity[some], gm[some], times)
            positions[some], velocities[some] = states
            if progress:
                progress(len(states[0]))
        return positions, velocities
