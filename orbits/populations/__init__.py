"""Sampling systems: vectorised, reproducible, with random phase and orientation."""

from orbits.populations.arcs import sample_arcs
from orbits.populations.bound import (
    FEW,
    RelativeOrbits,
    bound_share,
    orbits_between_apsides,
    sample_bound,
    turn_in_space,
)
from orbits.populations.planetary import Planetary, sample_masses, sample_planets, solar_systems
from orbits.populations.ranges import Ranges, require_attraction

__all__ = [
    "FEW",
    "Planetary",
    "Ranges",
    "RelativeOrbits",
    "bound_share",
    "orbits_between_apsides",
    "require_attraction",
    "sample_arcs",
    "sample_bound",
    "sample_masses",
    "sample_planets",
    "solar_systems",
    "turn_in_space",
]
