"""What a probe is to the referee: a function from a network and orbits to a score."""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import orbits
import worldmodel
from worldmodel.examiner.answers import Answers, examined
from worldmodel.examiner.questions import Counts
from worldmodel.examiner.states import World
from worldmodel.own_predictor import OfPositions
from worldmodel.probes import ridge

ridge.PENALTIES = np.logspace(-8, 2, 4)  # a third of the time of eleven
JACOBIAN = "jacobian(states=100)"
KICK = "kick_response(steps=8)"
LINEAR = "linear(states=300)"
EXAMINATION = "examination"
"""Of 120 states of the density, 40 of each family, 60 behind each past: `worldmodel.examiner`."""
ROLLOUT = "evaluate(steps=32)"
TRANSFER = "transfer(labelled=300, few=60, points=500, steps=80, batch_tokens=512{})"
"""Read-outs that several probes share: asked for in the same words, they are read once."""
WORLD = World(
    orbits.parse_law("newton"), 0.008, (0.28, 2.9), np.array([orbits.GM_SUN]), None, axes=2
)
"""What moves the states of an examination; distances (au) of the ordinary orbits."""
ORBITS = 60
"""Held-out orbits that a probe sees, unless its protocol needs more."""


@dataclass(frozen=True)
class Network:
    """A trained network, and orbits that it never saw."""

    model: Any
    """A `worldmodel.WorldModel`."""
    orbits: str
    """Path of the held-out data set: orbits under Newton's law, whatever the network was taught."""
    truth: float
    """Share of the grid's states on which the implied acceleration is within 10 % of Newton's; for
    the control that is told the truth, and for no other."""
    number: int
    """Of the network, for the control that looks at nothing."""

    def read(self, readout: str, **options: Any) -> dict[str, Any]:
        """The numbers of a read-out of `worldmodel.probe`."""
        return self.readings.metrics(self, readout, **{"orbits": ORBITS, **options})

    @cached_property
    def answers(self) -> Answers:
        """The table of an examination of its bare answers."""
        counts = Counts(density=120, family=40, past=60, shell=0, orbits=0, again=0, rolled=0)
        length = max(self.model.context_length, 3)
        return examined(OfPositions(self.model), WORLD, counts, seed=7, length=length)

    def examination(self) -> Answers:
        """The same, and its time noted."""
        return self.readings.taken(EXAMINATION, lambda: self.answers)

    @cached_property
    def readings(self) -> "Readings":
        return Readings({}, [])


@dataclass(frozen=True)
class Readings:
    """Read-outs that two probes share are read once."""

    known: dict[Any, tuple[Any, float]]
    seconds: list[float]
    """Processor time of each read-out that was asked for, shared or not."""

    def metrics(self, network: Network, readout: str, **options: Any) -> dict[str, Any]:
        def read() -> dict[str, Any]:
            reading = worldmodel.probe(network.model, network.orbits, readout=readout, **options)
            own = getattr(reading, "metrics", None)
            return reading.attributes["metrics"] if own is None else own

        return self.taken((readout, *sorted(options.items())), read)

    def taken(self, key: Any, read: Callable[[], Any]) -> Any:
        """What was read under a key; read now if it is the first time."""
        if key not in self.known:
            start = time.process_time()
            found = read()
            self.known[key] = found, time.process_time() - start
        found, seconds = self.known[key]
        self.seconds.append(seconds)
        return found


@dataclass(frozen=True)
class Probe:
    """One published test, or a control."""

    name: str
    """In a word or two, as in the figure."""
    source: str
    """The paper and what of its protocol was reduced."""
    score: Callable[[Network], float]
    """Larger means: rather yes, it has Newton's force."""
    threshold: float | None = None
    """From this score on the answer is yes; None where neither the paper nor we name one."""
    control: bool = False
    """Whether it is a control and no probe."""


def distance_from_newton(reading: dict[str, Any]) -> float:
    """How far the power of r fitted to a table of accelerations is from −2; 10 where no row
    attracts."""
    power = reading.get("exponent", {}).get("value")
    return 10.0 if power is None else abs(power - 2)


@cache
def all_probes() -> dict[str, Probe]:
    """Every probe of the folder, by the name of its file."""
    probes = {}
    for path in sorted((Path(__file__).parent / "probes").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"referee_{path.stem}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        probes[path.stem] = module.PROBE
    return probes
