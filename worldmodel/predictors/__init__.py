"""Predictors and controls, found by their files: see `worldmodel.predictors.base`."""

from orbits.registry import Registry
from worldmodel.predictors.base import Control

CONTROLS: Registry[Control] = Registry("worldmodel.predictors", Control)
"""What may replace the model, by name."""
