"""Moved to `orbits.command_line`; falls with the next move."""

from orbits.command_line import say, wrapped  # noqa: F401
