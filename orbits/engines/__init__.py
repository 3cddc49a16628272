"""Integration engines by name, one file each."""

from importlib.util import find_spec

from orbits.command.near_misses import require_known
from orbits.engines.base import Engine, IntegrationError, Progress, States
from orbits.engines.heyoka_taylor import HeyokaEngine
from orbits.engines.kepler import KeplerEngine
from orbits.engines.scipy_ivp import ScipyEngine

__all__ = [
    "ENGINES",
    "Engine",
    "IntegrationError",
    "Progress",
    "States",
    "engine_named",
    "is_installed",
]

ENGINES: dict[str, Engine] = {
    "scipy": ScipyEngine(),
    "scipy-lsoda": ScipyEngine(method="LSODA"),
    "scipy-radau": ScipyEngine(method="Radau"),
    "heyoka": HeyokaEngine(),
    "kepler": KeplerEngine(),
}
"""Every engine; `scipy` is DOP853 with rtol = atol = 1e-12."""


def is_installed(name: str) -> bool:
    """Whether an engine can be used here: heyoka is an extra."""
    return name != "heyoka" or find_spec("heyoka") is not None


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        ValueError: if it is not known, or not installed (says how to get it).
    """
    engine = ENGINES[require_known("engine", name, ENGINES)]
    if not is_installed(name):
        raise ValueError(
            f"engine {name!r} is not installed; pip install heyoka, or take --engine scipy."
        )
    return engine
