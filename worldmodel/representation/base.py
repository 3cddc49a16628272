"""The contract of a representation: which numbers stand for the positions that a network sees, and
for the vector that it predicts.

A representation is a file here with one object. The network never sees a length in au: every part
of a representation has a unit of its own, measured on the training orbits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

Positions = Float[Tensor, "batch time body axis"]
Vectors = Float[Tensor, "batch time body axis"]


@dataclass(frozen=True)
class Scale:
    """Origin and unit in which a network sees a part, or says it."""

    origin: float = 0.0
    size: float = 1.0


@dataclass(frozen=True)
class Feature:
    """Numbers of one kind.

    Attributes:
        values: (batch, time, body, number); 0 where they are not known.
        first: the first time at which they are.
        shifted: whether their mean is their origin; else that is 0.
    """

    values: Float[Tensor, "batch time body number"]
    first: int = 0
    shifted: bool = False

    def unit(self) -> Scale:
        """The mean, if shifted, and the root mean square about the origin."""
        known = self.values[:, self.first :]
        if not known.numel():
            return Scale()
        origin = float(known.mean()) if self.shifted else 0.0
        return Scale(origin, float((known - origin).square().mean().sqrt()) or 1.0)


class Representation:
    """How vectors enter a network, and how one leaves it."""

    name: str
    bent: bool = True
    """Whether the numbers of a token go through an MLP first; else a matrix embeds them."""

    def seen(self, positions: Positions) -> tuple[Feature, ...]:
        """What each token holds, from the positions up to its time, au."""
        raise NotImplementedError

    def said(self, vectors: Vectors) -> tuple[Feature, ...]:
        """What a network says of vectors, au, that it predicts."""
        raise NotImplementedError

    def numbers(self, axes: int) -> tuple[int, ...]:
        """How many numbers each part of `said` has."""
        return tuple(part.values.shape[-1] for part in self.said(torch.ones(1, 1, 1, axes)))

    def vectors(self, parts: Iterable[Tensor]) -> Vectors:
        """The vectors that `said` says so."""
        raise NotImplementedError


def in_units(parts: Iterable[Feature], units: Iterable[Scale]) -> list[Tensor]:
    """The values of every part in its unit; 0 where they are not known."""
    return [
        (part.values - unit.origin) / unit.size for part, unit in zip(parts, units, strict=True)
    ]


def out_of_units(values: Iterable[Tensor], units: Iterable[Scale]) -> list[Tensor]:
    """The reverse."""
    return [each * unit.size + unit.origin for each, unit in zip(values, units, strict=True)]
