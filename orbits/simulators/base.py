"""What simulators offer: accurate states at given times, orbit by orbit."""

from abc import ABC, abstractmethod
from importlib.util import find_spec
from typing import ClassVar

import numpy as np

from orbits.forces import ForceLaw

States = tuple[np.ndarray, np.ndarray]
"""Position and velocity."""


class IntegrationError(ValueError):
    """An orbit could not be followed to the end (a collision, or a vanishing step)."""


class Simulator(ABC):
    """A way to integrate orbits. Every orbit has its own steps, whatever the others do."""

    name: str
    requires: ClassVar[str] = ""
    """Package to install for this simulator, if `orbits` itself does not need it."""
    is_slow: ClassVar[bool] = False
    """Whether an orbit takes milliseconds rather than microseconds."""

    @property
    def is_installed(self) -> bool:
        """Whether the simulator can be used here."""
        return not self.requires or find_spec(self.requires) is not None

    def require_possible(self, law: ForceLaw, several: bool) -> None:  # noqa: B027 - most can all
        """Refuse a law, or several planets, that it cannot do: a ValueError says what it can."""

    @abstractmethod
    def relative(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
    ) -> States:
        """Follow relative two-body orbits, as `orbits.integrate` does once all is checked.

        Returns:
            (orbit, time, axis) position, au, and velocity, au/yr, float64.

        Raises:
            IntegrationError: if an orbit cannot be followed to the end.
            ValueError: if the simulator cannot do this law.
        """

    def bodies(
        self,
        law: ForceLaw,
        position: np.ndarray,
        velocity: np.ndarray,
        gm: np.ndarray,
        times: np.ndarray,
        relativity: np.ndarray | None = None,
    ) -> States:
        """Follow systems of bodies that all attract one another, as `integrate_bodies` does.

        But `gm` is G times each mass, au^3/yr^2, and `relativity` is by system, None without it.

        Returns:
            (system, time, body, axis) position, au, and velocity, au/yr, float64.

        Raises:
            IntegrationError: if a system cannot be followed to the end.
            ValueError: if the simulator cannot do several bodies.
        """
        raise ValueError(f"simulator {self.name!r} follows two bodies only; take scipy or heyoka.")
