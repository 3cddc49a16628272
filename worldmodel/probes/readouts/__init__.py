"""Read-outs, found by their files: see `worldmodel.probes.readouts.base`."""

from orbits.registry import Registry
from worldmodel.probes.readouts.base import ReadOut

READOUTS: Registry[type[ReadOut]] = Registry("worldmodel.probes.readouts", ReadOut, of_classes=True)
"""Classes of read-outs by name."""
