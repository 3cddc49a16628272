"""Options of the read-outs, as frozen dataclasses that check themselves. Imports no torch."""

import dataclasses
import math
from typing import Literal

from orbits.command.near_misses import require_known
from worldmodel.config import KICK_ANGLE, KICK_SCALE, require_at_least, require_positive

READOUTS = ("implied", "kick_response", "jacobian", "linear", "transfer", "inductive_bias")
TABLES = ("implied", "transfer")
"""Read-outs that write force samples (Parquet); the others write JSON."""
CONTROLS = ("none", "untrained", "injected", "keplerian")


@dataclasses.dataclass(frozen=True)
class KickResponseConfig:
    """How long the model is followed after a kick."""

    steps: int = 50
    """Number of steps after the kick that are read."""

    def __post_init__(self) -> None:
        require_at_least(self, "steps", 1)


@dataclasses.dataclass(frozen=True)
class JacobianConfig:
    """Where derivatives are taken."""

    states: int = 200
    """At most this many states, drawn at random from those that --states asks for."""

    def __post_init__(self) -> None:
        require_at_least(self, "states", 1)


@dataclasses.dataclass(frozen=True)
class LinearConfig:
    """Ridge probes of the activations."""

    states: int = 2000
    """About this many states, as many of every orbit."""
    folds: int = 5
    """Folds of orbits in the cross-validation."""

    def __post_init__(self) -> None:
        require_at_least(self, "states", 1)
        require_at_least(self, "folds", 2)


@dataclasses.dataclass(frozen=True)
class TransferConfig:
    """Fine-tuning on labels of force; published: 9000 labelled, 1000 with two labels each."""

    labelled: int = 900
    """Orbits, the first of the data set, with a label at every time."""
    few: int = 100
    """Orbits, the last of the data set, with two labels each; the force is read on these."""
    target: Literal["magnitude", "vector"] = "magnitude"
    """Label: the size of the force, or its components."""
    frozen: bool = False
    """Train the new head alone and leave the network as it is."""
    points: int = 1000
    """States that are read, those nearest to fully labelled ones."""
    steps: int = 500
    """Optimiser steps."""
    batch_tokens: int = 1024
    """Positions in each step."""
    learning_rate: float = 1e-3
    """Largest learning rate of the network."""
    head_rate: float = 1e-2
    """Largest learning rate of the new head."""

    def __post_init__(self) -> None:
        require_known("transfer.target", self.target, ("magnitude", "vector"))
        for name in ("labelled", "few", "points", "steps", "batch_tokens"):
            require_at_least(self, name, 1)
        require_positive(self, "learning_rate")
        require_positive(self, "head_rate")


@dataclasses.dataclass(frozen=True)
class InductiveBiasConfig:
    """Fine-tuning on small data sets of random labels; published: 100 sets of 100 sequences."""

    datasets: int = 10
    """Number of data sets."""
    examples: int = 50
    """Labelled contexts in each."""
    tests: int = 300
    """States whose answers are compared."""
    steps: int = 100
    """Optimiser steps on each data set."""
    learning_rate: float = 1e-3
    """Largest learning rate of the network."""
    head_rate: float = 1e-2
    """Largest learning rate of the new head."""

    def __post_init__(self) -> None:
        for name, least in (("datasets", 1), ("examples", 2), ("tests", 3), ("steps", 1)):
            require_at_least(self, name, least)
        require_positive(self, "learning_rate")
        require_positive(self, "head_rate")


@dataclasses.dataclass(frozen=True)
class ProbeConfig:
    """Reading what a model has learned."""

    readout: Literal[
        "implied", "kick_response", "jacobian", "linear", "transfer", "inductive_bias"
    ] = "implied"
    """What is read: implied (accelerations, as a table), kick_response (R² by the steps since a
    kick), jacobian (derivatives of the prediction), linear (ridge probes of every layer),
    transfer (forces that the model says once fine-tuned on labels, as a table),
    inductive_bias (how it extrapolates from random labels)."""
    states: Literal["orbit", "kicked"] = "orbit"
    """States of undisturbed orbits, or states after the velocity was turned and rescaled."""
    control: Literal["none", "untrained", "injected", "keplerian"] = "none"
    """The model itself; the same network before training; the law in its place; or an ellipse
    fitted to the context and continued by the area law (of the last 5 positions at least)."""
    correction: Literal["numerov", "none"] = "numerov"
    """Correct the second difference for the finite step, from neighbouring steps alone."""
    checkpoint: Literal["last", "best"] = "last"
    """Weights at the end of training, or those of the lowest held-out loss."""
    orbits: int = 100
    """At most this many held-out orbits (all orbits of a data set that was not trained on)."""
    kick_angle: float = KICK_ANGLE
    """The velocity is turned by an angle from ±this, rad (kicked)."""
    kick_scale: tuple[float, float] = KICK_SCALE
    """The speed is multiplied by a factor from this interval (kicked)."""
    kick_first: int = 0
    """First step after the kick that is read (kicked); 0 takes 1, or 2 where masses differ between
    orbits."""
    kick_steps: int = 8
    """Number of steps after the kick that are read (kicked)."""
    bootstrap: int = 200
    """Resamplings over orbits for the interval of the exponent."""
    seed: int = 0
    """Seed of the kicks, the untrained weights and the resampling."""
    threads: int = 0
    """Threads of the network; 0 leaves the choice to torch."""
    kick_response: KickResponseConfig = dataclasses.field(default_factory=KickResponseConfig)
    jacobian: JacobianConfig = dataclasses.field(default_factory=JacobianConfig)
    linear: LinearConfig = dataclasses.field(default_factory=LinearConfig)
    transfer: TransferConfig = dataclasses.field(default_factory=TransferConfig)
    inductive_bias: InductiveBiasConfig = dataclasses.field(default_factory=InductiveBiasConfig)

    def __post_init__(self) -> None:
        require_known("readout", self.readout, READOUTS)
        require_known("states", self.states, ("orbit", "kicked"))
        require_known("control", self.control, CONTROLS)
        require_known("correction", self.correction, ("numerov", "none"))
        require_known("checkpoint", self.checkpoint, ("last", "best"))
        for name, least in (("orbits", 1), ("kick_steps", 1), ("bootstrap", 2)):
            require_at_least(self, name, least)
        for name in ("kick_first", "seed", "threads"):
            require_at_least(self, name, 0)
        require_positive(self, "kick_angle")
        low, high = self.kick_scale if len(self.kick_scale) == 2 else (0.0, 0.0)
        if not 0 < low <= high < math.inf:
            raise ValueError(
                f"kick_scale {self.kick_scale} is not allowed; give two factors, 0 < low <= high."
            )
