"""A read-out and a control are one file each, found wherever their folder is said to be."""

import pytest

import worldmodel
import worldmodel.predictors
import worldmodel.probes.readouts

READOUT = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from worldmodel.probes.readouts.base import Reading, ReadOut


@dataclass(frozen=True)
class Spread(ReadOut):
    """How far predictions lie apart."""

    name: ClassVar[str] = "spread"
    what: ClassVar[str] = "how far predictions lie apart"

    def read(self, subject):
        predicted = subject.predictor.predict(subject.arcs())
        metrics = {"spread": float(np.nanmax(np.abs(predicted)))}
        return Reading(metrics, subject.states, "read")
'''

CONTROL = '''
import numpy as np

from worldmodel.predictors.base import ArcPredictor, Control


class Still(ArcPredictor):
    """Nothing ever moves."""

    def __init__(self, place):
        self.place, self.context_length = place, 2

    def predict(self, arcs):
        return np.full(arcs.seen.shape, self.place)

    def jacobians(self, arcs, orbit, time):
        raise NotImplementedError


STILL = Control(
    "still", "a body that never moves", "still", "black", "Nothing.",
    lambda model, law, memory: Still(7.5),
)
'''


def test_one_file_each_is_enough(add_variant, some_run, few_orbits):
    add_variant(worldmodel.probes.readouts, "spread", READOUT)
    add_variant(worldmodel.predictors, "still", CONTROL)
    run = some_run(few_orbits)
    found = worldmodel.probe(run, few_orbits, readout="spread", control="still")
    assert found.metrics == {"spread": 7.5}
    assert found.to_dict()["model"]["kind"] == "still"
    with pytest.raises(ValueError, match="has no use for; give one of none, injected"):
        worldmodel.probe(run, few_orbits, readout="linear", control="still")
