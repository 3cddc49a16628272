"""Options of the studies of attention: longer sequences, retrieval, pictures. Imports no torch."""

import dataclasses
from typing import Any, Literal

from orbits.command.near_misses import require_known
from worldmodel.attention.specs import parse_attention
from worldmodel.config import require_at_least


@dataclasses.dataclass(frozen=True)
class ExtrapolateConfig:
    """Loss on sequences longer than those of training."""

    out: str
    """Folder that receives extrapolation.json, extrapolation.csv and extrapolation.png."""
    factors: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Lengths, as multiples of the training length."""
    orbits: int = 100
    """At most this many held-out orbits (all orbits of a data set that was not trained on)."""
    checkpoint: Literal["last", "best"] = "last"
    """Weights at the end of training, or those of the lowest held-out loss."""
    threads: int = 0
    """Threads of the network; 0 leaves the choice to torch."""

    def __post_init__(self) -> None:
        require_known("checkpoint", self.checkpoint, ("last", "best"))
        _require_factors(self.factors)
        _require_counts(self, "orbits")


@dataclasses.dataclass(frozen=True)
class RetrievalConfig:
    """A passkey task: a marked value far back in the sequence must be reproduced."""

    kinds: tuple[str, ...] = ("softmax", "lssa", "lssar", "lssar(p=15)")
    """Kinds of attention, each trained from scratch."""
    length: int = 64
    """Length of the training sequences."""
    factors: tuple[int, ...] = (1, 2, 4, 8)
    """Lengths at which to evaluate, as multiples of the training length."""
    values: int = 10
    """Number of different values; guessing is right once in this many times."""
    steps: int = 400
    """Optimiser steps."""
    batch: int = 64
    """Sequences in each step."""
    evaluated: int = 512
    """Sequences evaluated at each length."""
    d_model: int = 64
    """Width of the residual stream."""
    n_layers: int = 2
    """Number of blocks."""
    n_heads: int = 2
    """Attention heads in each block."""
    seeds: tuple[int, ...] = (0,)
    """Seeds of the weights and the sequences."""
    threads: int = 0
    """Threads of the network; 0 leaves the choice to torch."""

    def __post_init__(self) -> None:
        _require_factors(self.factors)
        _require_counts(self, "steps", "batch", "evaluated", "d_model", "n_layers", "n_heads")
        for kind in self.kinds:
            parse_attention(kind)
        for name, least in (("length", 3), ("values", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} {getattr(self, name)} is too few; give {least} or more.")


@dataclasses.dataclass(frozen=True)
class PlotConfig:
    """A picture of attention."""

    orbit: int = 0
    """Number of the orbit in the data set (attention)."""
    length: int = 0
    """Positions that are shown; 0 takes the training length (attention)."""
    checkpoint: Literal["last", "best"] = "last"
    """Weights at the end of training, or those of the lowest held-out loss."""
    kinds: tuple[str, ...] = ("softmax", "ssmax", "lssa", "lssar", "lssar(p=15)")
    """Kinds of attention (entropy)."""
    d_head: int = 64
    """Width of the queries and keys (entropy)."""
    seed: int = 0
    """Seed of the random queries and keys (entropy)."""

    def __post_init__(self) -> None:
        require_known("checkpoint", self.checkpoint, ("last", "best"))
        for kind in self.kinds:
            parse_attention(kind)
        _require_counts(self, "d_head")
        if self.orbit < 0 or self.length < 0:
            raise ValueError(
                f"orbit {self.orbit} and length {self.length} must not be negative; "
                f"give an orbit of the data set, and 0 for the training length."
            )


def _require_factors(factors: tuple[int, ...]) -> None:
    if not factors or min(factors) < 1:
        raise ValueError(
            f"factors {factors} are not lengths; give whole multiples of the training length, "
            f"such as 1 2 4 8 16."
        )


def _require_counts(config: Any, *names: str) -> None:
    for name in names:
        require_at_least(config, name, 1)
