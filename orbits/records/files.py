"""Moved to `orbits.files`; falls with the next move."""

from orbits.files import *  # noqa: F403
