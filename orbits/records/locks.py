"""Moved to `orbits.files`; falls with the next move."""

from orbits.files import held  # noqa: F401
