"""Moved to `orbits.files`; falls with the next move."""

from orbits.files import as_json, of_json, read_typed  # noqa: F401
