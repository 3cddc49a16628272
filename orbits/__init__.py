"""Simulate trajectories under a known force and keep them in checked datasets.

    import orbits

    data = orbits.generate(law="newton", orbits=1000, seed=0)  # an xarray.Dataset, in memory
    data.position                                              # (orbit, time, axis), au
    orbits.plot_orbits(data)
    orbits.validate("train.zarr")                              # a path is as good as a dataset

Importing the package is quick; what a name needs is imported at its first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orbits.config import EphemerisConfig, ForcesConfig, GenerateConfig, ImportConfig
    from orbits.dataset import open_dataset
    from orbits.forces import LAWS, parse_law
    from orbits.generation import generate
    from orbits.info import describe
    from orbits.integration import integrate
    from orbits.invariants import drift, energy_scale, specific_energy
    from orbits.planets import ephemeris
    from orbits.plot import animate, plot_energy_drift, plot_orbits, plot_phase_portrait
    from orbits.reading import shuffled_batches
    from orbits.records.force_samples import ForceSamples, read_force_samples
    from orbits.trajectories.accelerations import measure_forces
    from orbits.trajectories.importing import from_table
    from orbits.units import GM_SUN, G
    from orbits.validation import validate

    __version__: str

__all__ = [
    "GM_SUN",
    "LAWS",
    "EphemerisConfig",
    "ForceSamples",
    "ForcesConfig",
    "G",
    "GenerateConfig",
    "ImportConfig",
    "__version__",
    "animate",
    "describe",
    "drift",
    "energy_scale",
    "ephemeris",
    "from_table",
    "generate",
    "integrate",
    "measure_forces",
    "open_dataset",
    "parse_law",
    "plot_energy_drift",
    "plot_orbits",
    "plot_phase_portrait",
    "read_force_samples",
    "shuffled_batches",
    "specific_energy",
    "validate",
]

# No name here may be that of a module of the package: importing the module would replace it.
_MODULES = {
    "config": ("EphemerisConfig", "ForcesConfig", "GenerateConfig", "ImportConfig"),
    "dataset": ("open_dataset",),
    "forces": ("LAWS", "parse_law"),
    "generation": ("generate",),
    "info": ("describe",),
    "integration": ("integrate",),
    "invariants": ("drift", "energy_scale", "specific_energy"),
    "planets": ("ephemeris",),
    "plot": ("animate", "plot_energy_drift", "plot_orbits", "plot_phase_portrait"),
    "reading": ("shuffled_batches",),
    "records.force_samples": ("ForceSamples", "read_force_samples"),
    "trajectories.accelerations": ("measure_forces",),
    "trajectories.importing": ("from_table",),
    "units": ("GM_SUN", "G"),
    "validation": ("validate",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("principia")
    if name in _HOMES:
        return getattr(importlib.import_module(f"orbits.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
