"""How vectors enter and leave a network, one file each: see `worldmodel.representation.base`."""

from orbits.registry import Registry
from worldmodel.representation.base import Representation

REPRESENTATIONS: Registry[Representation] = Registry("worldmodel.representation", Representation)
"""Representations by name, as in `--inputs` and `--outputs`."""
