"""Moved to `orbits.command_line`; falls with the next move."""

from orbits.command_line import Command, Positional, interruptible, main  # noqa: F401
