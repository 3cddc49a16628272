"""Moved to `orbits.options`; falls with the next move."""

from orbits.options import nearest, require_known

__all__ = ["nearest", "require_known"]
