"""The version of the distribution that the three packages come in."""

from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "kicktest"

try:
    __version__ = version(DISTRIBUTION)
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "unknown"
