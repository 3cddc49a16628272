"""Options of the read-outs, as frozen dataclasses that check themselves. Imports no torch.

What all read-outs share stands here. Each read-out declares its own options in its own file
(`worldmodel.probes.readouts`), and `ProbeConfig` has a group of them for every one that is found
there, as `--linear.states`.
"""

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal

from orbits.command.options import Between, OptionError
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


@dataclasses.dataclass(frozen=True)
class ProbeOptions(Checkpoint, Threads):
    """Reading what a model has learned."""

    readout: str = "implied"
    control: str = "none"
    states: Literal["orbit", "kicked"] = "orbit"
    """States of undisturbed orbits, or states after the velocity was turned and rescaled."""
    correction: Literal["numerov", "none"] = "numerov"
    """Correct the second difference for the finite step, from neighbouring steps alone."""
    orbits: Count = 100
    """At most this many held-out orbits (all orbits of a data set that was not trained on)."""
    kick_angle: Positive = KICK_ANGLE
    """The velocity is turned by an angle from ±this, rad (kicked)."""
    kick_scale: tuple[Positive, Positive] = KICK_SCALE
    """The speed is multiplied by a factor from this interval (kicked)."""
    kick_first: FromZero = 0
    """First step after the kick that is read (kicked); 0 takes 1, or 2 where masses differ between
    orbits."""
    kick_steps: Count = 8
    """Number of steps after the kick that are read (kicked)."""
    trained_on: str | None = None
    """Data set that the model was trained on, to tell a parrot of its training orbits (implied);
    by default the one that its run remembers."""
    bootstrap: Annotated[int, Between(2, 10**6)] = 200
    """Resamplings over orbits for the interval of the exponent."""
    seed: Seed = 0
    """Seed of the kicks, the untrained weights and the resampling."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kick_scale[0] > self.kick_scale[1]:
            raise OptionError(
                "kick_scale", f"is {self.kick_scale}; two factors are needed, 0 < low <= high."
            )
        if self.trained_on == "":
            raise OptionError("trained_on", "is empty; a path is needed.")
        controls = READOUTS[self.readout].controls
        if controls is not None and self.control not in controls:
            raise OptionError(
                "control",
                f"is {self.control}, which the read-out {self.readout} has no use for; give one of "
                f"{', '.join(controls)}.",
            )

    @property
    def read_out(self) -> ReadOut:
        """The read-out that is asked for, with its options."""
        return getattr(self, self.readout, None) or READOUTS[self.readout]()


def _with_groups() -> type[ProbeOptions]:
    """The options with a group for every read-out that has some, and the names that are known."""
    found = list(READOUTS.values())
    groups = [
        (readout.name, readout, dataclasses.field(default_factory=readout))
        for readout in found
        if dataclasses.fields(readout)
    ]
    kinds = {readout.name: f"{readout.name} ({readout.what})" for readout in found}
    stands = {control.name: f"{control.name} ({control.what})" for control in CONTROLS.values()}
    made = dataclasses.make_dataclass(
        "ProbeConfig",
        [
            ("readout", Literal[tuple(kinds)], "implied"),
            ("control", Literal[tuple(stands)], "none"),
            *groups,
        ],
        bases=(ProbeOptions,),
        namespace={
            "__doc__": f"{ProbeOptions.__doc__}\n\nArgs:\n"
            f"    readout: What is read: {', '.join(kinds.values())}.\n"
            f"    control: What predicts: {', '.join(stands.values())}.\n"
        },
        frozen=True,
    )
    made.__module__ = __name__
    return made


if TYPE_CHECKING:

    class ProbeConfig(ProbeOptions):
        """What a model is asked and how: the options of a probe, and those of every read-out."""

        def __init__(self, **options: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:
    ProbeConfig = _with_groups()


@dataclasses.dataclass(frozen=True)
class ProbeCommand(PredictorConfig, ProbeConfig):
    """Reading what a model has learned: one of a run, or one of your own."""
