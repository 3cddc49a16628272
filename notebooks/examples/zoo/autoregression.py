"""Linear autoregression, fitted to a context of 32 positions."""

from worldmodel import Autoregression


def make() -> Autoregression:
    """Nothing is trained."""
    return Autoregression(32)
