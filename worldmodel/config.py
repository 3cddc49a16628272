"""Every option of the package, as frozen dataclasses that check themselves. Imports no torch."""

import dataclasses
import math
from typing import Any, ClassVar, Literal

from orbits.command.near_misses import require_known
from orbits.records.files import sha256_of_json
from worldmodel.attention.specs import parse_attention

TARGETS = ("displacement", "residual", "position")
HEADS = ("regression", "tokens")
LAYOUTS = ("joint", "interleaved")
INPUTS = ("positions", "differences")
KICK_ANGLE = 0.5
KICK_SCALE = (0.85, 1.1)
PRECISIONS = ("32-true", "bf16-mixed", "bf16-true", "64-true")


@dataclasses.dataclass(frozen=True)
class ModelConfig:
    """Architecture of the transformer: what it sees, what it predicts, and its size."""

    attention: str = "softmax"
    """Kind of attention, with parameters in brackets: softmax, lssa, lssar, 'lssar(p=15)', ..."""
    context_length: int = 2
    """Number of positions that the model sees: the last C, in training and in use."""
    window: int | None = None
    """Local attention: each layer sees the last W positions; by default the whole context."""
    inputs: Literal["positions", "differences"] = "positions"
    """What each token holds: x(t) alone, or also x(t) − x(t−1) and x(t) − 2 x(t−1) + x(t−2), each
    in its own unit (head=regression). A token then knows the two positions before its own."""
    target: Literal["displacement", "residual", "position"] = "displacement"
    """What the regression head predicts: x(t+1) − x(t); that minus x(t) − x(t−1); or x(t+1)."""
    head: Literal["regression", "tokens"] = "regression"
    """A number for each coordinate, or a distribution over bins of the next coordinate."""
    bins: int = 7000
    """Bins for each coordinate (head=tokens)."""
    bin_range: float = 50.0
    """The bins cover −R to R, in au (head=tokens)."""
    layout: Literal["joint", "interleaved"] = "joint"
    """Several bodies: one token holds all of them, or one token for each, in turn."""
    d_model: int = 64
    """Width of the residual stream."""
    n_layers: int = 2
    """Number of blocks."""
    n_heads: int = 4
    """Attention heads in each block; d_model / n_heads must be even (rotary positions)."""

    def __post_init__(self) -> None:
        parse_attention(self.attention)
        require_known("target", self.target, TARGETS)
        require_known("head", self.head, HEADS)
        require_known("layout", self.layout, LAYOUTS)
        require_known("inputs", self.inputs, INPUTS)
        if self.inputs == "differences" and self.head == "tokens":
            raise ValueError(
                "inputs differences needs --head regression: bins are far wider than a second "
                "difference."
            )
        for name in ("context_length", "d_model", "n_layers", "n_heads"):
            require_at_least(self, name, 1)
        require_at_least(self, "bins", 2)
        require_positive(self, "bin_range")
        if self.window is not None and self.window < 1:
            raise ValueError(
                f"window {self.window} sees nothing; give 1 or more positions, or leave it away to "
                "see the whole context."
            )
        if self.target == "residual" and self.context_length < 2:
            raise ValueError(
                "target residual needs two positions; give --context-length 2 or more, or "
                "--target displacement."
            )
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"d_model {self.d_model} does not divide into {self.n_heads} heads of even width "
                f"(rotary positions turn pairs); give a multiple of {2 * self.n_heads}."
            )


