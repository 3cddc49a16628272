"""Every option of the package, as frozen dataclasses that check themselves. Imports no torch."""

import dataclasses
from typing import Annotated, ClassVar, Literal

from orbits.files import sha256_of_json
from orbits.options import (
    FRACTION,
    Above,
    AtLeast,
    Between,
    Interval,
    OptionError,
    Options,
)
from orbits.units import LENGTHS, YEARS
from worldmodel.attention.specs import parse_attention
from worldmodel.targets import inertia

Count = Annotated[int, Between(1, 10**9)]
FromZero = Annotated[int, Between(0, 10**12)]
Seed = Annotated[int, Between(0, 2**63 - 2)]  # the next is a seed too, that of the noise
Positive = Annotated[float, Above(0)]


@dataclasses.dataclass(frozen=True)
class Threads(Options):
    """How much of the processor a network uses."""

    threads: Annotated[int, Between(0, 4096)] = 0
    """Threads of the network, on which its last digits depend; 0 leaves the choice to torch."""


@dataclasses.dataclass(frozen=True)
class Checkpoint(Options):
    """Which weights of a run are used."""

    checkpoint: Literal["last", "best"] = "last"
    """Weights at the end of training, or those of the lowest held-out loss."""


@dataclasses.dataclass(frozen=True)
class KickConfig(Options):
    """The kick: a velocity turned and rescaled in mid-orbit."""

    kick_angle: Positive = 0.5
    """The velocity is turned by an angle in ±this, rad (kicked)."""
    kick_scale: tuple[Positive, Positive] = (0.85, 1.1)
    """The speed is multiplied by a factor from this interval (kicked)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kick_scale[0] > self.kick_scale[1]:
            raise OptionError(
                "kick_scale", f"is {self.kick_scale}; two factors are needed, 0 < low <= high."
            )


@dataclasses.dataclass(frozen=True)
class ModelConfig(Options):
    """Architecture of the transformer: what it sees and predicts, and its size."""

    attention: str = "softmax"
    """Kind of attention, with parameters in brackets: softmax, lssa, lssar, 'lssar(p=15)', ...; or
    its parts: 'map=relu norm=l1 scale=logdlogn sharpen=3'."""
    context_length: Count = 3
    """Number of positions that the model sees: the last C, in training and in use."""
    window: Count | None = None
    """Local attention: each layer sees the last W positions; by default the whole context."""
    inputs: Literal["coordinates", "differences", "logarithms"] = "logarithms"
    """What each token holds (head=regression): the coordinates x(t); these with differences, x(t) −
    x(t−1) and x(t) − 2 x(t−1) + x(t−2); or the logarithm of the distance, the direction, and the
    last step over the distance."""
    outputs: Literal["coordinates", "logarithms"] = "logarithms"
    """What the regression head says of its target: coordinates, or the logarithm of the length and
    the direction."""
    norm: Literal["layer", "none"] = "none"
    """Before each part of a block: LayerNorm, or nothing. A norm bends straight lines, and with
    them what lies beyond the training orbits."""
    target: str = "residual"
    """What the regression head predicts: residual, x(t+1) − 2 x(t) + x(t−1); displacement, x(t+1) −
    x(t); 'displacement(inertia=0.9)', that minus a part of x(t) − x(t−1); or position, x(t+1)."""
    head: Literal["regression", "tokens"] = "regression"
    """A number for each coordinate, or a distribution over bins of the next coordinate."""
    bins: Annotated[int, Between(2, 10**8)] = 7000
    """Bins for each coordinate (head=tokens)."""
    bin_range: Positive = 50.0
    """The bins cover −R to R, in au (head=tokens)."""
    layout: Literal["joint", "interleaved"] = "joint"
    """Several bodies: one token for all of them, or one token each, in turn."""
    # larger sizes are slips of the finger: no machine holds such a model
    d_model: Annotated[int, Between(1, 2**17)] = 64
    """Width of the residual stream."""
    n_layers: Annotated[int, Between(1, 1000)] = 2
    """Number of blocks."""
    n_heads: Count = 4
    """Attention heads in each block; d_model / n_heads must be even (rotary positions)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_attention(self.attention)
        if self.inputs == "differences" and self.head == "tokens":
            raise ValueError(
                "inputs differences needs --head regression: bins are far wider than a second "
                "difference."
            )
        if inertia(self.target) and self.context_length < 2:
            raise ValueError(
                f"target {self.target} needs two positions; give --context-length 2 or more, or "
                "--target displacement."
            )
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model {self.d_model} does not divide into {self.n_heads} heads of even width "
                f"(rotary positions turn pairs); give a multiple of {2 * self.n_heads}."
            )


