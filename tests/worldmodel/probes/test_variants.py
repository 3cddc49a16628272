"""A read-out and a control are one file each, found wherever their folder is said to be."""

import json

import pytest

import worldmodel
import worldmodel.controls
import worldmodel.probes.readouts
from worldmodel.cli import main

READOUT = '''
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from orbits.options import Above

from worldmodel.probes.readouts.base import Reading, ReadOut


@dataclass(frozen=True)
class Spread(ReadOut):
    """How far predictions lie apart."""

    name: ClassVar[str] = "spread"
    what: ClassVar[str] = "how far predictions lie apart"

    factor: Annotated[float, Above(0)] = 1.0
    \"\"\"Of the answer.\"\"\"

    def read(self, subject):
        predicted = subject.predictor.predict(subject.arcs())
        metrics = {"spread": self.factor * float(np.nanmax(np.abs(predicted)))}
        return Reading(metrics, subject.states, "read")
'''

CONTROL = '''
import numpy as np

from worldmodel.controls.base import Control
from worldmodel.predictor import ArcPredictor


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


def test_a_read_out_with_an_option_is_one_file(add_variant, some_run, few_orbits, tmp_path, capsys):
    add_variant(worldmodel.probes.readouts, "spread", READOUT)
    run, out = some_run(few_orbits), tmp_path / "spread.json"

    def spread(text):
        assert main(["probe", run, few_orbits, str(out), "--readout", text]) == 0
        return json.loads(out.read_text())["metrics"]["spread"]

    assert spread("spread(factor=2)") == pytest.approx(2 * spread("spread"))
    capsys.readouterr()
    assert main(["probe", run, few_orbits, str(out), "--readout", "spread(factor=0)"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "spread.factor is 0; it should be greater than 0" in said
    assert main(["probe", run, few_orbits, str(out), "--readout", "spread(facto=1)"]) == 2
    assert "did you mean 'factor'" in capsys.readouterr().err


def test_one_file_each_is_enough(add_variant, some_run, few_orbits):
    add_variant(worldmodel.probes.readouts, "spread", READOUT)
    add_variant(worldmodel.controls, "still", CONTROL)
    run = some_run(few_orbits)
    found = worldmodel.probe(run, few_orbits, readout="spread", control="still")
    assert found.metrics == {"spread": 7.5}
    assert found.to_dict()["model"]["kind"] == "still"
    with pytest.raises(ValueError, match="has no use for; give one of none, injected"):
        worldmodel.probe(run, few_orbits, readout="linear", control="still")
