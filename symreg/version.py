"""The version, as `orbits` has it."""

from orbits.version import __version__ as __version__
