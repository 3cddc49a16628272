"""The version, from `orbits`."""

from orbits.version import __version__ as __version__