@dataclasses.dataclass(frozen=True)
class TrainConfig(ModelConfig):
    """Training: the optimiser, the data and what is kept."""

    seed: int = 0
    """Seed of the initial weights, the batches and the noise."""
    steps: int = 3000
    """Optimiser steps."""
    batch_tokens: int = 1024
    """Positions seen in each optimiser step, over all devices and accumulated passes."""
    accumulate: int = 1
    """Forward-backward passes that are summed into one step."""
    muon_lr: float = 0.02
    """Learning rate of Muon, which moves the matrices of the blocks."""
    muon_momentum: float = 0.95
    """Momentum of Muon."""
    adamw_lr: float = 3e-3
    """Learning rate of AdamW, which moves everything else."""
    adamw_beta2: float = 0.99
    """Second-moment decay of AdamW."""
    warmup: int = 50
    """Steps of linear warm-up."""
    final_lr: float = 0.01
    """The cosine ends at this fraction of the learning rate."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    held_out: float = 0.1
    """Fraction of the orbits, the last ones of the data set, never trained on."""
    context_noise: float = 0.0
    """Standard deviation of noise on the positions that the model sees in training, au."""
    kicked: float = 0.0
    """Fraction of the training orbits whose velocity is turned and rescaled in mid-course."""
    evaluate_every: int = 200
    """Steps between evaluations on held-out orbits."""
    patience: int = 0
    """Stop after this many evaluations without a better held-out loss; 0 never stops early."""
    checkpoint_every: int = 200
    """Steps between saved states that training can go on from."""
    precision: Literal["32-true", "bf16-mixed", "bf16-true", "64-true"] = "32-true"
    """Number format of the passes."""
    accelerator: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train."""
    devices: int = 1
    """Devices (or CPU processes) that share each step; more than one uses DDP."""
    compile: bool = False
    """Compile the model with torch.compile."""
    stream: bool = False
    """Read the data set as it is needed, through a shuffle buffer, instead of all at once."""
    shuffle_buffer: int = 4096
    """Orbits in the shuffle buffer (stream)."""
    log_every: int = 20
    """Steps between lines in metrics.jsonl."""
    tensorboard: bool = False
    """Also write TensorBoard event files (needs the package tensorboard)."""
    resume: bool = True
    """Go on from the run's saved state if there is one; with --no-resume start again."""

    FREE: ClassVar = ("resume", "tensorboard", "log_every", "checkpoint_every", "accelerator")
    """Options that may differ when a run goes on."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_known("precision", self.precision, PRECISIONS)
        if self.inputs == "differences" and self.precision == "bf16-true":
            raise ValueError(
                "inputs differences needs positions of more than the 8 bits of bf16-true; give "
                "--precision bf16-mixed or 32-true."
            )
        counts = ("steps", "batch_tokens", "accumulate", "evaluate_every", "checkpoint_every")
        for name in (*counts, "devices", "log_every", "shuffle_buffer"):
            require_at_least(self, name, 1)
        for name in ("warmup", "patience", "seed"):
            require_at_least(self, name, 0)
        for name in ("muon_lr", "adamw_lr", "clip"):
            require_positive(self, name)
        for name in ("muon_momentum", "adamw_beta2", "held_out"):
            _require_fraction(self, name, includes_one=False)
        for name in ("final_lr", "kicked"):
            _require_fraction(self, name, includes_one=True)
        if self.context_noise < 0 or not math.isfinite(self.context_noise):
            raise ValueError(f"context_noise {self.context_noise} au must be 0 or more.")
        if self.crops_per_step < self.devices * self.accumulate:
            raise ValueError(
                f"batch_tokens {self.batch_tokens} gives {self.crops_per_step} context(s) of "
                f"{self.context_length} positions, fewer than the {self.devices} device(s) times "
                f"{self.accumulate} pass(es) of a step; give more batch_tokens."
            )

    @property
    def crops_per_step(self) -> int:
        """Contexts in each optimiser step: a multiple of devices × passes."""
        share = self.devices * self.accumulate
        return self.batch_tokens // self.context_length // share * share

    @property
    def model(self) -> ModelConfig:
        """The architecture alone."""
        names = [field.name for field in dataclasses.fields(ModelConfig)]
        return ModelConfig(**{name: getattr(self, name) for name in names})

    def identity(self) -> str:
        """Fingerprint of everything that can change a number of the run."""
        options = dataclasses.asdict(self) | {"window": self.window or 0}
        return sha256_of_json({name: options[name] for name in options if name not in self.FREE})


@dataclasses.dataclass(frozen=True)
class EvaluateConfig:
    """Next-step loss, roll-outs and the drift of what should be conserved."""

    orbits: int = 100
    """At most this many held-out orbits (all orbits of a data set that was not trained on)."""
    steps: int = 0
    """Length of the roll-outs; 0 goes to the end of the data's orbits."""
    checkpoint: Literal["last", "best"] = "last"
    """Weights at the end of training, or those of the lowest held-out loss."""
    decode: Literal["expectation", "centre"] = "expectation"
    """Position of a distribution over bins: its expectation, or the likeliest bin (tokens)."""
    threads: int = 0
    """Threads of the network; 0 leaves the choice to torch."""

    def __post_init__(self) -> None:
        require_known("checkpoint", self.checkpoint, ("last", "best"))
        require_known("decode", self.decode, ("expectation", "centre"))
        require_at_least(self, "orbits", 1)
        require_at_least(self, "steps", 0)
        require_at_least(self, "threads", 0)


def require_at_least(config: Any, name: str, least: int) -> None:
    """Raise ValueError if an option is too small."""
    value = getattr(config, name)
    if value < least:
        raise ValueError(f"{name} {value} is not allowed; give {least} or more.")


def require_positive(config: Any, name: str) -> None:
    """Raise ValueError if an option is not a positive number."""
    value = getattr(config, name)
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} {value} is not allowed; give a positive number.")


def _require_fraction(config: Any, name: str, includes_one: bool) -> None:
    value = getattr(config, name)
    if not (0 <= value < 1 or (includes_one and value == 1)):
        bracket = "]" if includes_one else ")"
        raise ValueError(f"{name} {value} is not allowed; give a number in [0, 1{bracket}.")
