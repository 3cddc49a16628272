"""Moved to `orbits.memory`; falls with the next move."""

from orbits.memory import *  # noqa: F403
