"""Moved to `orbits.entry`; falls with the next move."""

from orbits.entry import INTERRUPTED, enter  # noqa: F401
