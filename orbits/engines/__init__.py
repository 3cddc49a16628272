"""Integration engines by name, one file each."""

from orbits.engines.base import Engine, IntegrationError, States
from orbits.options import require_known
from orbits.registry import Registry

__all__ = ["ENGINES", "Engine", "IntegrationError", "States", "engine_named"]

ENGINES: Registry[Engine] = Registry(
    "orbits.engines", Engine, order=("scipy", "scipy-lsoda", "heyoka", "kepler")
)
"""Every engine; `scipy` is DOP853 with rtol = atol = 1e-12."""


def engine_named(name: str) -> Engine:
    """The engine of that name.

    Raises:
        ValueError: if it is not known, or not installed (says how to get it).
    """
    engine = ENGINES[require_known("engine", name, ENGINES)]
    if not engine.is_installed:
        raise ValueError(
            f"engine {name!r} is not installed; pip install {engine.requires}, or take "
            "--engine scipy."
        )
    return engine
