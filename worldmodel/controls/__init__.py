"""What may replace the model, found by its files: see `worldmodel.controls.base`."""

from orbits.registry import Registry
from worldmodel.controls.base import Control

CONTROLS: Registry[Control] = Registry("worldmodel.controls", Control)
"""What may replace the model, by name."""
