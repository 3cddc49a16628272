"""Predictors and controls, found by their files: see `worldmodel.predictors.base`."""

from orbits.command.registry import Registry
from worldmodel.predictors.base import Control

ORDER = ("none", "untrained", "injected", "keplerian")

CONTROLS: Registry[Control] = Registry("worldmodel.predictors", Control, order=ORDER)
"""What may stand in the place of the model, by name."""
