import collections.abc
import os
import typing

import xarray

from .config import EphemerisConfig as EphemerisConfig
from .config import ForcesConfig as ForcesConfig
from .config import GenerateConfig as GenerateConfig
from .config import ImportConfig as ImportConfig
from .dataset import open_dataset as open_dataset
from .dataset.info import describe as describe
from .dataset.reading import shuffled_batches as shuffled_batches
from .dataset.validation import validate as validate
from .derivatives.accelerations import measure_forces as _measure_forces
from .force_samples import ForceSamples as ForceSamples
from .forces import LAWS as LAWS
from .forces import parse_law as parse_law
from .generation.generate import generate as _generate
from .invariants import drift as drift
from .invariants import energy_scale as energy_scale
from .invariants import specific_energy as specific_energy
from .planets import ephemeris as _ephemeris
from .plot import plot_energy_drift as plot_energy_drift
from .plot import plot_orbits as plot_orbits
from .plot import plot_phase_portrait as plot_phase_portrait
from .simulators.integrate import integrate as integrate
from .trajectories.from_table import from_arrays as from_arrays
from .trajectories.from_table import from_table as _from_table
from .units import GM_SUN as GM_SUN
from .units import G as G
from .version import __version__ as __version__

# Written by tests/signatures.py:

def generate(
    out: str | os.PathLike[str] | None = None,
    config: GenerateConfig | None = None,
    *,
    progress: collections.abc.Callable[[str], object] | bool | None = None,
    law: str = ...,
    system: typing.Literal['relative', 'barycentric', 'nbody'] = ...,
    orbits: int = ...,
    samples: int = ...,
    dt: float = ...,
    dimensions: typing.Literal[0, 2, 3] = ...,
    population: typing.Literal['controlled', 'exoplanets'] = ...,
    semi_major_axis: tuple[float, ...] = ...,
    eccentricity: tuple[float, ...] = ...,
    min_perihelion: float = ...,
    mass: tuple[float, ...] = ...,
    companion_mass: tuple[float, ...] = ...,
    simulator: str = ...,
    seed: int = ...,
    planets: int = ...,
    hill_spacing: float = ...,
    dtype: typing.Literal['float32', 'float64'] = ...,
    shard_orbits: int = ...,
    workers: int = ...,
    scheduler: str = ...,
) -> xarray.Dataset: ...

def from_table(
    table: typing.Any,
    out: str | os.PathLike[str] | None = None,
    config: ImportConfig | None = None,
    announce: collections.abc.Callable[[str], object] | None = None,
    *,
    time: str = ...,
    position: tuple[str, ...] = ...,
    velocity: tuple[str, ...] = ...,
    body: str = ...,
    orbit: str = ...,
    time_unit: typing.Literal['yr', 'd', 'h', 'min', 's'] = ...,
    length_unit: typing.Literal['au', 'km', 'm', 'cm', 'pc'] = ...,
    origin: str = ...,
    samples: int = ...,
    law: str = ...,
    gm: float = ...,
) -> xarray.Dataset: ...

def ephemeris(
    out: str | os.PathLike[str] | None = None,
    config: EphemerisConfig | None = None,
    *,
    bodies: tuple[str, ...] = ...,
    start: float = ...,
    stop: float = ...,
    dt: float = ...,
    samples: int = ...,
    frame: typing.Literal['orbit', 'ecliptic', 'icrf'] = ...,
    together: bool = ...,
) -> xarray.Dataset: ...

def measure_forces(
    data: typing.Any,
    config: ForcesConfig | None = None,
    *,
    noise: float = ...,
) -> ForceSamples: ...
