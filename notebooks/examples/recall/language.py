"""A little language: the source of Python's own standard library, byte by byte.

    python notebooks/examples/recall/language.py language --kinds softmax lssar --steps 3000

A network is trained to say the next byte of pieces of the library's modules, and asked on other
modules at up to 16 times that length: mean loss over the whole piece, and over its last part, as
long as a training piece. No tokenizer, no download. `--no-rotary` leaves positions out: the network
knows their order by the causal mask alone.
"""

import sysconfig
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pandas as pd
import recall
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor
from torch.nn.functional import cross_entropy

import worldmodel.model
from worldmodel.attention.maps import attention_spread
from worldmodel.model import Network, Scales
from worldmodel.representation.base import Scale

BYTES = 256
HELD_OUT = 10
"""Of so many modules one is never trained on."""
LEFT_OUT = ("test", "tests", "idlelib", "encodings", "site-packages", "__pycache__")
"""Tests, what is installed, and tables that many modules repeat."""


@dataclass(frozen=True)
class Options(recall.Options):
    """The same, of larger networks by default."""

    factors: tuple[int, ...] = (1, 2, 4, 8, 16)
    length: int = 128
    steps: int = 4000
    batch: int = 8
    evaluated: int = 64
    d_model: int = 128
    n_layers: int = 4
    rotary: bool = True
    """Whether queries and keys are turned by their positions."""


@cache
def corpus() -> tuple[UInt8[np.ndarray, " byte"], UInt8[np.ndarray, " byte"]]:
    """The bytes of the modules to learn, and of those held out."""
    root = Path(sysconfig.get_paths()["stdlib"])
    modules = sorted(
        path
        for path in root.rglob("*.py")
        if not set(path.relative_to(root).parts[:-1]) & set(LEFT_OUT)
    )
    if len(modules) < 2 * HELD_OUT:
        raise ValueError(f"{root} holds {len(modules)} modules of Python; that is no library.")
    held_out = modules[::HELD_OUT]
    learned = [path for path in modules if path not in set(held_out)]
    return tuple(  # type: ignore[return-value]
        np.frombuffer(b"\n".join(path.read_bytes() for path in part), dtype=np.uint8)
        for part in (learned, held_out)
    )


def entropy() -> float:
    """Nats a byte, for a reader who knows how often each byte comes and nothing else."""
    learned, held_out = (np.bincount(part, minlength=BYTES) for part in corpus())
    share = (learned + 1) / (learned + 1).sum()
    return float(-(held_out / held_out.sum()) @ np.log(share))


@contextmanager
def without_positions():
    """No queries and keys are turned."""
    with mock.patch.object(worldmodel.model, "rotate", lambda vectors, _: vectors):
        yield


@dataclass(frozen=True)
class Language(recall.Task):
    """Pieces of the library."""

    name: ClassVar[str] = "language"
    scales: ClassVar[Scales] = Scales(bodies=1, axes=1, inputs=(Scale(),), outputs=(Scale(),))
    shown: ClassVar[str] = "loss"

    options: Options = field(default_factory=Options)

    @property
    def network(self) -> dict[str, Any]:
        """A bin for each byte."""
        return {"head": "tokens", "bins": BYTES, "bin_range": BYTES / 2}

    def losses(
        self,
        network: Network,
        source: UInt8[np.ndarray, " byte"],
        count: int,
        length: int,
        generator: torch.Generator,
    ) -> Float[Tensor, "piece byte"]:
        """Of every byte of so many pieces, nats."""
        centres, following = self.pieces(source, count, length, generator)
        with nullcontext() if self.options.rotary else without_positions():
            logits = network(centres)[:, :, 0, 0]
        return cross_entropy(logits.transpose(1, 2), following, reduction="none")

    def pieces(
        self, source: UInt8[np.ndarray, " byte"], count: int, length: int,
        generator: torch.Generator,
    ) -> tuple[Float[Tensor, "piece byte 1 1"], Int[Tensor, "piece byte"]]:  # fmt: skip
        """So many pieces as the network sees them, and the byte after each."""
        starts = torch.randint(len(source) - length - 1, (count,), generator=generator)
        pieces = np.stack([source[start : start + length + 1] for start in starts.tolist()])
        values = torch.from_numpy(pieces.astype(np.int64))
        centres = values[:, :-1].float() + 0.5 - BYTES / 2
        return centres[..., None, None], values[:, 1:]

    def loss(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> Float[Tensor, ""]:
        return self.losses(network, corpus()[0], count, length, generator).mean()

    def scores(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> dict[str, Float[Tensor, " piece"]]:
        """`loss` of all bytes, and `late` of the last ones, as many as in a training piece; of
        four pieces, how evenly these attend (`entropy`, over log N) and their weight on the
        `first_key`."""
        found = self.losses(network, corpus()[1], count, length, generator)
        scores = {"loss": found.mean(1), "late": found[:, -self.options.length :].mean(1)}
        centres, _ = self.pieces(corpus()[1], 4, length, torch.Generator().manual_seed(0))
        with nullcontext() if self.options.rotary else without_positions():
            spread = attention_spread(network, centres, length - self.options.length)
        names = ("entropy", "first_key")
        return scores | {n: torch.full((count,), x) for n, x in zip(names, spread, strict=True)}


def main(arguments: list[str] | None = None) -> pd.DataFrame:
    """Train and ask, by options of the command line."""
    table = recall.command(Language, Options, entropy(), arguments)
    print("late:", recall.summary(table, "late").to_string(float_format=lambda x: f"{x:.3g}"))
    return table


if __name__ == "__main__":
    main()
