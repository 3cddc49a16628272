"""Options of the read-outs, as frozen dataclasses that check themselves. Imports no torch.

What all read-outs share is here; each declares its own options in its own file
(`worldmodel.probes.readouts`), as a group of `ProbeConfig`: `--linear.states`.
"""

import dataclasses
from typing import Annotated, Literal

from orbits.options import Between, OptionError, Options, require_known
from worldmodel.config import (
    KICK_ANGLE,
    KICK_SCALE,
    Checkpoint,
    Count,
    FromZero,
    Positive,
    PredictorConfig,
    Seed,
    Threads,
)
from worldmodel.predictors import CONTROLS
from worldmodel.probes.readouts import READOUTS
from worldmodel.probes.readouts.base import ReadOut
from worldmodel.probes.readouts.causal import Causal
from worldmodel.probes.readouts.evaluate import Evaluate
from worldmodel.probes.readouts.extrapolate import Extrapolate
from worldmodel.probes.readouts.far import Far
from worldmodel.probes.readouts.field import Field
from worldmodel.probes.readouts.inductive_bias import InductiveBias
from worldmodel.probes.readouts.jacobian import Jacobian
from worldmodel.probes.readouts.kick_response import KickResponse
from worldmodel.probes.readouts.linear import Linear
from worldmodel.probes.readouts.symmetry import Symmetry
from worldmodel.probes.readouts.transfer import Transfer


@dataclasses.dataclass(frozen=True)
class KickConfig(Options):
    """The kick: a velocity turned and rescaled in mid-orbit."""

    kick_angle: Positive = KICK_ANGLE
    """The velocity is turned by an angle in ±this, rad (kicked)."""
    kick_scale: tuple[Positive, Positive] = KICK_SCALE
    """The speed is multiplied by a factor from this interval (kicked)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kick_scale[0] > self.kick_scale[1]:
            raise OptionError(
                "kick_scale", f"is {self.kick_scale}; two factors are needed, 0 < low <= high."
            )


@dataclasses.dataclass(frozen=True)
class ProbeConfig(Checkpoint, Threads, KickConfig):
    __doc__ = f"""Reading what a model has learned.

Args:
    readout: What is read: {", ".join(f"{r.name} ({r.what})" for r in READOUTS.values())}.
    control: What predicts: {", ".join(f"{c.name} ({c.what})" for c in CONTROLS.values())}.
"""

    readout: str = "implied"
    control: str = "none"
    states: Literal["orbit", "kicked"] = "orbit"
    """States of undisturbed orbits, or states after the velocity was turned and rescaled."""
    correction: Literal["numerov", "none"] = "numerov"
    """Correct the second difference for the finite step, from neighbouring steps alone."""
    orbits: Count = 100
    """Read at most this many orbits outside the training set."""
    kick_first: FromZero = 0
    """First step read after the kick (kicked); 0 means 1, or 2 where masses differ between
    orbits."""
    kick_steps: Count = 8
    """Number of steps read after the kick (kicked)."""
    trained_on: str | None = None
    """Data set that the model was trained on, to recognise copies of its training orbits (implied);
    by default the one recorded in its run."""
    bootstrap: Annotated[int, Between(2, 10**6)] = 200
    """Resamplings over orbits for the interval of the exponent."""
    seed: Seed = 0
    """Seed of the kicks, the untrained weights and the resampling."""
    causal: Causal = dataclasses.field(default_factory=Causal)
    evaluate: Evaluate = dataclasses.field(default_factory=Evaluate)
    extrapolate: Extrapolate = dataclasses.field(default_factory=Extrapolate)
    far: Far = dataclasses.field(default_factory=Far)
    field: Field = dataclasses.field(default_factory=Field)
    inductive_bias: InductiveBias = dataclasses.field(default_factory=InductiveBias)
    jacobian: Jacobian = dataclasses.field(default_factory=Jacobian)
    kick_response: KickResponse = dataclasses.field(default_factory=KickResponse)
    linear: Linear = dataclasses.field(default_factory=Linear)
    symmetry: Symmetry = dataclasses.field(default_factory=Symmetry)
    transfer: Transfer = dataclasses.field(default_factory=Transfer)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trained_on == "":
            raise OptionError("trained_on", "is empty; a path is needed.")
        for name, known in (("readout", READOUTS), ("control", CONTROLS)):
            try:
                require_known(name, getattr(self, name), known)
            except ValueError as error:
                raise OptionError(name, str(error).removeprefix(f"{name} ")) from None
        controls = READOUTS[self.readout].controls
        if controls is not None and self.control not in controls:
            raise OptionError(
                "control",
                f"is {self.control}, which the read-out {self.readout} has no use for; give one of "
                f"{', '.join(controls)}.",
            )

    @property
    def read_out(self) -> ReadOut:
        """The requested read-out with its options."""
        return getattr(self, self.readout, None) or READOUTS[self.readout]()


@dataclasses.dataclass(frozen=True)
class ProbeCommand(PredictorConfig, ProbeConfig):
    """Reading what a model has learned: a run's, or your own."""
