"""Moved to `orbits.storage`; falls with the next move."""

from orbits.storage import Place  # noqa: F401
