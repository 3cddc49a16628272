"""Integration engines by name, one file each."""

from orbits.choices import require_known
from orbits.engines.base import Engine, IntegrationError, Progress, States
from orbits.engines.kepler import KeplerEngine
from orbits.engines.scipy_ivp import ScipyEngine

__all__ = ["ENGINES", "Engine", "IntegrationError", "Progress", "States", "engine_named"]

ENGINES: dict[str, Engine] = {
    "scipy": ScipyEngine(),
    "scipy-lsoda": ScipyEngine(method="LSODA"),
    "scipy-radau": ScipyEngine(method="Radau"),
    "kepler": KeplerEngine(),
}
"""Every engine; `scipy` is DOP853 with rtol = atol = 1e-12."""


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        ValueError: if it is not known.
    """
    return ENGINES[require_known("engine", name, ENGINES)]
