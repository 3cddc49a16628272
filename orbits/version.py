"""The version of the distribution, shared by the three packages."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "orbitlaw"

try:
    __version__ = version(DISTRIBUTION)
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "unknown"
