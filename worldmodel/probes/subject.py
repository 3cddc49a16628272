"""What is probed, and what a read-out returns: the contract of `worldmodel.probes.readouts`."""

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch

from orbits.forces import ForceLaw, parse_law
from orbits.records.files import sha256_of_file, sha256_of_json
from worldmodel.data import DataFacts, Source
from worldmodel.predictors.base import Predictor, make_predictor
from worldmodel.probes.config import ProbeConfig
from worldmodel.probes.states import Orbits, read_orbits
from worldmodel.world_model import WorldModel, require_same_world, unseen_orbits

UNTRAINED_SEED = 1_000_000
"""Added to the probe's seed, so that fresh weights are none that a run began with."""


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a read-out found.

    metrics: numbers by name; flat for a read-out that writes JSON. table: force samples, for a
    read-out that writes them. details: anything more that goes into the file. states: which states
    were read. text: the metrics for the terminal.
    """

    metrics: dict[str, Any]
    states: str
    text: str
    table: pd.DataFrame | None = None
    details: dict[str, Any] = dataclasses.field(default_factory=dict)


class Subject:
    """A run, data, and the options: what every read-out looks at."""

    def __init__(self, run: str, data: str, config: ProbeConfig) -> None:
        if config.threads:
            torch.set_num_threads(config.threads)
        self.run = run
        self.config = config
        self.model = (
            self.untrained
            if config.control == "untrained"
            else WorldModel.load(run, config.checkpoint)
        )
        self.source = Source(data)
        facts = self.facts
        require_same_world(self.model, facts.path, facts.dt, facts.bodies, facts.axes)
        self.law: ForceLaw = parse_law(facts.law)
        self.predictor: Predictor = make_predictor(config.control, self.model, self.law)

    @cached_property
    def untrained(self) -> WorldModel:
        """The same architecture with fresh weights."""
        return WorldModel.untrained(self.run, self.config.seed + UNTRAINED_SEED)

    @property
    def facts(self) -> DataFacts:
        return self.source.facts

    @cached_property
    def orbits(self) -> Orbits:
        """Orbits that the model was not trained on."""
        return read_orbits(self.source, unseen_orbits(self.model, self.facts, self.config.orbits))

    @property
    def states(self) -> str:
        """`orbit`, `kicked` or `planets`."""
        planets = self.facts.system == "planets" and self.config.states == "orbit"
        return "planets" if planets else self.config.states

    def random(self) -> np.random.Generator:
        """A generator at its start, by the probe's seed."""
        return np.random.default_rng(self.config.seed)

    def identity(self) -> dict[str, Any]:
        """Which model was probed."""
        config, record = self.config, self.model.record
        kind = "trained" if config.control == "none" else config.control
        sha = sha256_of_json([record.identity, kind, config.seed])
        if config.control == "none":
            sha = sha256_of_file(f"{self.run}/{config.checkpoint}.safetensors")
        return {
            "kind": kind,
            "sha256": sha,
            "attention": record.train.attention,
            "context_length": record.train.context_length,
            "target": record.train.target,
            "seed": record.train.seed,
        }

    @property
    def who(self) -> str:
        """The probed, for the terminal."""
        control = self.config.control
        return "the model" if control == "none" else f"{control} control"
