"""The passkey task: a key far back in the sequence must be reproduced digit by digit at its end.

Every time step carries a value and a mark. A haystack of random digits holds one key, some decoys
(as long, but marked as such), and the question: its steps are answered with the key's digits, each
after the ones before it. The key counts as reproduced if every digit is right, which is what a
greedy answer would be. The network is the one that learns orbits, with its two coordinates holding
value and mark and its head choosing a value.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import recall
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from worldmodel.model import Network, Scales
from worldmodel.representation.base import Scale

PLAIN, PASSKEY, QUESTION, DECOY = 0, 1, 2, 3
HALF = 0.5
"""Fraction of keys below which a kind no longer retrieves."""


@dataclass(frozen=True)
class Options(recall.Options):
    """The same, and what a key is."""

    values: int = 10
    """Number of different values; guessing a digit is right once in this many times."""
    digits: int = 5
    """Values of a key."""
    decoys: int = 4
    """Other keys, marked as such, in a sequence of the training length."""

    def __post_init__(self) -> None:
        needed = (self.decoys + 2) * self.digits
        if self.length < needed:
            raise ValueError(
                f"length {self.length} has no room for a key, {self.decoys} decoys and a question "
                f"of {self.digits} digits each; give --length {needed} or more, or fewer --decoys."
            )


@dataclass(frozen=True)
class Passkeys(recall.Task):
    """Sequences of the task."""

    name: ClassVar[str] = "retrieval"
    scales: ClassVar[Scales] = Scales(bodies=1, axes=2, inputs=(Scale(),), outputs=(Scale(),))
    shown: ClassVar[str] = "accuracy"

    options: Options

    @property
    def network(self) -> dict[str, Any]:
        """Bins of 2 R / n = 1 for values and marks."""
        return {"head": "tokens", "bins": self.bins, "bin_range": self.bins / 2}

    @property
    def bins(self) -> int:
        """Enough for the values and for the marks."""
        return max(self.options.values, DECOY + 1)

    def draw(
        self, count: int, length: int, generator: torch.Generator
    ) -> tuple[Int[Tensor, "sequence time"], Int[Tensor, "sequence time"]]:
        """Values and marks; the last `digits` steps are the question, and each holds the digit of
        the key before the one that it asks for.

        The key and the decoys lie anywhere before it, nowhere on one another; there are as many
        decoys in longer sequences as at the training length, for the same part of the haystack.
        """
        digits = self.options.digits
        values = torch.randint(self.options.values, (count, length), generator=generator)
        marks = torch.full((count, length), PLAIN)
        keys = 1 + self.options.decoys * length // self.options.length
        room = length - digits - keys * (digits - 1)
        order = torch.rand((count, room), generator=generator).argsort(1)[:, :keys]
        starts = order.sort(1).values + torch.arange(keys) * (digits - 1)
        # which of them is the key: any, with equal chance
        which = torch.randint(keys, (count, 1), generator=generator)
        where = starts[..., None] + torch.arange(digits)
        kinds = torch.where(torch.arange(keys) == which, PASSKEY, DECOY)
        marks.scatter_(1, where.flatten(1), kinds.repeat_interleave(digits, 1))
        marks[:, -digits:] = QUESTION
        key = values.gather(1, where.gather(1, which[..., None].expand(-1, 1, digits))[:, 0])
        values[:, length - digits + 1 :] = key[:, :-1]
        return values, marks

    def key(
        self, values: Int[Tensor, "sequence time"], marks: Int[Tensor, "sequence time"]
    ) -> Int[Tensor, "sequence digit"]:
        """The key that each sequence holds."""
        return values[marks == PASSKEY].view(len(values), self.options.digits)

    def said(
        self,
        network: Network,
        values: Int[Tensor, "sequence time"],
        marks: Int[Tensor, "sequence time"],
    ) -> Float[Tensor, "sequence digit value"]:
        """What the network says at the question: logits."""
        centres = torch.stack((values, marks), dim=-1) + 0.5 - self.bins / 2
        answers = network(centres[:, :, None].float())[:, -self.options.digits :, 0, 0]
        return answers[..., : self.options.values]

    def loss(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> Float[Tensor, ""]:
        """Cross-entropy of every digit."""
        values, marks = self.draw(count, length, generator)
        logits = self.said(network, values, marks)
        return cross_entropy(logits.flatten(0, 1), self.key(values, marks).flatten())

    def scores(
        self, network: Network, count: int, length: int, generator: torch.Generator
    ) -> dict[str, Float[Tensor, " sequence"]]:
        """`accuracy`: every digit is right. `digits`: the fraction that is. `permuted` and
        `permuted_digits`: the same where the question asks for the key of another sequence."""
        values, marks = self.draw(count, length, generator)
        key = self.key(values, marks)
        other = key.roll(1, 0)
        swapped = values.clone()
        swapped[:, length - self.options.digits + 1 :] = other[:, :-1]
        found = {}
        for prefix, shown, wanted in (("", values, key), ("permuted_", swapped, other)):
            right = self.said(network, shown, marks).argmax(-1) == wanted
            found[prefix.strip("_") or "accuracy"] = right.all(1)
            found[f"{prefix}digits"] = right.double().mean(1)
        return found


def half_length(table: pd.DataFrame) -> pd.Series:
    """By kind and seed, the length at which half of the keys are still reproduced.

    Between two evaluated lengths it is interpolated in the logarithm; NaN of a kind that does not
    reproduce half at the training length, infinite of one that always does.
    """
    found = {}
    for place, runs in table.groupby(["attention", "window", "seed"], sort=False):
        x, y = np.log(runs["length"].to_numpy(float)), runs["accuracy"].to_numpy(float)
        below = np.flatnonzero(y < HALF)
        if not len(below):
            found[place] = np.inf
        elif below[0] == 0:
            found[place] = np.nan
        else:
            a, b = below[0] - 1, below[0]
            part = (y[a] - HALF) / (y[a] - y[b])
            found[place] = float(np.exp(x[a] + part * (x[b] - x[a])))
    return pd.Series(found, name="half_length").rename_axis(["attention", "window", "seed"])


def main(arguments: list[str] | None = None) -> None:
    """Train a network for each kind and seed, and see how many passkeys each reproduces."""
    table = recall.command(Passkeys, Options, HALF, arguments)
    print(f"length at which half is reproduced:\n{half_length(table).to_string()}")


if __name__ == "__main__":
    main()