@dataclasses.dataclass(frozen=True)
class NetworkConfig(ModelConfig):
    """A network: what it sees and predicts, its size, and how it is trained."""

    steps: FromZero = 500
    """Optimiser steps; 0 writes the untrained model, which some controls need."""
    batch_tokens: Count = 1024
    """Positions seen in each optimiser step, over all devices."""
    muon_lr: Positive = 0.005
    """Learning rate of Muon, which updates matrices in the blocks."""
    adamw_lr: Positive = 3e-3
    """Learning rate of AdamW, which updates all else."""
    context_noise: Annotated[float, AtLeast(0)] = 0.0
    """Standard deviation of noise on the positions that the model sees in training, au."""
    kicked: Annotated[float, FRACTION] = 0.0
    """Fraction of the training orbits whose velocity is turned and rescaled in mid-course."""
    precision: Literal["32-true", "bf16-mixed", "bf16-true", "64-true"] = "32-true"
    """Numerical precision of the passes."""
    accelerator: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train."""
    devices: Count = 1
    """Devices (or CPU processes) that share each step; more than one uses DDP."""


@dataclasses.dataclass(frozen=True)
class TrainConfig(NetworkConfig):
    """Training: optimiser, data and what is saved."""

    seed: Seed = 0
    """Seed of the initial weights, the batches and the noise."""
    warmup: FromZero = 50
    """Steps of linear warm-up."""
    held_out_share: Annotated[float, Interval(ge=0.0, lt=1.0)] = 0.1
    """Fraction of the orbits, from the end of the data set, held out of training."""
    evaluate_every: Count = 200
    """Steps between evaluations on held-out orbits and saved states; a tenth of it lies between
    lines of metrics.jsonl."""
    threads: Annotated[int, Between(0, 4096)] = 0
    """Threads of the network, on which the last digits of every step depend; 0 means one below a
    million parameters, else all cores: a small model gains nothing from a second one, and loses
    much when the cores are busy."""
    stream: bool = False
    """Map the positions of the training orbits from a file instead of holding them in memory; the
    batches are the same."""

    FREE: ClassVar = ("accelerator", "stream")
    """Options that may change when a run resumes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        numbers = self.head == "regression" and self.inputs != "coordinates"
        if numbers and self.precision == "bf16-true":
            raise ValueError(
                f"inputs {self.inputs} needs positions of more than the 8 bits of bf16-true; give "
                "--precision bf16-mixed or 32-true, or --inputs coordinates."
            )
        if self.crops_per_step < self.devices:
            raise ValueError(
                f"batch_tokens {self.batch_tokens} gives {self.crops_per_step} context(s) of "
                f"{self.context_length} positions, fewer than the {self.devices} device(s) of a "
                "step; give more batch_tokens."
            )

    @property
    def crops_per_step(self) -> int:
        """Contexts per optimiser step: as many on every device."""
        return self.batch_tokens // self.context_length // self.devices * self.devices

    @property
    def model(self) -> ModelConfig:
        """The architecture alone."""
        names = [field.name for field in dataclasses.fields(ModelConfig)]
        return ModelConfig(**{name: getattr(self, name) for name in names})

    def identity(self) -> str:
        """Fingerprint of everything that can change a number in the run.

        Weights trained with one thread and with two differ in the last bits, so the number of
        threads is included.
        """
        options = dataclasses.asdict(self)
        return sha256_of_json({name: options[name] for name in options if name not in self.FREE})


@dataclasses.dataclass(frozen=True)
class PredictorConfig(Options):
    """Your own model instead of a trained one."""

    model: str | None = None
    """Your own predictor: `package.module:make` or `path/to/mine.py:make`, a factory, an
    object, or a plain function of positions. Its code is executed."""
    untrained_model: str | None = None
    """The same model before training, for the control `untrained`: a factory as for --model; it is
    given `seed` if it takes that."""
    model_context: Count | None = None
    """Positions that a plain function sees; an object has its own `context_length`."""
    length_unit: str = "au"
    """The model's unit of length: au, km, m, or its size in au."""
    time_unit: str = "yr"
    """Unit of the time step `dt` that the model says it was made for: yr, d, h, s, or its size in
    years."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("model", "untrained_model"):
            text = getattr(self, name)
            place, _, attribute = ("a:b" if text is None else text).rpartition(":")
            if not place or not attribute.isidentifier():
                raise OptionError(
                    name, f"is {text!r}; give package.module:name or path/to/file.py:name."
                )
        if self.untrained_model is not None and self.model is None:
            raise OptionError("untrained_model", "needs --model: it is the same before training.")
        _ = self.length, self.time

    @property
    def length(self) -> float:
        """au in the model's unit of length."""
        return _unit("length_unit", self.length_unit, LENGTHS)

    @property
    def time(self) -> float:
        """Years in the model's unit of time."""
        return _unit("time_unit", self.time_unit, YEARS)


def _unit(name: str, text: str, known: dict[str, float]) -> float:
    """The value of a unit by its name, or as a number."""
    try:
        value = known[text] if text in known else float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise OptionError(name, f"is {text!r}; give one of {', '.join(known)}, or a number.")
    return value


@dataclasses.dataclass(frozen=True)
class AttentionConfig(Checkpoint):
    """What each head looks at."""

    orbit: FromZero = 0
    """Number of the orbit in the data set."""
    length: FromZero = 0
    """Positions shown; 0 means the training length."""
