"""Simulators by name, one file each."""

from orbits.options import require_known
from orbits.registry import Registry
from orbits.simulators.base import IntegrationError, Simulator, States

__all__ = ["SIMULATORS", "IntegrationError", "Simulator", "States", "simulator_named"]

SIMULATORS: Registry[Simulator] = Registry(
    "orbits.simulators", Simulator, order=("scipy", "scipy-lsoda", "heyoka", "kepler")
)
"""Every simulator; `scipy` is DOP853 with rtol = atol = 1e-12."""


def simulator_named(name: str) -> Simulator:
    """The simulator of that name.

    Raises:
        ValueError: if it is unknown, or not installed (says how to get it).
    """
    simulator = SIMULATORS[require_known("simulator", name, SIMULATORS)]
    if not simulator.is_installed:
        raise ValueError(
            f"simulator {name!r} is not installed; pip install {simulator.requires}, or take "
            "--simulator scipy."
        )
    return simulator
