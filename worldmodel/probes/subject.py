"""What is probed: a model or a control, data, and the options; what every read-out looks at."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from orbits.forces import ForceLaw, known_law
from orbits.records.files import sha256_of_json
from worldmodel.predictors import CONTROLS
from worldmodel.predictors.base import Predictor
from worldmodel.predictors.network import untrained
from worldmodel.probes.config import ProbeOptions
from worldmodel.probes.states import Arcs, Orbits, kicked, read_orbits, undisturbed
from worldmodel.source import DataFacts, Source
from worldmodel.world_model import (
    ModelOrRun,
    WorldModel,
    as_model,
    require_same_world,
    unseen_orbits,
)

if TYPE_CHECKING:
    from worldmodel.source import Data


class Subject:
    """A model or what stands in its place, data, and the options.

    Args:
        model: a model, or the folder of its run.
        data: path of a data set, or the data set itself.
        config: which states, and what is read in the place of the model.
    """

    def __init__(self, model: ModelOrRun, data: "Data", config: ProbeOptions) -> None:
        control = CONTROLS[config.control]
        self.config = config
        self.trained = as_model(model, config.checkpoint)
        self.model = control.network(self.trained, config.seed)
        self.source = Source(data)
        require_same_world(self.model, self.facts)
        self.known_law: ForceLaw | None = known_law(self.facts.law)
        if config.control == "injected":
            _ = self.law
        self.predictor: Predictor = control.predictor(self.model, self.known_law)  # type: ignore[arg-type]

    @cached_property
    def untrained(self) -> WorldModel:
        """The same architecture with fresh weights."""
        return untrained(self.trained, self.config.seed)

    @property
    def law(self) -> ForceLaw:
        """The law that moves the data.

        Raises:
            ValueError: if nobody knows it.
        """
        if self.known_law is None:
            raise ValueError(
                f"the law that moves {self.facts.path} is not known, and what was asked for needs "
                "it. What needs no law: --readout implied --states orbit, with --control none, "
                "untrained or keplerian."
            )
        return self.known_law

    @property
    def facts(self) -> DataFacts:
        return self.source.facts

    @cached_property
    def orbits(self) -> Orbits:
        """Orbits that the model was not trained on."""
        return read_orbits(self.source, unseen_orbits(self.model, self.facts, self.config.orbits))

    def arcs(self, orbits: Orbits | None = None) -> Arcs:
        """The states that `--states` asks for, of the subject's orbits or of given ones."""
        config, context_length = self.config, self.predictor.context_length
        orbits = orbits or self.orbits
        if config.states == "orbit":
            return undisturbed(orbits, context_length)
        first = config.kick_first or (2 if orbits.gm_varies else 1)
        return kicked(
            orbits,
            self.law,
            context_length,
            config.kick_steps + first - 1,
            config.kick_angle,
            config.kick_scale,
            self.random(),
        ).read_from(first)

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
        of_control = sha256_of_json([record.identity, kind, config.seed])
        return {
            "kind": kind,
            "sha256": self.model.fingerprint if kind == "trained" else of_control,
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
