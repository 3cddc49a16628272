"""The naive copier of a context of 32 positions."""

from worldmodel import Parrot


def make() -> Parrot:
    """Nothing is trained."""
    return Parrot(32)
