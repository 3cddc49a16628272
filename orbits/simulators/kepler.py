"""Exact Kepler propagation as a simulator: Newton's law between two bodies only."""

from dataclasses import dataclass

import numpy as np

from orbits.elements import propagate_kepler
from orbits.forces import ForceLaw
from orbits.forces.newton import Newton
from orbits.simulators.base import IntegrationError, Simulator, States


@dataclass(frozen=True)
class KeplerSimulator(Simulator):
    """No steps and no accumulated error; the reference for other simulators."""

    name: str = "kepler"

    def require_possible(self, law: ForceLaw, several: bool) -> None:
        if several or not isinstance(law, Newton):
            what = "several planets" if several else law.spec
            raise ValueError(
                f"simulator {self.name!r} solves newton between two bodies only, not {what}; "
                "take scipy or heyoka."
            )

    def relative(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
    ) -> States:
        self.require_possible(law, several=False)
        positions = np.empty((len(position), len(times), position.shape[1]))
        velocities = np.empty_like(positions)
        # batches of 256: enough to hide Python, small enough to stay in the cache
        for some in (slice(first, first + 256) for first in range(0, len(position), 256)):
            try:
                states = propagate_kepler(position[some], velocity[some], gm[some], times)
            except ValueError as error:  # without angular momentum bodies collide
                raise IntegrationError(str(error)) from None
            positions[some], velocities[some] = states
        return positions, velocities


kepler = KeplerSimulator()
