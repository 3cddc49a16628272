"""What is probed: a model or a control, data, and options; every probe gets one."""

import secrets
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from orbits.files import sha256_of_json
from orbits.forces import ForceLaw, known_law
from worldmodel.controls import CONTROLS
from worldmodel.controls.base import Control
from worldmodel.controls.network import untrained
from worldmodel.examiner.states import World
from worldmodel.own_predictor import CheckedPredictor, OfPositions
from worldmodel.predictor import ArcPredictor, Predictor
from worldmodel.probes.acceleration import finite_step_corrected, implied_acceleration, within
from worldmodel.probes.setting import ExperimentConfig
from worldmodel.probes.states import Arcs, Orbits, kicked, read_orbits, undisturbed
from worldmodel.probes.subject import Subject
from worldmodel.source import Data, DataFacts, DatasetSource, Trajectories, spread


class Experiment:
    """A model or its stand-in, data, and the options.

    The data may be a path; `trained_on` is the model's training data set, or its path, instead of
    the one that the model remembers.
    """

    def __init__(
        self,
        model: Subject,
        data: "Data",
        config: ExperimentConfig,
        trained_on: "Data | None" = None,
    ) -> None:
        control = CONTROLS[config.control]
        self.config = config
        self.trained_on = trained_on
        self.source = DatasetSource(data)
        self.trained = model.for_world(self.facts)
        self.model: Subject = control.network(self.trained, config.seed)
        self.known_law: ForceLaw | None = known_law(self.facts.law)
        if control.needs_law:
            _ = self.law
        self.predictor = self.with_control(control, self.model)

    def with_control(self, control: Control, model: Subject) -> ArcPredictor:
        """The predictor with a control in the model's place."""
        law: Any = self.known_law  # those that need it were asked before
        predictor = control.predictor(model, law, self.remembered)
        return OfPositions(model) if predictor is model else on_arcs(predictor, control.name)

    def remembered(self) -> Float[np.ndarray, "orbit time axis"]:
        """Positions of the training orbits, for lookups; ValueError if they are unknown."""
        if self.training_positions is None:
            raise ValueError(
                f"--control {self.config.control} looks up the orbits that the model was trained "
                "on, and these are not known, or show several bodies; say them with --trained-on."
            )
        return self.training_positions

    @cached_property
    def untrained(self) -> Subject:
        """The same architecture with fresh weights."""
        return untrained(self.trained, self.config.seed)

    @cached_property
    def radius(self) -> tuple[float, float]:
        """Smallest and largest distance from the centre in the training orbits, au; if these are
        unknown, in the orbits shown."""
        if self.model.radius is not None:
            return self.model.radius
        known = self.training_positions
        shown = self.orbits.trajectories.position if known is None else known
        r = np.linalg.norm(shown, axis=-1)
        return float(r.min()), float(r.max())

    @cached_property
    def training_positions(self) -> Float[np.ndarray, "orbit time axis"] | None:
        """Positions of the training orbits, evenly spread over them if there are more than 2000,
        in which a copier would search for minutes; None for several bodies, and if they are
        unknown. ValueError if their step or shape differs from the data's."""
        source = self._training_source()
        if source is None or (source.facts.bodies, self.facts.bodies) != (1, 1):
            return None
        own = (source.facts.dt, source.facts.axes)
        if own != (self.facts.dt, self.facts.axes):
            raise ValueError(
                f"{source.facts.path} has a state of {own[1]} coordinates every {own[0]:g} yr, "
                f"and {self.facts.path} one of {self.facts.axes} every {self.facts.dt:g} yr: no "
                "model was trained on the one and sees the other."
            )
        count = self.model.first_unseen(source.facts) or source.facts.orbits
        return source.read(spread(0, count, 2000)).position[:, :, 0]

    def _training_source(self) -> DatasetSource | None:
        if self.trained_on is not None:
            return DatasetSource(self.trained_on)
        known = self.trained.training_facts
        if known is not None and known.fingerprint == self.facts.fingerprint:
            return self.source
        path = self.trained.trained_on
        if path is None or not Path(path).exists():
            return None
        source = DatasetSource(path)
        return source if known is None or known.fingerprint == source.facts.fingerprint else None

    @property
    def law(self) -> ForceLaw:
        """The law that moves the data; ValueError if it is unknown."""
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
        """Orbits outside the training set."""
        return read_orbits(self.source, self.unseen)

    @cached_property
    def trajectories(self) -> Trajectories:
        """The same as in the data, with any number of bodies."""
        return self.source.read(self.unseen)

    @property
    def unseen(self) -> np.ndarray:
        """Their numbers, evenly spread over the data set."""
        first = self.model.first_unseen(self.facts)
        return spread(first, self.facts.orbits, self.config.orbits)

    @cached_property
    def exam_seed(self) -> int:
        """Draws the questions of an examination: the one of the options, or a fresh one."""
        own = self.config.exam_seed
        return secrets.randbits(53) if own is None else own  # bits that JSON keeps

    @cached_property
    def world(self) -> World:
        """What moves the states of an examination; ValueError without a law."""
        orbits, radius = self.orbits, self.radius
        if orbits.mass is not None:  # distances from each other, not from the barycentre
            apart = np.linalg.norm(orbits.position, axis=-1)
            radius = float(apart.min()), float(apart.max())
        gm, axes = orbits.trajectories.gm, orbits.position.shape[-1]
        return World(self.law, self.facts.dt, radius, gm, orbits.mass, axes, orbits.gm_varies)

    def examined_orbits(self, length: int) -> dict[str, np.ndarray] | None:
        """Positions and GM of orbits as data files hold them, those of training too if they are
        known; None of two bodies, and of orbits shorter than a context."""
        trajectories = self.orbits.trajectories
        if self.orbits.mass is not None or self.facts.samples < length:
            return None
        shown = [(trajectories.position[:, :, 0], trajectories.gm)]
        source = self._training_source()
        alike = ("bodies", "dt", "samples", "axes")
        if source is not None and all(
            getattr(source.facts, name) == getattr(self.facts, name) for name in alike
        ):
            known = source.read(spread(0, source.facts.orbits, len(trajectories.gm)))
            shown.append((known.position[:, :, 0], known.gm))
        position, gm = (np.concatenate(each) for each in zip(*shown, strict=True))
        return {"position": position, "gm": gm}

    def arcs(self, orbits: Orbits | None = None) -> Arcs:
        """The states of `--states`, from the experiment's orbits or from given ones."""
        orbits = orbits or self.orbits
        if self.config.states == "orbit":
            return undisturbed(orbits, self.predictor.context_length)
        return self.kicked_arcs(orbits)

    def kicked_arcs(self, orbits: Orbits, steps: int | None = None) -> Arcs:
        """Kicked orbits: the steps after the kick that the options name, or the first ones."""
        config, first = self.config, 1
        if steps is None:
            first = 2 if orbits.gm_varies else 1
            # through the whole context: some models are wrong only while the kick is in it
            steps = max(config.kick_steps, self.predictor.context_length) + first - 1
        kick = config.kick_angle, config.kick_scale, self.random()
        length = self.predictor.context_length
        return kicked(orbits, self.law, length, range(first, steps + 1), *kick)

    def acceleration(
        self, arcs: Arcs, predictor: ArcPredictor | None = None
    ) -> Float[np.ndarray, "orbit time body axis"]:
        """Accelerations that the predictions imply for every visible body, au/yr^2."""
        return self.acceleration_of((predictor or self.predictor).predict(arcs), arcs)

    def acceleration_of(
        self, predicted: Float[np.ndarray, "orbit time body axis"], arcs: Arcs
    ) -> Float[np.ndarray, "orbit time body axis"]:
        """Accelerations that next positions (au) imply, au/yr^2."""
        implied = implied_acceleration(predicted, arcs.seen, self.facts.dt)
        if self.config.correction == "numerov":
            return finite_step_corrected(implied, arcs.start)
        return implied

    def within(self, arcs: Arcs) -> Bool[np.ndarray, "orbit time"]:
        """Whether every visible body is at a distance seen in training."""
        return within(arcs, self.orbits, self.radius)

    @property
    def states(self) -> str:
        """`orbit`, `kicked` or `planets`."""
        planets = self.facts.system == "planets" and self.config.states == "orbit"
        return "planets" if planets else self.config.states

    def random(self) -> np.random.Generator:
        """A fresh generator with the probe's seed."""
        return np.random.default_rng(self.config.seed)

    def identity(self) -> dict[str, Any]:
        """Which model was probed."""
        config, model = self.config, self.model
        kind = "trained" if config.control == "none" else config.control
        of_control = sha256_of_json([model.identity, kind, config.seed])
        sha256 = model.fingerprint if kind == "trained" else of_control
        return {"kind": kind, "sha256": sha256, **model.about()}

    @property
    def who(self) -> str:
        """Its name in the terminal."""
        control = self.config.control
        return "the model" if control == "none" else f"{control} control"


def on_arcs(predictor: Predictor | ArcPredictor, name: str) -> ArcPredictor:
    """A predictor of arcs, from one of positions or arcs."""
    if isinstance(predictor, ArcPredictor):
        return predictor
    return OfPositions(CheckedPredictor(predictor, name=name))
