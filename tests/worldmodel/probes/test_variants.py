"""A read-out and a control are one file each, found wherever their folder is said to be."""

import json
import subprocess
import sys

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
    "still", "a body that never moves", "still", "black", "Nothing.", lambda model, law: Still(7.5)
)
'''


def test_one_file_each_is_enough(some_run, few_orbits, tmp_path):
    (tmp_path / "readouts").mkdir()
    (tmp_path / "predictors").mkdir()
    (tmp_path / "readouts/spread.py").write_text(READOUT)
    (tmp_path / "predictors/still.py").write_text(CONTROL)
    code = (
        "import sys, worldmodel.predictors, worldmodel.probes.readouts as r\n"
        f"r.__path__.append({str(tmp_path / 'readouts')!r})\n"
        f"worldmodel.predictors.__path__.append({str(tmp_path / 'predictors')!r})\n"
        "from worldmodel.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )

    def command(*arguments):
        line = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True)

    run, out = some_run(few_orbits), tmp_path / "out.json"
    chosen = ("--readout", "spread", "--control", "still")
    done = command("probe", run, few_orbits, out, *chosen)
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text())
    assert written["metrics"] == {"spread": 7.5}
    assert written["model"]["kind"] == "still"
    refused = command("probe", run, few_orbits, out, "--readout", "linear", "--control", "still")
    assert "has no use for; give one of none, injected" in refused.stderr
    shown = " ".join(command("probe", "--help").stdout.split())
    assert "spread (how far predictions lie apart)" in shown
    assert "still (a body that never moves)" in shown
